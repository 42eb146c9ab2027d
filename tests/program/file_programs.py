"""Small Programs that between them hold every step, every field, every format and every storage a file can hold."""

import numpy as np

from smidgen.program import Decide, Distance, Gaussian, GroupReduce, Input, Linear, Matrix, Program, Rescale
from smidgen.program.input import RAW_LIMITS

GAUSSIAN = Gaussian(np.array([250, 160, 80, 30, 8, 0], np.uint8), 14)


def sparse(rng: np.random.Generator, rows: int, columns: int, number_format: str, share: float = 0.3) -> np.ndarray:
    """Whole numbers that the format holds (halves for float32), most of them 0."""
    numbers = rng.integers(-8, 8, (rows, columns)) * (rng.random((rows, columns)) < share)
    numbers[:, -1] = rng.integers(1, 8, rows)  # no empty rows
    return numbers / 2 if number_format == "float32" else numbers


def matrix(rng: np.random.Generator, rows: int, columns: int, number_format: str, storage: str = "dense") -> Matrix:
    if number_format == "bits":
        return Matrix.pack(rng.integers(0, 2, (rows, columns)), "bits")
    return Matrix.pack(sparse(rng, rows, columns, number_format), number_format, storage)


def protonn(rng: np.random.Generator, storage: str = "gap4") -> Program:
    steps = (
        Input("uint8", 20, trusted_range=(0, 16)),
        Linear(matrix(rng, 5, 20, "int4", storage), np.arange(5, dtype=np.int16), rescale=Rescale(90, 7, pre=1)),
        Distance(matrix(rng, 7, 5, "int4"), zero=128, shift=4, kernel=GAUSSIAN),
        Linear(matrix(rng, 3, 7, "int8", "dense"), np.array([41_900, 41_550, 40_050], np.int32)),
        Decide("argmax"),
    )
    return Program(steps, classes=("left", "right", "naïve 右"))


def hamming(rng: np.random.Generator) -> Program:
    shifts, offsets = np.arange(9, dtype=np.uint8), np.arange(-4, 5, dtype=np.int16)
    steps = (
        Input("int16", 9, offset=offsets, shift=shifts, missing=-32_768, fill=np.full(9, 7, np.uint8)),
        Linear(matrix(rng, 11, 9, "bits"), activation="sign"),
        Distance(matrix(rng, 6, 11, "bits"), metric="hamming"),
        GroupReduce(np.array([1, 2, 3], np.uint8), "min"),
        Decide("argmin"),
    )
    return Program(steps, classes=(1, 2, 30), feature_names=tuple(f"axis {axis}" for axis in range(9)))


def sparsenet(rng: np.random.Generator, storage: str = "bitmap") -> Program:
    rescale = Rescale(np.arange(60, 66, dtype=np.uint8), 9, pre=2, high=127)
    steps = (
        Input("int16", 12, offset=-512, multiplier=np.full(12, 3, np.uint8), shift=4),
        Linear(matrix(rng, 6, 12, "int4", storage), activation="relu", rescale=rescale),
        Linear(matrix(rng, 4, 6, "int8", "dense"), np.array([1, 2, 3, -400], np.int16)),
        Decide("best", k=2),
    )
    return Program(steps)


def amm(rng: np.random.Generator, storage: str = "gap8") -> Program:
    shifts = rng.integers(0, 4, 10).astype(np.uint8)
    steps = (
        Input("float32", 10, offset=np.linspace(-1, 1, 10, dtype=np.float32), base=5, shift=shifts),
        Linear(matrix(rng, 4, 10, "int8", storage)),
        GroupReduce(np.array([3, 0, 1], np.uint8), "max", floor=0),
        Decide("argmax"),
    )
    return Program(steps, classes=(0.5, 1.5, 2.5))


def wide_groups(rng: np.random.Generator) -> Program:
    steps = (
        Input("int8", 3, offset=-128),
        Linear(matrix(rng, 260, 3, "int8")),
        GroupReduce(np.array([257, 3], np.uint16), "max"),
        Decide("argmax"),
    )
    return Program(steps, classes=(False, True))


def prototypes(rng: np.random.Generator) -> Program:
    steps = (
        Input("uint8", 3),
        Distance(matrix(rng, 4, 3, "int4"), zero=64, shift=3),
        GroupReduce(np.array([2, 2], np.uint8), "min"),
        Decide("argmin"),
    )
    return Program(steps, classes=("near", "far"))


def regression(rng: np.random.Generator) -> Program:
    codes = np.array([0, 3, 0, 5], np.uint8)
    steps = (
        Input("uint8", 4, codes=codes, hot=16),
        Linear(matrix(rng, 2, 10, "int8", "gap8")),
        Decide("value", scale=np.array([0.25, 3], np.float32)),
    )
    return Program(steps, classes=("width", "height"))


def floats(rng: np.random.Generator, storage: str = "bitmap") -> Program:
    offsets, factors = np.linspace(-2, 2, 8, dtype=np.float32), np.linspace(0.5, 2, 8, dtype=np.float32)
    fill = np.zeros(8, np.float32)
    steps = (
        Input("float32", 8, "float32", offset=offsets, multiplier=factors, missing="nan", fill=fill),
        Linear(matrix(rng, 5, 8, "float32", storage), np.linspace(-1, 1, 5, dtype=np.float32), activation="relu"),
        Distance(matrix(rng, 6, 5, "float32"), kernel=0.003),
        Linear(matrix(rng, 2, 6, "float32", "gap8")),
        Decide("labels"),
    )
    return Program(steps)


def float_groups(rng: np.random.Generator) -> Program:
    steps = (
        Input("uint8", 4, "float32", offset=100),
        Linear(matrix(rng, 3, 4, "float32")),
        GroupReduce(np.array([3], np.uint8), "max", floor=0.5),
        Decide("threshold"),
    )
    return Program(steps, classes=("no", "yes"))


def file_programs() -> dict[str, Program]:
    """Every Program of this module by name, the same ones each time."""
    rng = np.random.default_rng(0)
    return {
        "protonn": protonn(rng),
        "protonn bitmap": protonn(rng, "bitmap"),
        "protonn gap8": protonn(rng, "gap8"),
        "hamming": hamming(rng),
        "sparsenet": sparsenet(rng),
        "sparsenet dense": sparsenet(rng, "dense"),
        "amm": amm(rng),
        "amm bitmap": amm(rng, "bitmap"),
        "wide groups": wide_groups(rng),
        "regression": regression(rng),
        "floats": floats(rng),
        "floats gap8": floats(rng, "gap8"),
        "float groups": float_groups(rng),
        "prototypes": prototypes(rng),
    }


def rows_for(program: Program, n: int, seed: int = 0) -> np.ndarray:
    """Rows within the declared range, as float32."""
    rng, step = np.random.default_rng(seed), program.input
    if step.raw == "float32":
        return rng.normal(0, 3, (n, step.n_features)).astype(np.float32)
    low, high = step.trusted_range or RAW_LIMITS[step.raw]
    return rng.integers(low, high, (n, step.n_features), endpoint=True).astype(np.float32)
