"""ProtoNN's own solver, to the letter: Algorithm 1 of Gupta et al., "ProtoNN: Compressed and Accurate kNN for
Resource-scarce Devices" (ICML 2017), with the starts and the sizes of its Section 6. Functions of arrays.

The model and what is minimised over the n rows x with label vectors y:

    s(x) = sum_j z_j exp(-gamma² |b_j - W x|²)                              Section 3
    R(Z, B, W) = 1/n sum_i |y_i - s(x_i)|²                                  Eq. 2 with the squared loss
    subject to at most s_Z, s_B, s_W entries of Z, B, W other than zero

    symbol      meaning                                                shape     where
    X           rows of standardised features                          (n, d)    dense, or SciPy CSR (never made dense)
    Y           label vectors: one-hot, or an indicator matrix         (n, L)    Section 3: y in {0, 1}^L
    W           projection                                             (h, d)    d^ x d in the paper
    B           prototypes, a row each                                 (m, h)    transposed in the paper
    Z           label scores of the prototypes, a row each             (m, L)    transposed in the paper
    U           projected rows, U = X W'                               (n, h)
    K           similarities, K_ij = exp(-gamma² |b_j - u_i|²)         (n, m)
    E           weighted errors, E_i = w_i (s(x_i) - y_i)              (n, L)    w_i: share of row i in the total weight
    gamma       2.5 / median distance at the start, then fixed         ()        Section 6
    s_W .. s_Z  densities: share of the entries that may be non-zero   ()        Algorithm 1 (there: numbers of entries)
    T, e        rounds, and epochs of a sub-problem                    ()        `n_rounds`, `n_epochs`
    eta_0, t    first step size of a sub-problem, number of the step   ()        Section 4

A round minimises over Z, then B, then W, with e epochs of ``P <- HT(P - eta_0 / t grad_P)`` each, HT keeping the
entries largest in magnitude.

What the paper leaves open, and what is done here:

- Targets are 0 and 1, as Section 3 has them, and a binary problem has two columns of them: only so do the published
  sizes of the binary models come out (mnist: 15.96 kB with m = 40, width 10 and s_W = 0.23).
- "Armijo rule": eta_0 is the largest step on a grid of powers of two with f(P) - f(P+) >= 1e-4 <grad, P - P+>, where
  P+ = HT(P - eta_0 grad). Written with P - P+ the right side cannot be negative for a feasible P, whatever HT takes away.
  The grid is searched from the previous round's eta_0, upwards while the rule holds, else downwards. With mini-batches
  the first batch decides. If no step holds, the part is left as it is for this round.
- "t" counts the steps of one sub-problem and begins at 1 again with the next.
- Algorithm 1 sums gradients over the batch; here they are averaged, which eta_0 undoes.
- Mini-batches are a fresh permutation of the rows each epoch, cut in pieces; the last one may be shorter.
- A part is thresholded when its first sub-problem begins, a part that is not trained at the very start (Section 9.1
  says so of W). Every later value satisfies its constraint because HT made it.
- Model bytes are 4 an entry of a dense matrix or 8 a non-zero of a sparse one, whichever is less, matrix by matrix: this
  reproduces the sizes in Tables 1 and 2 and Figure 2 (see `paper_plan`), though "0.8" then saves nothing.
- With fixed B and W the squared loss is a quadratic in Z. On full gradients its matrix K'wK is built once a
  sub-problem, which changes nothing but time.

May import NumPy, core and models/clusters.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.distances import squared_distances
from smidgen.core.random import Generator, generator
from smidgen.core.threshold import keep_largest
from smidgen.errors import BudgetError, UsageError
from smidgen.models.clusters import cluster_centres

Part = Literal["Z", "B", "W"]
PARTS: tuple[Part, ...] = ("Z", "B", "W")  # Algorithm 1's order

N_ROUNDS = 150
EPOCHS_OF_GRADIENT, EPOCHS_OF_BATCHES = 20, 5
GAMMA_FACTOR = 2.5
SUFFICIENT = 1e-4  # of the decrease that the gradient promises, by Armijo's rule
MOST_TRIALS = 60  # of step sizes, a factor of two apart
ENTRIES_AT_ONCE = 1 << 19  # of K, so that a block and its temporaries stay in the cache
LARGEST_MEDIAN = 1 << 24  # distances whose exact median is taken; beyond, those of a sample of rows


@dataclass(frozen=True)
class Model:
    """The three matrices and the kernel's width."""

    W: Array  # (h, d)
    B: Array  # (m, h)
    Z: Array  # (m, L)
    gamma: float


