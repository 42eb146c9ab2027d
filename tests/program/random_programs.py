"""Random small Programs of all the family shapes, and rows that drive them to their extremes.

For whoever compares two meanings of a Program: the interpreter with `reference`, later the C and the boards with the
interpreter. Every Program is sound by construction, and its numbers are useful ones: `pre` is the least that fits,
multipliers and shifts spread the outputs over the byte, distances fall on the kernel's table. All randomness comes from
the generator that is handed in, so a seed names a Program. Imports NumPy and `smidgen.program`.
"""

import numpy as np

from smidgen.program import Decide, Distance, Gaussian, GroupReduce, Input, Linear, Matrix, Program, Rescale
from smidgen.program.input import RAW_LIMITS
from smidgen.program.signal import Interval, Signal
from smidgen.program.storage import FORMATS

FAMILIES = ("protonn", "sparsenet", "bnc", "amm", "smp", "prototypes", "linear")
N_SAMPLES = 48
"""How many random vectors tell where a step's results usually lie."""


def random_program(rng: np.random.Generator, family: str | None = None) -> Program:
    """A random integer Program of one of `FAMILIES`."""
    family = family or str(rng.choice(FAMILIES))
    build = {
        "protonn": _protonn,
        "sparsenet": _sparsenet,
        "bnc": _bnc,
        "amm": _grouped_linear,
        "smp": _grouped_linear,
        "prototypes": _prototypes,
        "linear": _linear,
    }[family]
    first = random_input(rng)
    return Program((first, *build(rng, first.check(None), family)))


def random_rows(rng: np.random.Generator, program: Program, n: int) -> np.ndarray:
    """n rows in the sensor's own type: all-min, all-max, alternating, the extremes of one output, then random ones."""
    step = program.input
    low, high = _raw_ends(step)
    alternating = np.where(np.arange(step.n_features) % 2 == 0, low, high)
    rows = [low, high, alternating, low + high - alternating, *_extreme_rows(rng, program, low, high)]
    rows += [_random_row(rng, step, low, high) for _ in range(max(0, n - len(rows)))]
    table = np.array(rows[:n])
    with np.errstate(over="ignore"):
        return table.astype(step.raw)


# Inputs.


def random_input(rng: np.random.Generator) -> Input:
    """An Input to bytes of any kind: identity, trusted, shifts, offsets, multipliers, float32, missing, one-hot."""
    n = _width(rng)
    if rng.random() < 0.25:
        ends = sorted(rng.integers(0, 256, 2).tolist())
        return Input("uint8", n, trusted_range=(ends[0], ends[1]) if rng.random() < 0.5 else None)
    raw = str(rng.choice(["uint8", "int8", "int16", "float32"]))
    options = _float_scaling(rng, n) if raw == "float32" else _integer_scaling(rng, n, raw)
    codes = rng.integers(0, 5, n).astype(np.uint8) if n < 40 and rng.random() < 0.25 else None
    if codes is not None and codes.any():
        options |= {"codes": codes, "hot": int(1 << rng.integers(0, 8))}
    if rng.random() < 0.3:
        fill = rng.integers(0, 256, n).astype(np.uint8)
        if "codes" in options:
            fill[codes > 0] = 0
        marker = "nan" if raw == "float32" else int(rng.choice([*RAW_LIMITS[raw], 0]))
        options |= {"missing": marker, "fill": fill}
    return Input(raw, n, **options)


