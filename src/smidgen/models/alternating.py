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
- "Armijo rule": a step eta holds if f(P) - f(P+) >= 1e-4 <grad, P - P+>, with P+ = HT(P - eta grad). Written with
  P - P+ the right side is never negative for a feasible P, whatever HT takes away. The search goes by powers of two
  from the previous round's eta_0: upwards while steps hold, f still falls and the step is no longer than half of P,
  else downwards until one holds. (Without the last two conditions the large objective of the first rounds, 90 on usps
  where no prediction at all has 1, sends the prototypes too far for any row to see, where all gradients vanish.) With
  mini-batches f is the loss of the first batch. If no step holds, the part is left as it is.
- Nothing checks the later steps: where the first gradient lies along flat directions eta_0 / 2 may be far too long for
  steep ones. A sub-problem that would end above 1.5 times the f it began with ends after its first step.
- "t" counts the steps of one sub-problem and begins at 1 again with the next.
- Algorithm 1 sums gradients over the batch; here they are averaged, which eta_0 undoes.
- Mini-batches are a fresh permutation of the rows each epoch, cut in pieces; the last one may be shorter.
- A part is thresholded when its first sub-problem begins, a part that is not trained at the very start (Section 9.1
  says so of W). Every later value satisfies its constraint because HT made it.
- Model bytes are 4 an entry of a dense matrix or 8 a non-zero of a sparse one, whichever is less, matrix by matrix:
  this reproduces the published sizes (see `paper_plan`), although a density of 0.8 then saves nothing.
- With fixed B and W the squared loss is a quadratic in Z. On full gradients its matrix K'wK is built once a
  sub-problem, which changes nothing but time.

May import NumPy, SciPy's sparse matrices, core, and budget and clusters beside it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.distances import squared_distances
from smidgen.core.random import Generator, generator
from smidgen.core.threshold import keep_largest
from smidgen.errors import BudgetError, UsageError
from smidgen.models.budget import largest_that_fits
from smidgen.models.clusters import cluster_centres

Part = Literal["Z", "B", "W"]
PARTS: tuple[Part, ...] = ("Z", "B", "W")  # Algorithm 1's order

N_ROUNDS = 150
EPOCHS_OF_GRADIENT, EPOCHS_OF_BATCHES = 20, 5
GAMMA_FACTOR = 2.5
SUFFICIENT = 1e-4  # of the decrease that the gradient promises, by Armijo's rule
FIRST_GUESS, LONGEST_STEP = 2.0**-10, 0.5  # as shares of a part's own length; the search begins far too short
DIVERGED = 1.5  # times the loss before: small rises are let pass, as they often lead further down
MOST_TRIALS = 60  # of step sizes, a factor of two apart
ENTRIES_AT_ONCE = 1 << 19  # of K, so that a block and its temporaries stay in the cache
ROWS_AT_ONCE = 4096  # where there is no K
MOST_DISTANCES = 1 << 24  # of which the exact median is taken; beyond, that of a sample of the rows


@dataclass(frozen=True)
class Model:
    """The three matrices and the kernel's width."""

    W: Array  # (h, d)
    B: Array  # (m, h)
    Z: Array  # (m, L)
    gamma: float


@dataclass(frozen=True)
class Rows:
    """Rows of a batch or of everything: features (or projected rows, while W is fixed), targets, shares in the mean."""

    points: Any  # (n, d) or (n, h)
    Y: Array  # (n, L)
    share: Array  # (n, 1), summing to 1

    def __len__(self) -> int:
        return self.Y.shape[0]

    def gather(self, order: Array) -> "Rows":
        """Return copies of the rows in another order."""
        xp = namespace_of(self.Y)
        is_sparse = hasattr(self.points, "tocsr")
        points = self.points[order] if is_sparse else xp.take(self.points, order, axis=0)
        return Rows(points, xp.take(self.Y, order, axis=0), xp.take(self.share, order, axis=0))

    def pieces(self, size: int) -> Iterator["Rows"]:
        """Cut into runs of at most `size` rows, which keep their shares."""
        if size >= len(self):
            yield self
            return
        for begin in range(0, len(self), size):
            run = slice(begin, min(begin + size, len(self)))
            yield Rows(self.points[run, ...], self.Y[run, ...], self.share[run, ...])