@dataclass(frozen=True)
class Round:
    """One row of the history: the objective after a round (0: at the start) and eta_0 of each sub-problem."""

    number: int
    objective: float
    first_steps: dict[Part, float]


Callback = Callable[[Round, Array, Array, Array], Any]


def alternate(
    X: Any,
    Y: Array,
    W: Array,
    B: Array,
    Z: Array,
    *,
    gamma: float,
    sparsity: tuple[float, float, float] = (1.0, 1.0, 1.0),
    n_rounds: int = N_ROUNDS,
    n_epochs: int | None = None,
    batch_size: int | None = None,
    train: Sequence[Part] = PARTS,
    seed: int = 0,
    weight: Array | None = None,
    callback: Callback | None = None,
) -> tuple[Array, Array, Array, list[Round]]:
    """Run Algorithm 1 from given W, B, Z.

    Parameters
    ----------
    X : array or SciPy CSR matrix, shape (n, d)
        Of the dtype in which to compute, the same for all arrays.
    Y : array, shape (n, L)
        0 and 1: one-hot rows, or an indicator matrix; any real numbers for a regression.
    W, B, Z : arrays, shapes (h, d), (m, h), (m, L)
        Where to start; left untouched.
    gamma : float
    sparsity : (s_W, s_B, s_Z)
        The share of the entries of W, B and Z that may be other than zero, in (0, 1].
    n_rounds, n_epochs : int
        T and e. By default 150, and 20 with the full gradient, 5 with batches.
    batch_size : int, optional
        Rows of a batch (the paper's is 512); None takes the full gradient.
    train : sequence of "W", "B", "Z"
        The parts to train; the others are thresholded at the start and then fixed.
    seed : int
        Of the order of the batches; the full gradient draws nothing.
    weight : array, shape (n,), optional
        Weights of the rows; a weight of 2 means a row given twice.
    callback : callable(Round, W, B, Z), optional
        Called at the start and after every round; a true answer ends the training.

    Returns
    -------
    W, B, Z : arrays
    history : list of Round

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> Y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> W, B, Z = np.array([[1.0]]), np.array([[1.0], [3.0]]), np.eye(2)
    >>> W, B, Z, history = alternate(X, Y, W, B, Z, gamma=1.0, n_rounds=5)
    >>> [round(history[i].objective, 3) for i in (0, -1)]
    [0.209, 0.0]
    """
    _refuse_unknown(train)
    n_epochs = n_epochs or (EPOCHS_OF_GRADIENT if batch_size is None else EPOCHS_OF_BATCHES)
    rows, draw = _Rows(X, Y, _shares(Y, weight)), generator(Y, seed)
    model = Model(W, B, Z, gamma)
    limits = {part: n_entries(getattr(model, part), s) for part, s in zip(("W", "B", "Z"), sparsity, strict=True)}
    for part in set(PARTS) - set(train):
        model = replace(model, **{part: keep_largest(getattr(model, part), limits[part])[1]})

    history = [Round(0, _objective(rows, model), {})]
    if callback is not None and callback(history[0], model.W, model.B, model.Z):
        return model.W, model.B, model.Z, history
    first_steps: dict[Part, float] = {}
    for number in range(1, n_rounds + 1):
        for part in (part for part in PARTS if part in train):
            losses = _losses(part, rows, model, n_epochs, batch_size, draw)
            values, eta = descend(getattr(model, part), limits[part], losses, first_steps.get(part))
            model = replace(model, **{part: values})
            first_steps[part] = eta
        history.append(Round(number, _objective(rows, model), dict(first_steps)))
        if callback is not None and callback(history[-1], model.W, model.B, model.Z):
            break
    return model.W, model.B, model.Z, history


def _refuse_unknown(train: Sequence[str]) -> None:
    if not set(train) <= set(PARTS):
        raise UsageError(f"train is {tuple(train)!r}: name the parts to train among 'W', 'B' and 'Z'")


def n_entries(values: Array, density: float) -> int:
    """Return how many entries of an array a density in (0, 1] allows: rounded down, at least one.

    >>> n_entries(np.zeros((10, 784)), 0.23)
    1803
    """
    if not 0 < density <= 1:
        raise UsageError(f"a sparsity is {density}: give the share of the entries that may be non-zero, in (0, 1]")
    return max(1, math.floor(density * math.prod(values.shape) * (1 + 1e-12)))