def _integer_scaling(rng: np.random.Generator, n: int, raw: str) -> dict:
    least, most = RAW_LIMITS[raw]
    options = {}
    form = rng.integers(0, 4)
    offset = rng.integers(least, (least + most) // 2 + 1, n).astype(np.int16)
    if form:
        options["offset"] = offset if rng.random() < 0.5 else int(offset[0])
    usual = {"uint8": 1, "int8": 1, "int16": 7}[raw]
    if form == 2:
        options["shift"] = int(rng.integers(0, usual + 2))
    if form == 3:
        options["shift"] = rng.integers(max(0, usual - 3), usual + 3, n).astype(np.uint8)
    if form and rng.random() < 0.4:
        options["multiplier"] = rng.integers(0, 256, n).astype(np.uint8)
        options["shift"] = int(min(15, usual + 7))
    return options


def _float_scaling(rng: np.random.Generator, n: int) -> dict:
    options = {"base": int(rng.integers(-20, 12))}
    unit = 2.0 ** -options["base"]
    if rng.random() < 0.7:
        offset = (rng.normal(0, 100, n) * unit).astype(np.float32)
        options["offset"] = offset if rng.random() < 0.5 else float(offset[0])
    if rng.random() < 0.6:
        options["shift"] = rng.integers(0, 16, n).astype(np.uint8) if rng.random() < 0.7 else int(rng.integers(0, 16))
    if rng.random() < 0.2:
        options["multiplier"] = rng.integers(1, 256, n).astype(np.uint8)
    return options


def _width(rng: np.random.Generator) -> int:
    """Usually a few features; at times one, at times more than a byte can skip."""
    kind = rng.random()
    if kind < 0.08:
        return 1
    return int(rng.integers(257, 620)) if kind > 0.92 else int(rng.integers(2, 40))


# Rows.


def _raw_ends(step: Input) -> tuple[np.ndarray, np.ndarray]:
    ones = np.ones(step.n_features)
    if step.raw != "float32":
        low, high = step.trusted_range or RAW_LIMITS[step.raw]
        return low * ones, high * ones
    if step.output == "float32":
        return step.offset - 8 / np.abs(step.multiplier) * ones, step.offset + 8 / np.abs(step.multiplier) * ones
    largest = float(np.finfo(np.float32).max)
    return -largest * ones, largest * ones


def _extreme_rows(rng: np.random.Generator, program: Program, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """The rows that drive one output of the first Linear or Distance to its two ends."""
    step, first = program.steps[1], program.input
    widths = np.ones(first.n_features, np.int64) if first.codes is None else np.maximum(first.codes, 1)
    columns = np.cumsum(widths) - widths  # of a one-hot feature its first column: enough to press it
    if isinstance(step, Linear):
        weights = step.weights.values[rng.integers(step.n_outputs)][columns].astype(float)
        rising = weights > 0
    else:
        points = step.points.values[rng.integers(step.n_outputs)][columns].astype(float)
        rising = points < 0
    return [np.where(rising, high, low), np.where(rising, low, high)]


def _random_row(rng: np.random.Generator, step: Input, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    n = step.n_features
    if step.output == "float32":
        row = step.offset + rng.normal(0, 2, n) / step.multiplier
    else:
        shift = np.asarray(step.shift, float)
        exponent = step.base + shift if step.raw == "float32" else -shift
        wanted = rng.uniform(-20, 276, n)
        wanted = np.rint(wanted) if rng.random() < 0.5 else wanted  # on the edge, where float32 rounds up or down
        row = step.offset + wanted / (np.maximum(step.multiplier, 1) * 2.0**exponent)
    if step.raw != "float32":
        anywhere = rng.random(n) < (1.0 if step.trusted_range else 0.2)
        row = np.where(anywhere, rng.uniform(low - 0.5, high + 0.5), row)
    elif step.output == "bytes" and rng.random() < 0.3:
        row[rng.integers(n)] = rng.choice([np.inf, -np.inf, 1e-45, -1e-45, 0.0])
    if step.codes is not None:
        codes = step.offset + rng.integers(-1, step.codes.astype(np.int64) + 1)
        row = np.where(step.codes > 0, codes + (0.5 if rng.random() < 0.1 and step.raw == "float32" else 0), row)
    if step.missing is not None:
        row = np.where(rng.random(n) < 0.2, np.nan if step.missing == "nan" else step.missing, row)
    return row if step.raw == "float32" else np.clip(np.rint(row), low, high)


# The families.


def _protonn(rng: np.random.Generator, incoming: Signal, family: str) -> tuple:
    projection = rescaled_linear(rng, incoming, int(rng.integers(1, 11)), "none")
    projected = projection.check(incoming)
    distance = _squared_distance(rng, projected, int(rng.integers(1, 16)), kernel=True)
    return projection, distance, *_scores(rng, distance.check(projected))


def _sparsenet(rng: np.random.Generator, incoming: Signal, family: str) -> tuple:
    hidden = rescaled_linear(rng, incoming, int(rng.integers(1, 20)), "relu")
    return hidden, *_scores(rng, hidden.check(incoming))


def _bnc(rng: np.random.Generator, incoming: Signal, family: str) -> tuple:
    n_bits = int(rng.integers(1, 30)) if incoming.width > 40 or rng.random() < 0.9 else int(rng.integers(250, 300))
    codes = _sign_linear(rng, incoming, n_bits)
    points = Matrix.pack(rng.integers(0, 2, (int(rng.integers(2, 12)), n_bits)), "bits")
    step = Distance(points, metric="hamming")
    return codes, step, *_groups(rng, step.check(codes.check(incoming)), "min")


def _grouped_linear(rng: np.random.Generator, incoming: Signal, family: str) -> tuple:
    step = scoring_linear(rng, incoming, int(rng.integers(2, 16)), density=1.0 if family == "amm" else 0.2)
    return step, *_groups(rng, step.check(incoming), "max", may_floor=family == "amm")


def _prototypes(rng: np.random.Generator, incoming: Signal, family: str) -> tuple:
    step = _squared_distance(rng, incoming, int(rng.integers(2, 16)), kernel=False)
    return step, *_groups(rng, step.check(incoming), "min")


def _linear(rng: np.random.Generator, incoming: Signal, family: str) -> tuple:
    return _scores(rng, incoming)


def _scores(rng: np.random.Generator, incoming: Signal) -> tuple:
    """A last Linear, and any ending."""
    step = scoring_linear(rng, incoming, 1 if rng.random() < 0.2 else int(rng.integers(2, 9)))
    return step, random_ending(rng, step.n_outputs)


def _groups(rng: np.random.Generator, incoming: Signal, operation: str, *, may_floor: bool = False) -> tuple:
    """The entries shared out among the classes, some of which may be empty where there is a floor."""
    assert incoming.range is not None
    floor = None
    if may_floor and rng.random() < 0.7:
        floor = int(rng.choice([0, rng.integers(incoming.range.low.min(), incoming.range.high.max() + 1)]))
    n_classes = int(rng.integers(2, max(3, incoming.width + 1)))
    counts = np.zeros(n_classes, np.int64)
    if floor is None:
        n_classes = min(n_classes, incoming.width)
        counts = np.ones(n_classes, np.int64)
    np.add.at(counts, rng.integers(0, n_classes, incoming.width - counts.sum()), 1)
    ending = (
        random_ending(rng, n_classes) if rng.random() < 0.3 else Decide("argmax" if operation == "max" else "argmin")
    )
    if n_classes == 1:
        ending = Decide("threshold")
    return GroupReduce(counts.astype(np.uint8), operation, floor), ending


def random_ending(rng: np.random.Generator, n_outputs: int) -> Decide:
    """Any Decide that suits so many scores."""
    kinds = ["labels", "best", "value", *(["threshold"] if n_outputs == 1 else ["argmax", "argmin", "argmax"])]
    kind = str(rng.choice(kinds))
    if kind == "best":
        return Decide("best", k=int(rng.integers(1, n_outputs + 1)))
    if kind == "value":
        return Decide("value", scale=(10.0 ** rng.uniform(-6, 2, n_outputs)).astype(np.float32))
    return Decide(kind)


# The steps.


def random_matrix(rng: np.random.Generator, rows: int, columns: int, *, density: float | None = None) -> Matrix:
    """int8, int4 or bits, in any storage that the format has; half of the time in the smallest."""
    number_format = str(rng.choice(["int4", "int4", "int8", "bits"]))
    if number_format == "bits":
        return Matrix.pack(rng.integers(0, 2, (rows, columns)), "bits")
    limit = 8 if number_format == "int4" else 128
    values = np.clip(np.rint(rng.normal(0, limit / 2.5, (rows, columns))), -limit, limit - 1)
    if rng.random() < 0.1:
        values = rng.choice([-limit, limit - 1], (rows, columns))
    density = density or float(rng.choice([0.03, 0.2, 0.6, 1.0]))
    values[rng.random((rows, columns)) >= density] = 0
    storage = str(rng.choice(FORMATS[number_format])) if rng.random() < 0.5 else None
    return Matrix.pack(values.astype(np.int64), number_format, storage)


def _sampled_sums(rng: np.random.Generator, step: Linear, incoming: Signal) -> np.ndarray:
    """Sums of some vectors drawn from the range of what comes in: where a step's results usually lie."""
    assert incoming.range is not None
    values = rng.integers(incoming.range.low, incoming.range.high + 1, (N_SAMPLES, incoming.width))
    return step.sums(values.astype(np.float64)).astype(np.int64)


def _centring_bias(rng: np.random.Generator, weights: Matrix, incoming: Signal) -> np.ndarray | None:
    """A bias that takes the sums to about 0, so that signs and clips are undecided."""
    sums = _sampled_sums(rng, Linear(weights), incoming)
    spread = int(np.ptp(sums)) + 2
    return as_bias(
        rng.integers(-spread // 8, spread // 8 + 1, weights.shape[0]) - np.median(sums, axis=0).astype(np.int64)
    )


def as_bias(bias: np.ndarray) -> np.ndarray | None:
    """In the narrowest type that holds it; None where it is all zeros."""
    if not bias.any():
        return None
    return bias.astype(np.int16 if np.abs(bias).max() < 2**15 else np.int32)


def _sign_linear(rng: np.random.Generator, incoming: Signal, rows: int) -> Linear:
    weights = random_matrix(rng, rows, incoming.width)
    return Linear(weights, _centring_bias(rng, weights, incoming), "sign")


def scoring_linear(rng: np.random.Generator, incoming: Signal, rows: int, density: float | None = None) -> Linear:
    """A Linear whose accumulators are the scores; at times its bias takes it to 32 bits."""
    weights = random_matrix(rng, rows, incoming.width, density=density)
    kind = rng.random()
    if kind < 0.2:
        return Linear(weights)
    if kind < 0.35:
        return Linear(weights, as_bias(rng.integers(-(2**30), 2**30, rows)))
    return Linear(weights, _centring_bias(rng, weights, incoming))


def rescaled_linear(rng: np.random.Generator, incoming: Signal, rows: int, activation: str) -> Linear:
    """A Linear to bytes, with the least `pre` and a multiplier that spreads its outputs over 0..255."""
    weights = random_matrix(rng, rows, incoming.width)
    plain = Linear(weights, _centring_bias(rng, weights, incoming))
    pre = least_pre(plain.accumulators(incoming))
    reach = max(1.0, float(np.quantile(np.abs(_sampled_sums(rng, plain, incoming)), 0.9)) / 2**pre)
    target = (127 if activation == "none" else 255) * rng.uniform(0.3, 1.1)
    shift = int(np.clip(np.floor(np.log2(255 * reach / target)), 0, 23))
    multiplier = int(np.clip(round(target * 2**shift / reach), 1, 255))
    per_row = np.clip(multiplier * rng.uniform(0.5, 1.5, rows), 0, 255).astype(np.uint8)
    high = 255 if rng.random() < 0.7 else int(rng.integers(1, 256))
    rescale = Rescale(per_row if rng.random() < 0.25 else multiplier, shift, pre, high)
    return Linear(weights, plain.bias, activation, rescale)


def least_pre(sums: Interval) -> int:
    """The least shift after which every sum fits int16."""
    return next(pre for pre in range(16) if sums.low.min() >> pre >= -(2**15) and sums.high.max() >> pre < 2**15)


def _squared_distance(rng: np.random.Generator, incoming: Signal, n_points: int, *, kernel: bool) -> Distance:
    if rng.random() < 0.6:
        shift = int(rng.integers(0, 5))
        zero = int(rng.integers(8 << shift, 255 - (7 << shift) + 1)) if rng.random() < 0.5 else 128
        values = rng.integers(-8, 8, (n_points, incoming.width))
        points, options = Matrix.pack(values, "int4", "dense"), {"zero": zero, "shift": shift}
    else:
        points, options = Matrix.pack(rng.integers(-128, 128, (n_points, incoming.width)), "int8", "dense"), {}
    plain = Distance(points, **options)
    if not kernel:
        return plain
    assert incoming.range is not None
    values = rng.integers(incoming.range.low, incoming.range.high + 1, (N_SAMPLES, incoming.width))
    usual = float(np.median(plain.run(values.astype(np.float64))))
    return Distance(points, **options, kernel=_random_gaussian(rng, usual))


def _random_gaussian(rng: np.random.Generator, usual: float) -> Gaussian:
    """A table that falls from up to 255, on whose slope the usual distance lies."""
    n_entries = int(rng.integers(2, 40))
    shift = int(np.clip(np.round(np.log2(max(usual, 1.0) * 2 / n_entries)), 8, 31))
    table = np.sort(rng.integers(0, 256, n_entries))[::-1]
    if rng.random() < 0.5:
        table = np.rint(255 * np.exp(-rng.uniform(0.5, 6) * np.arange(n_entries) / n_entries))
    table[0] = max(1, table[0])
    return Gaussian(table.astype(np.uint8), shift)


# Float32 Programs.


def random_float_program(rng: np.random.Generator, family: str | None = None) -> Program:
    """A random float32 Program of one of `FAMILIES`, its values of the order of 1."""
    family = family or str(rng.choice(FAMILIES))
    first = _random_float_input(rng)
    width, rows = first.width, int(rng.integers(2, 9))
    if family in ("amm", "smp"):
        middle = (_float_linear(rng, rows, width), _float_groups(rng, rows, "max", may_floor=family == "amm"))
        return Program((first, *middle, Decide("argmax")))
    if family == "prototypes":
        points = Matrix.pack(rng.normal(0, 1, (rows, width)), "float32")
        return Program((first, Distance(points), _float_groups(rng, rows, "min"), Decide("argmin")))
    if family == "bnc":
        codes = Matrix.pack(rng.integers(0, 2, (rows, 11)), "bits")
        middle = (_float_linear(rng, 11, width, "sign"), Distance(codes, metric="hamming"))
        return Program((first, *middle, _float_groups(rng, rows, "min"), Decide("argmin")))
    hidden = int(rng.integers(1, 12))
    middle = ()
    if family == "protonn":
        points = Matrix.pack(rng.normal(0, 1, (hidden, 5)), "float32")
        middle = (_float_linear(rng, 5, width), Distance(points, kernel=float(rng.uniform(0.02, 1))))
    elif family == "sparsenet":
        middle = (_float_linear(rng, hidden, width, "relu"),)
    else:
        hidden = width
    outputs = int(rng.integers(1, 7))
    ending = random_ending(rng, outputs)
    ending = Decide("value") if ending.kind == "value" else ending
    return Program((first, *middle, _float_linear(rng, outputs, hidden), ending))


def _random_float_input(rng: np.random.Generator) -> Input:
    n, raw = int(rng.integers(1, 30)), str(rng.choice(["float32", "float32", "uint8", "int16"]))
    unit = {"float32": 1.0, "uint8": 64.0, "int16": 8192.0}[raw]
    offset = np.rint(rng.normal(0, unit, n)) if raw == "int16" else rng.normal(unit, unit, n)
    options = {"offset": offset.astype(np.float32) if raw == "float32" else offset.astype(np.int16)}
    options["multiplier"] = (rng.uniform(0.5, 2, n) / unit).astype(np.float32)
    if rng.random() < 0.3:
        codes = rng.integers(0, 4, n).astype(np.uint8)
        if codes.any():
            options |= {"codes": codes, "hot": 2}
            options["offset"] = np.rint(options["offset"]).astype(options["offset"].dtype)
    if rng.random() < 0.3:
        fill = rng.normal(0, 1, n).astype(np.float32)
        fill[options.get("codes", np.zeros(n)) > 0] = 0
        options |= {"missing": "nan" if raw == "float32" else 0, "fill": fill}
    return Input(raw, n, output="float32", **options)


def _float_linear(rng: np.random.Generator, rows: int, columns: int, activation: str = "none") -> Linear:
    weights = rng.normal(0, columns**-0.5, (rows, columns)) * (rng.random((rows, columns)) < rng.choice([0.2, 1.0]))
    bias = rng.normal(0, 0.3, rows).astype(np.float32) if rng.random() < 0.7 else None
    storage = str(rng.choice(FORMATS["float32"]))
    return Linear(Matrix.pack(weights, "float32", storage), bias, activation)


def _float_groups(rng: np.random.Generator, width: int, operation: str, *, may_floor: bool = False) -> GroupReduce:
    floor = float(rng.normal(0, 0.3)) if may_floor and rng.random() < 0.7 else None
    counts = np.bincount(rng.integers(0, 2, width), minlength=2)
    if floor is None:
        counts = np.array([1, width - 1])
    return GroupReduce(counts.astype(np.uint8), operation, floor)