def rows_of(X: Any, Y: Array, weight: Array | None = None) -> Rows:
    """Return rows whose shares are their weights over the total weight."""
    xp, n = namespace_of(Y), Y.shape[0]
    if weight is None:
        return Rows(X, Y, xp.full((n, 1), 1 / n, dtype=Y.dtype, device=Y.device))
    return Rows(X, Y, xp.reshape(xp.astype(weight / xp.sum(weight), Y.dtype), (n, 1)))


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
        Weights of the rows, all above 0; with the full gradient a weight of 2 means a row given twice.
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
    [0.2, 0.0]
    """
    _refuse_unknown(train)
    n_epochs = n_epochs or (EPOCHS_OF_GRADIENT if batch_size is None else EPOCHS_OF_BATCHES)
    rows, model, draw = rows_of(X, Y, weight), Model(W, B, Z, gamma), generator(Y, seed)
    limits = {part: n_entries(getattr(model, part), s) for part, s in zip(("W", "B", "Z"), sparsity, strict=True)}
    for part in set(PARTS) - set(train):
        model = replace(model, **{part: keep_largest(getattr(model, part), limits[part])[1]})

    history: list[Round] = []
    first_steps: dict[Part, float] = {}
    for number in range(n_rounds + 1):
        for part in (part for part in PARTS if part in train and number > 0):
            losses = _losses(part, rows, model, n_epochs=n_epochs, batch_size=batch_size, draw=draw)
            values, first_steps[part] = descend(getattr(model, part), limits[part], losses, first_steps.get(part))
            model = replace(model, **{part: values})
        history.append(Round(number, objective(rows, model), dict(first_steps)))
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

Loss = Callable[[Array, bool], tuple[float, Array]]  # values, is the gradient wanted → loss, gradient (else anything)


def descend(values: Array, k: int, losses: Iterator[Loss], guess: float | None = None) -> tuple[Array, float]:
    """Iterative hard thresholding of one part, one step for each loss: Armijo's first step size, eta_0 / t after.

    Parameters
    ----------
    values : array
    k : int
        Entries that may be other than zero.
    losses : iterator of callables
        The loss of each step's batch as a function of the values, with its gradient where that is wanted.
    guess : float, optional
        Where to begin the search for eta_0.

    Returns
    -------
    values : array
    eta_0 : float
        0 where no step met Armijo's rule; then the values are only thresholded.
    """
    first_loss = next(losses)
    values = keep_largest(values, k)[1]
    stepped, eta = first_step(values, k, first_loss, guess)
    if eta == 0:
        return values, eta
    later = stepped
    for t, loss in enumerate(losses, start=2):
        later = _thresholded_step(later, loss(later, True)[1], eta / t, k)
    diverged = first_loss(later, False)[0] > DIVERGED * first_loss(values, False)[0]
    return (stepped if diverged else later), eta


def first_step(values: Array, k: int, loss: Loss, guess: float | None = None) -> tuple[Array, float]:
    """Step as far as the loss keeps falling on a grid of powers of two, by Armijo's rule, at most half of one's length.

    Parameters and returns are those of `descend`, for thresholded values and one loss.
    """
    xp = namespace_of(values)
    value, gradient = loss(values, True)
    length = float(xp.sqrt(xp.sum(gradient * gradient)))
    if length == 0 or not math.isfinite(length):
        return values, 0.0

    size = float(xp.sqrt(xp.sum(values * values)))
    longest = LONGEST_STEP * size / length if size > 0 else math.inf

    def attempt(eta: float, best: float) -> tuple[Array, float] | None:
        if eta > longest:
            return None
        stepped = _thresholded_step(values, gradient, eta, k)
        promised = float(xp.sum(gradient * (values - stepped)))
        reached = loss(stepped, False)[0]
        return (stepped, reached) if reached <= value - SUFFICIENT * promised and reached < best else None

    eta = guess or FIRST_GUESS * (size or 1) / length
    taken = attempt(eta, value)
    if taken is None:
        for _ in range(MOST_TRIALS):
            eta /= 2
            taken = attempt(eta, value)
            if taken is not None:
                return taken[0], eta
        return values, 0.0
    for _ in range(MOST_TRIALS):
        further = attempt(2 * eta, taken[1])
        if further is None:
            break
        taken, eta = further, 2 * eta
    return taken[0], eta


def _thresholded_step(values: Array, gradient: Array, eta: float, k: int) -> Array:
    return keep_largest(values - eta * gradient, k)[1]


# The losses of the steps of one sub-problem.


def _losses(
    part: Part, rows: Rows, model: Model, *, n_epochs: int, batch_size: int | None, draw: Generator
) -> Iterator[Loss]:
    """Give the loss of each step: the same one for every epoch of full gradients, else one for each batch."""
    if part != "W":
        rows = replace(rows, points=rows.points @ model.W.T)
    if batch_size is None:
        yield from repeat(quadratic_in_Z(rows, model) if part == "Z" else _loss(part, rows, model), n_epochs)
        return
    for _ in range(n_epochs):
        shuffled = rows.gather(draw.permutation(len(rows)))  # once an epoch: batches are slices of it
        for batch in shuffled.pieces(batch_size):
            share = batch.share / namespace_of(batch.share).sum(batch.share)
            yield _loss(part, replace(batch, share=share), model)


def _loss(part: Part, rows: Rows, model: Model) -> Loss:
    def loss(values: Array, wants_gradient: bool) -> tuple[float, Array]:
        return loss_and_gradient(rows, replace(model, **{part: values}), part, wants_gradient)

    return loss


def quadratic_in_Z(rows: Rows, model: Model) -> Loss:  # noqa: N802  (the paper's letter)
    """Return the loss of projected rows as a function of Z: <Z, G Z> - 2 <Z, A> + c.

    G = K'wK, A = K'wY and c = sum w |y|², in float64: float32 would lose the small differences near the optimum.
    """
    xp = namespace_of(rows.Y)
    G: Any = 0.0
    A: Any = 0.0
    c = 0.0
    for piece in rows.pieces(_rows_at_once(model)):
        K = similarities(piece.points, model.B, model.gamma)
        weighted = K * piece.share
        G = G + xp.astype(K.T @ weighted, xp.float64)
        A = A + xp.astype(weighted.T @ piece.Y, xp.float64)
        c += float(xp.sum(piece.Y * piece.Y * piece.share))

    def loss(Z: Array, wants_gradient: bool) -> tuple[float, Array]:
        exact = xp.astype(Z, xp.float64)
        product = G @ exact
        value = float(xp.sum(exact * (product - 2 * A))) + c
        return value, xp.astype(2 * (product - A), Z.dtype) if wants_gradient else Z

    return loss


# The objective and its gradients in closed form.


def similarities(U: Array, B: Array, gamma: float) -> Array:
    """Return K_ij = exp(-gamma² |u_i - b_j|²), by one product: the squares ride along as two columns more."""
    xp = namespace_of(U)
    sq_u = gamma**2 * xp.sum(U * U, axis=1, keepdims=True)
    sq_b = gamma**2 * xp.sum(B * B, axis=1, keepdims=True)
    left = xp.concat((U, sq_u, xp.ones_like(sq_u)), axis=1)
    right = xp.concat((2 * gamma**2 * B, -xp.ones_like(sq_b), -sq_b), axis=1)
    return xp.exp(left @ right.T)


def loss_and_gradient(rows: Rows, model: Model, part: Part | None, wants_gradient: bool = True) -> tuple[float, Array]:
    """Return the objective and its gradient by one part, block by block.

    Where `part` is "B" or "Z", the points of the rows are projected already. Without a gradient anything stands for it.
    """
    xp = namespace_of(rows.Y)
    value: float = 0.0
    gradient: Any = 0.0
    for piece in rows.pieces(_rows_at_once(model)):
        U = piece.points if part in ("B", "Z") else piece.points @ model.W.T
        K = similarities(U, model.B, model.gamma)
        error = K @ model.Z - piece.Y
        E = error * piece.share
        value += float(xp.sum(E * error))
        if wants_gradient and part == "Z":
            gradient = gradient + 2 * (K.T @ E)
        elif wants_gradient:
            pull = K * (E @ (4 * model.gamma**2 * model.Z.T))  # of every row on every prototype, and back: (n, m)
            gradient = gradient + (_gradient_B(pull, U, model) if part == "B" else _gradient_W(pull, U, piece, model))
    return value, gradient


def _gradient_B(pull: Array, U: Array, model: Model) -> Array:  # noqa: N802
    total = namespace_of(pull).sum(pull, axis=0)[:, None]
    return pull.T @ U - total * model.B


def _gradient_W(pull: Array, U: Array, piece: Rows, model: Model) -> Array:  # noqa: N802
    total = namespace_of(pull).sum(pull, axis=1, keepdims=True)
    return (piece.points.T @ (pull @ model.B - total * U)).T


def objective(rows: Rows, model: Model) -> float:
    """Return the weighted mean of |y - s(x)|² over rows of features."""
    return loss_and_gradient(rows, model, None, wants_gradient=False)[0]


def predict_scores(X: Any, model: Model) -> Array:
    """Return the scores s(x) of every row, shape (n, L).

    >>> predict_scores(np.array([[1.0], [2.0]]), Model(np.eye(1), np.array([[1.0]]), np.array([[3.0]]), gamma=1.0))
    array([[3.        ],
           [1.10363832]])
    """
    size = _rows_at_once(model)
    starts = range(0, max(X.shape[0], 1), size)
    blocks = [similarities(X[begin : begin + size] @ model.W.T, model.B, model.gamma) @ model.Z for begin in starts]
    return namespace_of(model.Z).concat(blocks, axis=0)


def _rows_at_once(model: Model) -> int:
    return max(64, ENTRIES_AT_ONCE // model.B.shape[0])


# Starts.

Projection = Literal["gaussian", "pca", "lda"]


def start(
    X: Any,
    Y: NDArray,
    width: int,
    n_prototypes: int,
    *,
    method: Literal["kmeans", "sampled"] = "kmeans",
    projection: Projection | NDArray = "gaussian",
    seed: int = 0,
    weight: NDArray | None = None,
) -> Model:
    """Return W, B, Z and gamma as the paper starts them.

    Parameters
    ----------
    X : array or SciPy CSR matrix, shape (n, d)
        Features, standardised (or rows of unit length for many labels); of the dtype that W, B, Z shall have.
    Y : array, shape (n, L)
        One-hot rows, or an indicator matrix.
    width, n_prototypes : int
        h and m.
    method : {"kmeans", "sampled"}
        Prototypes are the centres of k-means in each class and Z their one-hot classes; or prototypes are rows drawn
        at random (by weight, without replacement) and Z their label vectors.
    projection : {"gaussian", "pca", "lda"} or array of shape (h, d)
        PCA and LDA have at most d directions; beyond, Gaussian ones are added.
    seed : int
    weight : array, shape (n,), optional
        All above 0.

    Returns
    -------
    Model
        With fewer prototypes than wished for where the rows, or those of a class, are fewer.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    >>> Y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> model = start(X, Y, 2, n_prototypes=2, projection=np.eye(2))
    >>> model.B
    array([[0. , 0.5],
           [4. , 0.5]])
    >>> bool(np.isclose(model.gamma, 2.5 / 0.5))
    True
    """
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, np.float64)
    W = _projection(X, Y, width, projection, seed=seed, weight=weight).astype(X.dtype, copy=False)
    U = X @ W.T
    prototypes = _class_centres if method == "kmeans" else _sampled_rows
    B, Z = prototypes(U, Y, n_prototypes, seed, weight)
    B, Z = B.astype(X.dtype, copy=False), Z.astype(X.dtype, copy=False)
    return Model(W, B, Z, GAMMA_FACTOR / _median_distance(U, B, seed, weight))


def _projection(
    X: Any, Y: NDArray, width: int, projection: Projection | NDArray, *, seed: int, weight: NDArray
) -> NDArray:
    n_features = X.shape[1]
    if not isinstance(projection, str):
        W = np.asarray(projection)
        if W.shape != (width, n_features):
            raise UsageError(f"the projection has shape {W.shape}: it must be {(width, n_features)}")
        return W
    if projection == "gaussian":
        return np.asarray(generator(np, seed).normal((width, n_features)))
    directions = _principal(X, weight) if projection == "pca" else _discriminant(X, Y, weight)
    missing = max(0, width - len(directions))
    more = np.asarray(generator(np, seed).normal((missing, n_features))) / math.sqrt(n_features)
    return np.vstack([directions[:width], more])


def _principal(X: Any, weight: NDArray) -> NDArray:
    """All principal directions, the strongest first."""
    _, directions = np.linalg.eigh(_covariance(X, weight))
    return _with_fixed_signs(directions.T[::-1])


def _discriminant(X: Any, Y: NDArray, weight: NDArray) -> NDArray:
    """Discriminant directions, scaled to unit variance within classes; after the L - 1st, principal ones likewise."""
    member = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1) * weight[:, None]  # several labels: a part of the row each
    share = member.sum(axis=0)
    member, share = member[:, share > 0], share[share > 0]
    means = np.asarray(X.T @ member.astype(X.dtype), np.float64).T / share[:, None]
    means -= np.average(means, axis=0, weights=share)
    between = (means.T * (share / share.sum())) @ means
    within = _covariance(X, weight) - between
    within[np.diag_indices_from(within)] += 1e-3 * np.trace(within) / len(within)  # else singular for constant features
    variances, axes = np.linalg.eigh(within)
    whitening = axes[:, ::-1] / np.sqrt(np.maximum(variances[::-1], 1e-30))  # a column each, the widest first
    _, turned = np.linalg.eigh(whitening.T @ between @ whitening)
    n_telling = min(len(share) - 1, len(within))
    telling = turned[:, ::-1][:, :n_telling]
    completed, _ = np.linalg.qr(np.hstack([telling, np.eye(len(within))[:, : len(within) - n_telling]]))
    return _with_fixed_signs((whitening @ completed).T)


def _covariance(X: Any, weight: NDArray) -> NDArray[np.float64]:
    """Covariance of the features, block by block; a sparse X stays sparse."""
    square, mean = np.zeros((X.shape[1], X.shape[1])), np.zeros(X.shape[1])
    share = (weight / weight.sum()).astype(X.dtype)
    for begin in range(0, X.shape[0], ROWS_AT_ONCE):
        block, own = X[begin : begin + ROWS_AT_ONCE], share[begin : begin + ROWS_AT_ONCE]
        product = block.T @ (sparse.diags_array(own) @ block)
        square += product.toarray() if sparse.issparse(product) else product
        mean += block.T @ own
    return square - np.outer(mean, mean)


def _with_fixed_signs(directions: NDArray) -> NDArray:
    """Make the largest entry of each row positive: an eigenvector's sign is anybody's guess."""
    largest = np.abs(directions).argmax(axis=1)
    return directions * np.where(directions[np.arange(len(directions)), largest] < 0, -1, 1)[:, None]


def _class_centres(U: NDArray, Y: NDArray, n_prototypes: int, seed: int, weight: NDArray) -> tuple[NDArray, NDArray]:
    """K-means in each class: equal shares, the first classes taking what does not divide."""
    if not ((Y == 0) | (Y == 1)).all() or not (Y.sum(axis=1) == 1).all():
        raise UsageError("k-means in each class needs one-hot rows of Y: take method='sampled' for many labels")
    n_labels = Y.shape[1]
    if n_prototypes < n_labels:
        raise UsageError(f"{n_prototypes} prototypes do not go round {n_labels} classes: each needs one at least")
    y, centres, owners = Y.argmax(axis=1), [], []
    for label in range(n_labels):
        own = (y == label) & (weight > 0)
        if own.any():
            n_own = n_prototypes // n_labels + (label < n_prototypes % n_labels)
            centres.append(cluster_centres(U[own], weight[own], n_own, seed))
            owners += [label] * len(centres[-1])
    return np.vstack(centres), np.eye(n_labels)[owners]


def _sampled_rows(U: NDArray, Y: NDArray, n_prototypes: int, seed: int, weight: NDArray) -> tuple[NDArray, NDArray]:
    """Rows drawn by weight without replacement, with their label vectors: those of the largest u^(1 / w), u uniform."""
    uniform = np.asarray(generator(np, seed).uniform(len(weight)), np.float64)
    lot = np.log(np.maximum(uniform, 1e-300)) / np.maximum(weight, 1e-300)
    drawn = np.sort(np.argsort(-lot, kind="stable")[:n_prototypes])
    return U[drawn], Y[drawn]


def _median_distance(U: NDArray, B: NDArray, seed: int, weight: NDArray) -> float:
    """Median of the distances between all rows and all prototypes; of two middle ones the lesser."""
    equal = bool((weight == weight[0]).all())
    n_most = max(1, (MOST_DISTANCES if equal else MOST_DISTANCES // 8) // len(B))  # a sort by weight needs more room
    if len(U) > n_most:
        chosen = np.sort(np.asarray(generator(np, seed).permutation(len(U)))[:n_most])
        U, weight = U[chosen], weight[chosen]
    sq_dist = np.asarray(squared_distances(U, B, ROWS_AT_ONCE)).ravel()
    if equal:
        middle = (len(sq_dist) - 1) // 2
        sq_dist.partition(middle)
    else:
        order = np.argsort(sq_dist)
        reached = np.cumsum(np.repeat(weight, len(B))[order])
        middle = order[np.searchsorted(reached, reached[-1] / 2)]
    return math.sqrt(sq_dist[middle]) or 1.0  # at least half of the distances are 0: any gamma will do


# The paper's sizes, and its count of bytes.

WIDTH_OF_BINARY = ((2048, 5), (4096, 5), (8192, 10))  # Figure 1; at 16 kB Table 1 has 10, Figure 1 15
WIDTH_OF_CLASSES = ((16384, 10), (32768, 15), (65536, 15), (131072, 20))
PROTOTYPES_OF_BINARY, PROTOTYPES_OF_CLASS = 40, 5
MANY_CLASSES = 1000  # aloi has so many


@dataclass(frozen=True)
class PaperPlan:
    """Sizes of a model: width, number of prototypes, and the densities of W, B and Z."""

    width: int
    n_prototypes: int
    sparsity: tuple[float, float, float]

    def n_bytes(self, n_features: int, n_labels: int) -> int:
        """Return the bytes by the paper's count."""
        shapes = (self.width, n_features), (self.n_prototypes, self.width), (self.n_prototypes, n_labels)
        blanks = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
        counts = [n_entries(blank, density) for blank, density in zip(blanks, self.sparsity, strict=True)]
        return sum(_matrix_bytes(blank.size, count) for blank, count in zip(blanks, counts, strict=True))