# The block that W, B and Z share: gradient, threshold, descend.

Loss = Callable[[Array, bool], tuple[float, Array | None]]  # values, is the gradient wanted → loss, gradient


def descend(values: Array, k: int, losses: Iterator[Loss], eta_guess: float | None = None) -> tuple[Array, float]:
    """Iterative hard thresholding of one part, one step for each loss: Armijo's first step size, eta_0 / t after.

    Parameters
    ----------
    values : array
    k : int
        Entries that may be other than zero.
    losses : iterator of callables
        The loss of each step's batch as a function of the values, with its gradient where that is wanted.
    eta_guess : float, optional
        Where to begin the search for eta_0.

    Returns
    -------
    values : array
    eta_0 : float
        0 where no step met Armijo's rule; then the values are the thresholded ones they were.
    """
    values, eta = keep_largest(values, k)[1], 0.0
    for t, loss in enumerate(losses, start=1):
        value, gradient = loss(values, True)
        if t == 1:
            values, eta = _first_step(values, k, loss, value, gradient, eta_guess)
            if eta == 0:
                break
        else:
            values = _thresholded_step(values, gradient, eta / t, k)
    return values, eta


def _first_step(
    values: Array, k: int, loss: Loss, value: float, gradient: Array, guess: float | None
) -> tuple[Array, float]:
    """Take the largest step on a grid of powers of two that meets Armijo's rule."""
    length = float(_norm(gradient))
    if length == 0 or not math.isfinite(length):
        return values, 0.0

    def attempt(eta: float) -> Array | None:
        stepped = _thresholded_step(values, gradient, eta, k)
        promised = float(namespace_of(values).sum(gradient * (values - stepped)))
        return stepped if loss(stepped, False)[0] <= value - SUFFICIENT * promised else None

    eta = guess or float(_norm(values)) / length or 1 / length
    taken = attempt(eta)
    if taken is not None:
        for _ in range(MOST_TRIALS):
            larger = attempt(2 * eta)
            if larger is None:
                break
            taken, eta = larger, 2 * eta
        return taken, eta
    for _ in range(MOST_TRIALS):
        eta /= 2
        taken = attempt(eta)
        if taken is not None:
            return taken, eta
    return values, 0.0


def _thresholded_step(values: Array, gradient: Array, eta: float, k: int) -> Array:
    return keep_largest(values - eta * gradient, k)[1]


def _norm(values: Array) -> Array:
    xp = namespace_of(values)
    return xp.sqrt(xp.sum(values * values))


# The losses of the steps of one sub-problem.


@dataclass(frozen=True)
class _Rows:
    """Rows of a batch or of everything: features (or projected rows, where W is fixed), targets, shares of the mean."""

    points: Any  # (n, d) or (n, h)
    Y: Array  # (n, L)
    share: Array  # (n, 1), summing to 1 over all rows

    def __len__(self) -> int:
        return self.Y.shape[0]

    def take(self, index: Any) -> "_Rows":
        return _Rows(self.points[index], self.Y[index, ...], self.share[index, ...])

    def pieces(self, size: int) -> Iterator["_Rows"]:
        """Cut into runs of at most `size` rows."""
        if size >= len(self):
            yield self
            return
        for begin in range(0, len(self), size):
            yield self.take(slice(begin, min(begin + size, len(self))))


def _shares(Y: Array, weight: Array | None) -> Array:
    xp, n = namespace_of(Y), Y.shape[0]
    if weight is None:
        return xp.full((n, 1), 1 / n, dtype=Y.dtype, device=Y.device)
    return xp.reshape(xp.asarray(weight / xp.sum(weight), dtype=Y.dtype), (n, 1))


def _losses(
    part: Part, rows: _Rows, model: Model, n_epochs: int, batch_size: int | None, draw: Generator
) -> Iterator[Loss]:
    """Give the loss of each step: the same one for every epoch of full gradients, else one for each batch."""
    if part != "W":
        rows = replace(rows, points=rows.points @ model.W.T)
    if batch_size is None:
        loss = _quadratic(rows, model) if part == "Z" else _loss(part, rows, model)
        yield from repeat(loss, n_epochs)
        return
    for _ in range(n_epochs):
        shuffled = rows.take(draw.permutation(len(rows)))  # gathered once an epoch: batches are slices of it
        for batch in shuffled.pieces(batch_size):
            share = batch.share / namespace_of(batch.share).sum(batch.share)
            yield _loss(part, replace(batch, share=share), model)


