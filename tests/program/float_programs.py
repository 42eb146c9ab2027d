"""Float32 Programs of every family shape, as models trained on features of all scales would be, and rows for them.

The rows lie around eight centres, two to each of four classes, and what decides is fitted to them: by their centres or
by least squares. Each feature has a scale of its own, 1e-3 to 1e3, and lies as far from zero as 100 of its deviations.
Imports NumPy and `smidgen.program`.
"""

import numpy as np

from smidgen.program import Decide, Distance, GroupReduce, Input, Linear, Matrix, Program

FAMILIES = ("linear", "binary", "amm", "smp", "sparsenet", "protonn", "rbf", "bnc", "prototypes", "pca")
N_FEATURES = 16
SPREAD = 0.6


def labelled_rows(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the centre of each."""
    centres = np.random.default_rng(99).normal(size=(8, N_FEATURES))
    which = rng.integers(0, 8, n)
    return (centres[which] + SPREAD * rng.normal(size=(n, N_FEATURES))) / np.sqrt(1 + SPREAD**2), which


def rows_of(rng: np.random.Generator, n: int) -> np.ndarray:
    return labelled_rows(rng, n)[0]


def scales(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A scale a feature, and an offset of up to 100 deviations."""
    scale = 10.0 ** rng.permutation(np.linspace(-3, 3, N_FEATURES))
    return scale, scale * rng.uniform(-100, 100, N_FEATURES)


def float_program(family: str, rng: np.random.Generator, offset: np.ndarray, scale: np.ndarray) -> Program:
    """A Program that first brings each feature to `(x - offset) / scale`."""
    first = Input(
        "float32",
        N_FEATURES,
        output="float32",
        offset=offset.astype(np.float32),
        multiplier=(1 / scale).astype(np.float32),
    )
    return Program((first, *_steps(family, rng)))


def linear(weights: np.ndarray, bias: np.ndarray | None = None, activation: str = "none") -> Linear:
    return Linear(Matrix.pack(weights, "float32"), None if bias is None else bias.astype(np.float32), activation)


def _readout(values: np.ndarray, targets: np.ndarray) -> Linear:
    """The Linear that is nearest to the targets in least squares."""
    design = np.column_stack([values, np.ones(len(values))])
    solution = np.linalg.solve(design.T @ design + 0.1 * np.eye(design.shape[1]), design.T @ targets)
    return linear(solution[:-1].T, solution[-1])


def _steps(family: str, rng: np.random.Generator) -> tuple:
    d, (Z, which) = N_FEATURES, labelled_rows(rng, 1000)
    targets = np.eye(4)[which % 4]
    centres = np.array([Z[which == label].mean(axis=0) for label in (0, 4, 1, 5, 2, 6, 3, 7)])
    counts = np.full(4, 2, np.uint8)
    if family == "linear":
        return _readout(Z, targets), Decide("argmax")
    if family == "binary":
        return _readout(Z, 2.0 * (which < 4)[:, None] - 1), Decide("threshold")
    if family in ("amm", "smp"):
        middle = (centres**2).sum(axis=1)
        weights = 2 * centres * (np.abs(centres) > (0.4 if family == "smp" else 0))
        floor = None if family == "smp" else float(np.float32(middle.mean() / 4))
        return linear(weights, -middle / 4), GroupReduce(counts, "max", floor), Decide("argmax")
    if family == "sparsenet":
        hidden = linear(rng.normal(size=(24, d)) * (rng.random((24, d)) < 0.5), rng.normal(size=24), "relu")
        return hidden, _readout(hidden.run(Z), targets), Decide("argmax")
    if family == "protonn":
        first = linear(np.linalg.qr(rng.normal(size=(d, 8)))[0].T, rng.normal(size=8))
        points = np.repeat(first.run(centres), 3, axis=0) + 0.3 * rng.normal(size=(24, 8))
        kernel = Distance(Matrix.pack(points, "float32", "dense"), kernel=0.15)
        return first, kernel, _readout(kernel.run(first.run(Z)), targets), Decide("argmax")
    if family == "rbf":
        kernel = Distance(
            Matrix.pack(np.repeat(centres, 3, axis=0) + 0.3 * rng.normal(size=(24, d)), "float32", "dense"), kernel=0.06
        )
        return kernel, _readout(kernel.run(Z), targets), Decide("argmax")
    if family == "bnc":
        signs = linear(rng.normal(size=(64, d)), activation="sign")
        codes = Distance(Matrix.pack(signs.run(centres), "bits"), metric="hamming")
        return signs, codes, GroupReduce(counts, "min"), Decide("argmin")
    if family == "prototypes":
        points = Matrix.pack(np.repeat(centres, 3, axis=0) + 0.3 * rng.normal(size=(24, d)), "float32", "dense")
        return Distance(points), GroupReduce(np.full(4, 6, np.uint8), "min"), Decide("argmin")
    axes = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:6] * np.geomspace(10, 0.1, 6)[:, None]
    first = linear(axes, rng.normal(size=6))
    return first, _readout(first.run(Z), targets), Decide("argmax")