def paper_bytes(*matrices: NDArray) -> int:
    """Return the paper's count: 4 bytes an entry, or 8 an entry other than zero where that is less.

    >>> paper_bytes(np.ones((2, 3)), np.eye(4))
    56
    """
    return sum(_matrix_bytes(matrix.size, int(np.count_nonzero(matrix))) for matrix in matrices)


def _matrix_bytes(size: int, n_nonzero: int) -> int:
    return min(4 * size, 8 * n_nonzero)


def paper_plan(
    n_features: int, n_labels: int, budget: int | None = None, labels_per_row: float | None = None
) -> PaperPlan:
    """Return the sizes that Section 6 gives for a data set.

    Parameters
    ----------
    n_features, n_labels : int
        A binary problem has two labels.
    budget : int, optional
        Bytes by the paper's count; by default its 16 kB for two labels and 64 kB for more. Where a row may have several
        labels, or there are 1,000 classes and more, the paper sets none, and this is a limit only.
    labels_per_row : float, optional
        The average number of labels of a training row, where a row may have several.

    Examples
    --------
    >>> paper_plan(16, 26), paper_plan(16, 26).n_bytes(16, 26) / 1024  # letter: 63.4 kB in Table 2
    (PaperPlan(width=15, n_prototypes=390, sparsity=(1.0, 0.8, 0.8)), 63.3984375)
    >>> paper_plan(784, 2), paper_plan(784, 2).n_bytes(784, 2) / 1024  # mnist: 15.96 kB in Table 1
    (PaperPlan(width=10, n_prototypes=40, sparsity=(0.23, 0.8, 0.8)), 15.9609375)
    >>> paper_plan(500, 983, labels_per_row=19.02).n_bytes(500, 983)  # delicious: 925.04 K in Figure 2
    925040
    """
    if labels_per_row is not None:
        plan = PaperPlan(30, 2 * n_labels, (1.0, 1.0, min(1.0, 2 * math.ceil(labels_per_row) / n_labels)))
    elif n_labels >= MANY_CLASSES:
        plan = PaperPlan(30, PROTOTYPES_OF_CLASS * n_labels, (1.0, 1.0, 5 / n_labels))
    else:
        return _planned_to_budget(n_features, n_labels, budget or (16384 if n_labels == 2 else 65536))
    _refuse_larger(plan.n_bytes(n_features, n_labels), n_labels, budget)
    return plan