def _loss(part: Part, rows: _Rows, model: Model) -> Loss:
    def loss(values: Array, wants_gradient: bool) -> tuple[float, Array | None]:
        return loss_and_gradient(rows, replace(model, **{part: values}), part, wants_gradient)

    return loss


def _quadratic(rows: _Rows, model: Model) -> Loss:
    """Give the loss as a function of Z: <Z, GZ> - 2 <Z, A> + c, with G = K'wK, A = K'wY and c = sum w |y|²."""
    xp = namespace_of(rows.Y)
    gram: Any = 0.0
    aim: Any = 0.0
    constant = 0.0
    for piece in rows.pieces(_rows_at_once(model)):
        K = similarities(piece.points, model.B, model.gamma)
        weighted = K * piece.share
        gram = gram + xp.astype(K.T @ weighted, xp.float64)  # float32 would lose the small differences near the optimum
        aim = aim + xp.astype(weighted.T @ piece.Y, xp.float64)
        constant += float(xp.sum(piece.Y * piece.Y * piece.share))

    def loss(Z: Array, wants_gradient: bool) -> tuple[float, Array | None]:
        exact = xp.astype(Z, xp.float64)
        product = gram @ exact
        value = float(xp.sum(exact * (product - 2 * aim))) + constant
        return value, xp.astype(2 * (product - aim), Z.dtype) if wants_gradient else None

    return loss


# The objective and its gradients in closed form.


def similarities(U: Array, B: Array, gamma: float) -> Array:
    """Return K_ij = exp(-gamma² |u_i - b_j|²), by one product: the squares ride along as two columns more."""
    xp = namespace_of(U)
    B = gamma * B
    ones = xp.ones((U.shape[0], 1), dtype=U.dtype, device=U.device)
    sq_u = gamma * gamma * xp.sum(U * U, axis=1, keepdims=True)
    sq_b = xp.sum(B * B, axis=1, keepdims=True)
    left = xp.concat((U, sq_u, ones), axis=1)
    right = xp.concat((2 * gamma * B, -xp.ones_like(sq_b), -sq_b), axis=1)
    return xp.exp(left @ right.T)


def loss_and_gradient(
    rows: _Rows, model: Model, part: Part | None, wants_gradient: bool = True
) -> tuple[float, Array | None]:
    """Return the objective and its gradient by one part, block by block.

    Where `part` is "B" or "Z", the points of the rows are projected already.
    """
    xp = namespace_of(rows.Y)
    value, gradient = 0.0, None
    for piece in rows.pieces(_rows_at_once(model)):
        U = piece.points @ model.W.T if part in ("W", None) else piece.points
        K = similarities(U, model.B, model.gamma)
        error = K @ model.Z - piece.Y
        weighted = error * piece.share
        value += float(xp.sum(weighted * error))
        if wants_gradient:
            share = _gradient(part, piece.points, U, K, weighted, model)
            gradient = share if gradient is None else gradient + share
    return value, gradient


def _gradient(part: Part | None, points: Any, U: Array, K: Array, E: Array, model: Model) -> Array:
    if part == "Z":
        return 2 * (K.T @ E)
    C = K * (E @ (4 * model.gamma**2 * model.Z).T)  # what every pair pulls: (n, m)
    if part == "B":
        return C.T @ U - _sum_of_columns(C) * model.B
    grad_U = C @ model.B - _sum_of_rows(C) * U
    return (points.T @ grad_U).T


def _sum_of_columns(C: Array) -> Array:
    xp = namespace_of(C)
    return xp.sum(C, axis=0)[:, None]


def _sum_of_rows(C: Array) -> Array:
    return namespace_of(C).sum(C, axis=1, keepdims=True)


def _objective(rows: _Rows, model: Model) -> float:
    return loss_and_gradient(rows, model, None, wants_gradient=False)[0]


def _rows_at_once(model: Model) -> int:
    return max(64, ENTRIES_AT_ONCE // model.B.shape[0])


def predict_scores(X: Any, W: Array, B: Array, Z: Array, gamma: float) -> Array:
    """Return the scores s(x) of every row, shape (n, L)."""
    xp = namespace_of(Z)
    size = _rows_at_once(Model(W, B, Z, gamma))
    blocks = [X[begin : begin + size] for begin in range(0, X.shape[0], size)] or [X]
    return xp.concat([similarities(block @ W.T, B, gamma) @ Z for block in blocks], axis=0)


# Starts.

Projection = Literal["gaussian", "pca", "lda"]


def start(
    X: Any,
    Y: NDArray,
    plan: "PaperPlan",
    *,
    method: Literal["kmeans", "sampled"] = "kmeans",
    projection: Projection | NDArray = "gaussian",
    gamma_factor: float = GAMMA_FACTOR,
    seed: int = 0,
    weight: NDArray | None = None,
) -> tuple[NDArray, NDArray, NDArray, float]:
    """Return W, B, Z and gamma as the paper starts them.

    Parameters
    ----------
    X : array or SciPy CSR matrix, shape (n, d)
        Features, standardised (or rows of unit length for many labels); of the dtype that W, B, Z shall have.
    Y : array, shape (n, L)
        One-hot rows, or an indicator matrix.
    plan : PaperPlan
        Of which the width and the number of prototypes count.
    method : {"kmeans", "sampled"}
        Prototypes are the centres of k-means in each class and Z their one-hot classes; or prototypes are rows drawn
        at random (by weight, without replacement) and Z their label vectors.
    projection : {"gaussian", "pca", "lda"} or array of shape (h, d)
    gamma_factor : float
        Gamma is this over the median distance between projected rows and prototypes.
    seed : int
    weight : array, shape (n,), optional

    Returns
    -------
    W, B, Z : arrays, shapes (h, d), (m, h), (m, L)
        There are fewer prototypes than planned where the classes have fewer distinct rows.
    gamma : float

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    >>> Y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> W, B, Z, gamma = start(X, Y, PaperPlan(2, 2), projection=np.eye(2))
    >>> B
    array([[0. , 0.5],
           [4. , 0.5]])
    """
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, np.float64)
    W = _projection(X, Y, plan.width, projection, seed, weight).astype(X.dtype, copy=False)
    U = X @ W.T
    prototypes = _class_centres if method == "kmeans" else _sampled_rows
    B, Z = prototypes(U, Y, plan.n_prototypes, seed, weight)
    B, Z = B.astype(X.dtype, copy=False), Z.astype(X.dtype, copy=False)
    return W, B, Z, gamma_factor / _median_distance(U, B, seed, weight)


def _projection(
    X: Any, Y: NDArray, width: int, projection: Projection | NDArray, seed: int, weight: NDArray
) -> NDArray:
    if not isinstance(projection, str):
        W = np.asarray(projection)
        if W.shape != (width, X.shape[1]):
            raise UsageError(f"the projection has shape {W.shape}: it must be {(width, X.shape[1])}")
        return W
    if projection == "gaussian":
        return np.asarray(generator(np, seed).normal((width, X.shape[1])))
    directions = _pca(X, weight) if projection == "pca" else _lda(X, Y, weight)
    if width <= len(directions):
        return directions[:width]
    more = np.asarray(generator(np, seed).normal((width - len(directions), X.shape[1])))  # there are no directions more
    return np.vstack([directions, more / np.sqrt(X.shape[1])])


def _pca(X: Any, weight: NDArray) -> NDArray:
    """All principal directions, the strongest first, each with its largest entry positive."""
    _, directions = np.linalg.eigh(_covariance(X, weight))
    return _with_fixed_signs(directions.T[::-1])


def _lda(X: Any, Y: NDArray, weight: NDArray) -> NDArray:
    """Discriminant directions, scaled to unit variance within classes; after the L - 1st, principal ones likewise."""
    of_class = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1) * weight[:, None]
    share = of_class.sum(axis=0)
    used = share > 0
    means = np.asarray((X.T @ of_class[:, used].astype(X.dtype)).T, np.float64) / share[used, None]
    means -= np.average(means, axis=0, weights=share[used])
    between = (means.T * (share[used] / weight.sum())) @ means
    within = _covariance(X, weight) - between
    within[np.diag_indices_from(within)] += 1e-3 * np.trace(within) / len(within)  # else singular for constant features
    values, axes = np.linalg.eigh(within)
    whitening = axes / np.sqrt(values)  # columns
    strength, turned = np.linalg.eigh(whitening.T @ between @ whitening)
    n_telling = min(int(used.sum()) - 1, int((strength > 0).sum()))
    telling = (whitening @ turned[:, ::-1][:, :n_telling]).T
    principal = whitening.T[::-1]
    return _with_fixed_signs(np.vstack([telling, principal[: len(principal) - n_telling]]))