def _planned_to_budget(n_features: int, n_labels: int, budget: int) -> PaperPlan:
    """With the least number of prototypes, the densest W that fits; if W may be dense, as many prototypes as fit."""
    binary = n_labels == 2
    table = WIDTH_OF_BINARY if binary else WIDTH_OF_CLASSES
    width = max([wide for least, wide in table if least <= budget], default=table[0][1])
    least = PROTOTYPES_OF_BINARY if binary else PROTOTYPES_OF_CLASS * n_labels

    def n_bytes(plan: PaperPlan) -> int:
        return plan.n_bytes(n_features, n_labels)

    plan = PaperPlan(width, least, (1.0, 0.8, 0.8))
    if n_bytes(plan) > budget and not binary and n_labels >= 0.1 * n_features:
        plan = replace(plan, sparsity=(1.0, 0.8, min(0.8, 4 / n_labels)))  # Remark 1; 4 / L is what curet's size tells
    if n_bytes(plan) > budget:
        sparser = [replace(plan, sparsity=(s / 100, *plan.sparsity[1:])) for s in range(99, 0, -1)]
        _refuse_larger(n_bytes(sparser[-1]), n_labels, budget)
        return next(plan for plan in sparser if n_bytes(plan) <= budget)

    step = 1 if binary else n_labels
    n_steps = largest_that_fits(
        lambda n: n_bytes(replace(plan, n_prototypes=n * step)), budget, least // step, most=budget
    )
    return replace(plan, n_prototypes=(n_steps or 0) * step)


def _refuse_larger(n_bytes: int, n_labels: int, budget: int | None) -> None:
    if budget is not None and n_bytes > budget:
        raise BudgetError(
            f"the paper's smallest plan for {n_labels} labels takes {n_bytes:,} bytes, and the budget is {budget:,}: "
            "give more, or sizes of your own"
        )