def _covariance(X: Any, weight: NDArray) -> NDArray:
    """Covariance of the features in float64; a sparse X stays sparse, only the (d, d) result is dense."""
    share = weight / weight.sum()
    mean = np.asarray(X.T @ share).ravel()
    if hasattr(X, "multiply"):
        square = (X.T @ X.multiply(share[:, None])).toarray()
    else:
        square = np.asarray(X.T @ (X * share[:, None].astype(X.dtype)), np.float64)
    return np.asarray(square, np.float64) - np.outer(mean, mean)


def _with_fixed_signs(directions: NDArray) -> NDArray:
    largest = np.abs(directions).argmax(axis=1)
    return directions * np.sign(directions[np.arange(len(directions)), largest])[:, None]


def _class_centres(U: NDArray, Y: NDArray, n_prototypes: int, seed: int, weight: NDArray) -> tuple[NDArray, NDArray]:
    """K-means in each class: equal shares, the first classes taking what does not divide."""
    if not ((Y == 0) | (Y == 1)).all() or not (Y.sum(axis=1) == 1).all():
        raise UsageError("k-means in each class needs one-hot rows of Y: take method='sampled' for many labels")
    n_labels = Y.shape[1]
    if n_prototypes < n_labels:
        raise UsageError(f"{n_prototypes} prototypes do not go round {n_labels} classes: each needs one at least")
    y = Y.argmax(axis=1)
    centres, owners = [], []
    for label in range(n_labels):
        own = (y == label) & (weight > 0)
        if own.any():
            n_own = n_prototypes // n_labels + (label < n_prototypes % n_labels)
            centres.append(cluster_centres(U[own], weight[own], n_own, seed))
            owners += [label] * len(centres[-1])
    return np.vstack(centres), np.eye(n_labels)[owners]


def _sampled_rows(U: NDArray, Y: NDArray, n_prototypes: int, seed: int, weight: NDArray) -> tuple[NDArray, NDArray]:
    """Rows drawn by weight without replacement (the largest u^(1 / w) of uniform u), with their label vectors."""
    lot = np.full(len(weight), -np.inf)
    counts = weight > 0
    uniform = np.asarray(generator(np, seed).uniform(len(weight)), np.float64)[counts]
    lot[counts] = np.log(np.maximum(uniform, 1e-300)) / weight[counts]
    drawn = np.sort(np.argsort(-lot, kind="stable")[: min(n_prototypes, int(counts.sum()))])
    return U[drawn], Y[drawn]


def _median_distance(U: NDArray, B: NDArray, seed: int, weight: NDArray) -> float:
    n_most = max(1, LARGEST_MEDIAN // len(B))
    if len(U) > n_most:
        chosen = np.sort(np.asarray(generator(np, seed).permutation(len(U)))[:n_most])
        U, weight = U[chosen], weight[chosen]
    sq_dist = np.asarray(squared_distances(U, B))
    if (weight == weight[0]).all():
        median = float(np.median(sq_dist))
    else:
        order = np.argsort(sq_dist, axis=None)
        reached = np.cumsum(np.repeat(weight, len(B))[order])
        median = float(sq_dist.ravel()[order[np.searchsorted(reached, reached[-1] / 2)]])
    return math.sqrt(median) or 1.0  # all rows alike: any gamma will do


# The paper's sizes, and its count of bytes.

WIDTH_OF_BINARY = ((2048, 5), (4096, 5), (8192, 10))  # Section 6, Figure 1; Table 1 has 10 at 16 kB, Figure 1 15
WIDTH_OF_CLASSES = ((16384, 10), (32768, 15), (65536, 15), (131072, 20))
MANY_CLASSES = 1000  # aloi


@dataclass(frozen=True)
class PaperPlan:
    """Sizes of a model: width, number of prototypes, and the densities of W, B and Z."""

    width: int
    n_prototypes: int
    s_W: float = 1.0
    s_B: float = 1.0
    s_Z: float = 1.0

    @property
    def sparsity(self) -> tuple[float, float, float]:
        """The densities as `alternate` takes them."""
        return self.s_W, self.s_B, self.s_Z

    def n_bytes(self, n_features: int, n_labels: int) -> int:
        """Return the bytes by the paper's count."""
        sizes = self.width * n_features, self.n_prototypes * self.width, self.n_prototypes * n_labels
        return sum(
            min(4 * size, 8 * n_entries(np.empty(size), s)) for size, s in zip(sizes, self.sparsity, strict=True)
        )


def paper_bytes(*matrices: NDArray) -> int:
    """Return the paper's count: 4 bytes an entry, or 8 an entry other than zero where that is less.

    >>> paper_bytes(np.ones((2, 3)), np.eye(4))
    56
    """
    return sum(min(4 * matrix.size, 8 * int(np.count_nonzero(matrix))) for matrix in matrices)


def paper_plan(
    n_features: int, n_labels: int, budget: int | None = None, labels_per_row: float | None = None
) -> PaperPlan:
    """Return the sizes that Section 6 gives for a data set.

    Parameters
    ----------
    n_features, n_labels : int
        A binary problem has two labels.
    budget : int, optional
        Bytes by the paper's count; by default its 16 kB for two labels and 64 kB for more. Where there are many labels
        in each row, or 1,000 classes and more, the paper sets none, and this is a limit only.
    labels_per_row : float, optional
        The average number of labels in a training row, where rows may have several.

    Examples
    --------
    >>> paper_plan(16, 26), paper_plan(16, 26).n_bytes(16, 26) / 1024  # letter: 63.4 kB in Table 2
    (PaperPlan(width=15, n_prototypes=390, s_W=1.0, s_B=0.8, s_Z=0.8), 63.3984375)
    >>> paper_plan(784, 2), paper_plan(784, 2).n_bytes(784, 2) / 1024  # mnist: 15.96 kB in Table 1
    (PaperPlan(width=10, n_prototypes=40, s_W=0.23, s_B=0.8, s_Z=0.8), 15.9609375)
    >>> paper_plan(500, 983, labels_per_row=19.02).n_bytes(500, 983)  # delicious: 925.04 K in Figure 2
    925040
    """
    if labels_per_row is not None:
        plan = PaperPlan(30, 2 * n_labels, s_Z=min(1.0, 2 * math.ceil(labels_per_row) / n_labels))
    elif n_labels >= MANY_CLASSES:
        plan = PaperPlan(30, 5 * n_labels, s_Z=5 / n_labels)
    else:
        return _planned_to_budget(n_features, n_labels, budget or (16384 if n_labels == 2 else 65536))
    _refuse_too_large(plan, n_features, n_labels, budget)
    return plan


def _planned_to_budget(n_features: int, n_labels: int, budget: int) -> PaperPlan:
    """Take dense W and as many prototypes as fit; else 40, or 5 a class, and the densest W that fits."""
    binary = n_labels == 2
    table = WIDTH_OF_BINARY if binary else WIDTH_OF_CLASSES
    width = max([w for least, w in table if least <= budget], default=table[0][1])
    n_least = 40 if binary else 5 * n_labels
    plan = PaperPlan(width, n_least, 1.0, 0.8, 0.8)
    if plan.n_bytes(n_features, n_labels) > budget and n_labels >= 0.1 * n_features and n_labels > 4:
        plan = replace(plan, s_Z=4 / n_labels)  # Remark 1: with many labels s_Z governs the size; curet's is 4 / L
    if plan.n_bytes(n_features, n_labels) <= budget:
        one_more = 1 if binary else n_labels
        larger = plan
        while larger.n_bytes(n_features, n_labels) <= budget:
            plan, larger = larger, replace(larger, n_prototypes=larger.n_prototypes + one_more)
        return plan
    hundredths = [replace(plan, s_W=s / 100) for s in range(99, 0, -1)]
    fitting = [sparser for sparser in hundredths if sparser.n_bytes(n_features, n_labels) <= budget]
    _refuse_too_large(hundredths[-1], n_features, n_labels, budget)
    return fitting[0]


def _refuse_too_large(plan: PaperPlan, n_features: int, n_labels: int, budget: int | None) -> None:
    least = plan.n_bytes(n_features, n_labels)
    if budget is not None and least > budget:
        raise BudgetError(
            f"the paper's smallest plan for {n_labels} labels takes {least:,} bytes, more than {budget:,}"
        )
