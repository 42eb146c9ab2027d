"""Quantise: a float32 Program and calibration rows → an integer Program of the same steps, and how well they agree.

For models that were not trained in integers. Every feature is brought to a byte by itself; weights are rounded to int8
or int4 of what those bytes stand for; the ranges of what lies between come from the calibration rows, and so does the
choice among the Inputs that may suit: the cheapest that changes hardly more answers than the best. Rows that had no
part in any of this then say how often both Programs agree, and too little is refused. `rounding` has the arithmetic of
each step. May import NumPy and this package.
"""

import logging
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smidgen.errors import AgreementError, DataError, ProgramError
from smidgen.program.checks import choice, counted, require
from smidgen.program.decide import Decide
from smidgen.program.distance import Distance
from smidgen.program.group import INT32, GroupReduce
from smidgen.program.input import RAW_LIMITS, RAW_TYPES, Input
from smidgen.program.linear import Linear
from smidgen.program.program import Program, Step
from smidgen.program.rounding import Stored, byte_linear, rounded_distance, scoring_linear, sign_linear, stored
from smidgen.program.scaling import Ranges, affine_input, ranged_inputs, raw_type_of, raw_values
from smidgen.program.storage import Format

TOLERANCE = 0.01
HELD_OUT = 0.25
LEAST_ROWS = 8
LARGEST_CALIBRATION = 4_096
"""Rows that ranges and the choice among Inputs are taken from; more say no more."""

VALUE_TOLERANCE = 0.02
"""Values agree within this share of the deviation of what the float32 Program answers."""

DOUBTED = 0.25
"""The share of rows of which it is not believed that they are decided as clearly as they seem to be."""

HARDLY_MORE = 0.001
"""A cheaper Input may change such a share of the answers more than the best one."""

TRIED_EACH = 3
"""One calibration row in so many is kept for the choice among Inputs, if there are enough."""
LEAST_TO_TRY = 60

TAILS = (0.0, 0.001, 0.01)
"""Shares of the rows that an Input may clip at either end of a feature."""
HEADROOM = 1 / 64
"""Of a feature's span, beyond what the calibration rows show, where nothing is clipped of them."""

HOT = 128
"""What a one-hot byte is: the largest power of two."""

Floats = NDArray[np.float64]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Quantised:
    """An integer Program, and how often it agrees with the float32 Program that it was made of.

    Parameters
    ----------
    program
        The integer Program.
    agreement
        The share of the held-out rows on which both give the same class, the same labels, or values within 2 % of
        the deviation of the float32 values. 1 for a Program that was an integer one before.
    n_rows
        How many rows were held out; none for a Program that was an integer one before.
    """

    program: Program
    agreement: float
    n_rows: int


def quantise(
    program: Program,
    calibration: Any,
    *,
    weight_format: Format = "int8",
    raw: str | None = None,
    held_out: Any = None,
    tolerance: float = TOLERANCE,
) -> Quantised:
    """Return the integer Program of a float32 one, if both agree on rows that were not used for making it.

    Parameters
    ----------
    program : Program
        One that is an integer Program already is returned as it is.
    calibration : array-like or sparse matrix, shape (n, d)
        Raw rows as the sensors give them, such as training rows: they say what range everything has.
    weight_format : {"int8", "int4"}
        The format of weights and points.
    raw : {"uint8", "int8", "int16", "float32"}, optional
        What the sensors give. By default what the Program names, if it names integers, else the narrowest type that
        holds the calibration rows.
    held_out : array-like or sparse matrix, shape (m, d), optional
        Rows to measure the agreement on. By default a quarter of the calibration rows, which then have no other part.
    tolerance : float
        The share of the held-out rows that may get another answer; beyond it an `AgreementError` is raised.

    Returns
    -------
    quantised : Quantised
        The Program, its agreement, and on how many rows it was measured.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> weights = Matrix.pack([[0.5, -0.2], [-0.1, 0.3]], "float32")
    >>> program = Program((Input("float32", 2, output="float32"), Linear(weights), Decide("argmax")))
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> quantised = quantise(program, rows)
    >>> quantised.program.arithmetic, quantised.agreement > 0.99, quantised.n_rows
    ('integer', True, 100)
    """
    if program.arithmetic == "integer":
        return Quantised(program, 1.0, 0)
    choice(weight_format, ("int8", "int4"), "the format of quantised weights")
    require(0 <= tolerance <= 1, f"the tolerance is {tolerance}; it must be a share of the rows, in 0..1")
    rows, held = _split(program, calibration, held_out)
    raw = _raw_type(program.input, rows, raw)
    return _accepted(program, _best(program, raw, rows, weight_format), held, tolerance)


def agreement(program: Program, other: Program, rows: Any) -> float:
    """Return the share of rows on which two Programs agree, by the rule of their task.

    The same class, the same labels, or every value within 2 % of the deviation of the first Program's values.
    """
    return agreeing(program.task, *(each.run(rows).prediction for each in (program, other)))


def agreeing(task: str, answers: NDArray[Any], others: NDArray[Any]) -> float:
    """Return the share of rows with agreeing answers: classes, indicator rows, or values, by the rule of the task."""
    wanted, found = answers.reshape(len(answers), -1), others.reshape(len(answers), -1)
    same = np.abs(wanted - found) <= VALUE_TOLERANCE * wanted.std(axis=0) if task == "regression" else wanted == found
    return float(same.all(axis=1).mean())


def _accepted(program: Program, best: Program, held: Any, tolerance: float) -> Quantised:
    """The result, if it agrees well enough."""
    share, n_rows = agreement(program, best, held), held.shape[0]
    if 1 - share > tolerance + 1e-12:
        raise AgreementError(
            f"the integer Program agrees with the float32 one on {100 * share:.2f} % of "
            f"{counted(n_rows, 'held-out row')}, less than the {100 * (1 - tolerance):.2f} % asked for: give more "
            "calibration rows, or raise the tolerance"
        )
    _log.info("the integer Program agrees with the float32 one on %.2f %% of %d held-out rows", 100 * share, n_rows)
    return Quantised(best, share, n_rows)


# Rows.


def _split(program: Program, calibration: Any, held_out: Any) -> tuple[NDArray[Any], Any]:
    """Rows to calibrate with, as a dense array of at most so many, and rows to measure with."""
    table = program._as_table(calibration)
    n_rows = table.shape[0]
    if n_rows < LEAST_ROWS:
        raise DataError(f"there are {counted(n_rows, 'calibration row')}: quantising takes {LEAST_ROWS} at least")
    order = np.random.default_rng(0).permutation(n_rows)
    if held_out is None:
        n_held = int(HELD_OUT * n_rows)
        held, order = table[np.sort(order[:n_held])], order[n_held:]
    else:
        held = program._as_table(held_out)
        if not held.shape[0]:
            raise DataError("held_out has no rows: give some, or leave it out for a quarter of the calibration rows")
    rows = _rows(table, np.sort(order[:LARGEST_CALIBRATION]))
    program.input.run(rows)  # refuses what no Input takes
    return rows, held


def _rows(table: Any, places: NDArray[np.intp]) -> NDArray[Any]:
    """Some rows as a dense array."""
    rows = table[places]
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _raw_type(original: Input, rows: NDArray[Any], raw: str | None) -> str:
    """The type of the sensors: the one that was asked for, or else named, or else found."""
    if raw is None:
        raw = original.raw
        values = rows.astype(np.float64)
        whole = bool(np.isfinite(values).all() and (np.rint(values) == values).all())
        if raw == "float32" and original.missing is None and whole:
            raw = raw_type_of(values.min(), values.max())
    choice(raw, RAW_TYPES, "the raw type")
    if original.missing is not None and raw != original.raw:
        marker = "NaN" if original.missing == "nan" else original.missing
        raise ProgramError(f"missing values are marked by {marker}, which {original.raw} sensors give and {raw} do not")
    return raw


# The choice.


@dataclass(frozen=True)
class _Plan:
    scaling: Input
    weight_format: Format
    own_multipliers: bool = True


def _best(program: Program, raw: str, rows: NDArray[Any], weight_format: Format) -> Program:
    """The integer Program of the smallest plan that changes hardly more answers than the best one does.

    Plans are tried on rows that had no part in rounding the weights, so that none gains by knowing them.
    """
    tried = np.arange(len(rows)) % TRIED_EACH == 0
    learn, trial = (rows[~tried], rows[tried]) if len(rows) >= LEAST_TO_TRY else (rows, rows)
    plan = _cheapest(program, [_Plan(each, weight_format) for each in _inputs(program, raw, rows)], learn, trial)
    plan = _cheapest(program, [plan, replace(plan, own_multipliers=False)], learn, trial)
    return _build(program, plan, rows)


def _cheapest(program: Program, plans: list[_Plan], learn: NDArray[Any], trial: NDArray[Any]) -> _Plan:
    built = [_build(program, plan, learn) for plan in plans]
    changes = np.array([_expected_changes(program, each, trial) for each in built])
    good = np.flatnonzero(changes <= changes.min() + HARDLY_MORE)
    return plans[min(good, key=lambda index: (built[index].cost().model_bytes, changes[index]))]


def _expected_changes(program: Program, other: Program, rows: NDArray[Any]) -> float:
    """The share of answers that the other Program's errors may be expected to change.

    Finer than counting changed answers, which among a hundred rows are too few to compare by: how clearly each answer
    was decided is known, and how far the errors reach; errors are taken as normal. Rows that the model was trained on
    are decided more clearly than others will be: of some rows it is not believed.
    """
    wanted, found = program.scores(rows), other.run(rows)
    if program.task == "regression":
        error = np.sqrt(((found.prediction - wanted) ** 2).mean(axis=0))
        clear = np.broadcast_to(VALUE_TOLERANCE * wanted.std(axis=0), wanted.shape)
        return _share(2 * _beyond(clear / np.maximum(error, 1e-300)))
    clear, seen = (_clearness(program.decide, wanted, each) for each in (wanted, found.scores.astype(np.float64)))
    scale = (clear * seen).sum() / max((seen * seen).sum(), 1e-300)  # integer scores have a unit of their own
    error = np.sqrt(((seen * scale - clear) ** 2).mean())
    distance = clear / np.maximum(error, 1e-300)
    return _share((1 - DOUBTED) * _beyond(distance) + DOUBTED * _beyond_any(distance))


def _share(odds: Floats) -> float:
    """Of rows, whose decisions change with these odds."""
    return float(np.minimum(odds.sum(axis=1), 1).mean())


LOGISTIC = 1.702
"""A logistic curve this steep is within 0.01 of the normal distribution."""


def _beyond(distance: Floats) -> Floats:
    """The share of a normal distribution that lies beyond so many deviations."""
    return 1 / (1 + np.exp(np.minimum(LOGISTIC * distance, 500)))


def _beyond_any(distance: Floats) -> Floats:
    """The mean of `_beyond` from 0 to so many deviations."""
    steep = np.maximum(LOGISTIC * distance, 1e-6)
    return np.clip(1 - (np.logaddexp(0, steep) - np.log(2)) / steep, 0, 0.5)


def _clearness(decide: Decide, ranking: Floats, scores: Floats) -> Floats:
    """By how much these scores decide for what the ranking ones decide, for each decision that a row takes."""
    if decide.kind in ("threshold", "labels"):
        return np.where(ranking > 0, scores, -scores)
    sign, k = 1 if decide.kind == "argmin" else -1, decide.k or 1
    if k == ranking.shape[1]:
        return np.ones((len(scores), 1))
    order = np.argsort(sign * ranking, axis=1, kind="stable")
    last, rival = (np.take_along_axis(sign * scores, order[:, place : place + 1], axis=1) for place in (k - 1, k))
    return rival - last


# Inputs.


def _inputs(program: Program, raw: str, rows: NDArray[Any]) -> list[Input]:
    """The Inputs that may suit, each once."""
    original, taker = program.input, program.steps[1]
    sensed = _filled(original, raw, rows)
    found: dict[tuple[Any, ...], Input] = {}
    for tail in TAILS:
        if isinstance(taker, Distance):
            kinds = _even_inputs(raw, sensed, original, taker, tail)
        else:
            kinds = _weighed_inputs(raw, _ranges(sensed, raw, tail))
        for kind in kinds:
            scaling = _completed(kind, original)
            key = (scaling.describe(), *(array.tobytes() for array in scaling.constants().values()))
            found.setdefault(key, scaling)
    return list(found.values())


def _filled(original: Input, raw: str, rows: NDArray[Any]) -> Floats:
    """Rows as the sensors give them, with raw numbers for missing ones, and one number for what becomes one-hot."""
    values = rows.astype(np.float64)
    missing = np.isnan(values) if original.missing in (None, "nan") else values == original.missing
    if original.fill is not None:
        values = np.where(missing, raw_values(original, original.fill[None, :].astype(np.float64)), values)
    if original.codes is not None:
        values = np.where(original.codes > 0, original.offset, values)
    return np.clip(np.rint(values), *RAW_LIMITS[raw]) if raw in RAW_LIMITS else values


def _ranges(values: Floats, raw: str, tail: float) -> Ranges:
    """The ends of every feature, with some room beyond where no tail is clipped; integers keep to whole numbers."""
    ordered = np.sort(values, axis=0)
    cut = int(tail * len(values))
    least, low, high, largest = ordered[0], ordered[cut], ordered[-1 - cut], ordered[-1]
    rare = low == high  # all but a tail is one value: what is left of the feature is in its tail
    low, high = np.where(rare, least, low), np.where(rare, largest, high)
    if not cut:
        room = (largest - least) * HEADROOM
        room = np.floor(room) if raw in RAW_LIMITS else room
        least, largest = least - room, largest + room
        low, high = least, largest
    return Ranges(least, low, high, largest)


def _weighed_inputs(raw: str, ranges: Ranges) -> list[Input]:
    """For a Linear, whose weights take any step that a feature's byte may have."""
    span = ranges.high - ranges.low
    levelled = affine_input(raw, ranges.low, np.where(span > 0, 255 / np.where(span > 0, span, 1), 0))
    return [*ranged_inputs(raw, ranges), *([levelled] if raw == "float32" else [])]


def _even_inputs(raw: str, values: Floats, original: Input, taker: Distance, tail: float) -> list[Input]:
    """For a Distance, to which a byte's step must mean the same in every feature: powers of two only where that is so.

    The points need room as well.
    """
    multiplier = np.abs(np.broadcast_to(np.asarray(original.multiplier, np.float64), original.n_features))
    used = multiplier > 0
    ranges = _ranges(values, raw, tail)
    low, high = ranges.low, ranges.high
    if original.codes is None:
        points = raw_values(original, taker.points.values.astype(np.float64))
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    span = max(float(((high - low) * multiplier).max()), 1e-30)
    most = 255.0 if raw in RAW_LIMITS else 2.0**100
    kinds = [affine_input(raw, low, multiplier * min(255 / span, most / max(multiplier.max(), 1e-30)))]
    if (multiplier[used] == multiplier[used][:1]).all() and used.any():
        shared = np.full(len(low), low[used].min()), float(high[used].max() - low[used].min())
        own = low, float((high - low)[used].max())
        for start, reach in (own, shared):
            exponent = np.floor(np.log2(255 / max(reach, 1e-30)))
            factor = 2.0 ** (min(exponent, 0) if raw in RAW_LIMITS else exponent)
            kinds.append(affine_input(raw, start, np.where(used, factor, 0)))
        kinds += [Input(raw, original.n_features)] if raw == "uint8" and used.all() else []
    return kinds


def _completed(scaling: Input, original: Input) -> Input:
    """With what the float32 Input does besides scaling: missing values filled, codes made one-hot."""
    coded = np.zeros(original.n_features, bool) if original.codes is None else original.codes > 0
    if original.fill is not None:
        fill = scaling.run(raw_values(original, original.fill[None, :].astype(np.float64)))[0]
        scaling = replace(scaling, missing=original.missing, fill=np.where(coded, 0, fill).astype(np.uint8))
    if original.codes is not None:
        offset = np.where(coded, original.offset, scaling.offset)
        kept = offset.astype("float32" if scaling.raw == "float32" else "int16")
        scaling = replace(scaling, codes=original.codes, hot=HOT, offset=kept)
    return scaling


# Step by step.


def _build(program: Program, plan: _Plan, rows: NDArray[Any]) -> Program:
    """The integer Program of a plan."""
    given = stored(plan.scaling, program.input, rows, weighed=isinstance(program.steps[1], Linear))
    values, unit = program.input.run(rows), np.ones(1)
    steps: list[Step] = [plan.scaling]
    for index, (step, taker) in enumerate(pairwise(program.steps[1:]), start=1):
        stores = isinstance(taker, (Linear, Distance))
        rounded: Step = step
        if isinstance(step, Linear):
            rounded, given, unit = _linear(step, taker, step.sums(values), given, plan)
        elif isinstance(step, Distance):
            rounded, given, unit = _distance(step, index, values, given, plan, stores=stores)
        elif isinstance(step, GroupReduce) and step.floor is not None:
            rounded = replace(step, floor=int(np.clip(np.rint(step.floor / unit[0]), *INT32)))
        steps.append(rounded)
        values = step.run(values) if stores else values
    return Program((*steps, _decide(program, unit)), classes=program.classes, feature_names=program.feature_names)


def _linear(step: Linear, taker: Step, sums: Floats, given: Stored, plan: _Plan) -> tuple[Linear, Stored, Floats]:
    """The integer Linear, what it stores (if anything), and the units of its accumulators."""
    if step.activation == "sign":
        rounded = sign_linear(step, sums, given, plan.weight_format)
        bits = Stored(rounded.check(given.signal), rounded.run(given.rows), np.ones(1), np.zeros(1))
        return rounded, bits, np.ones(1)
    if isinstance(taker, (Linear, Distance)):
        return *byte_linear(step, sums, given, plan.weight_format, taker=taker, own=plan.own_multipliers), np.ones(1)
    own_units = isinstance(taker, Decide) and taker.kind == "value"
    rounded, unit = scoring_linear(step, sums, given, plan.weight_format, own_units=own_units)
    return rounded, given, unit


def _distance(
    step: Distance, index: int, values: Floats, given: Stored, plan: _Plan, *, stores: bool
) -> tuple[Distance, Stored, Floats]:
    """The integer Distance, what it stores (if anything), and the unit of its distances."""
    rounded, unit, sq_unit = rounded_distance(step, values, given, plan.weight_format)
    if not stores:
        return rounded, given, np.full(step.n_outputs, sq_unit)
    if step.kernel is None:
        raise ProgramError(f"step {index}: in integers only GroupReduce and Decide take distances without a Gaussian")
    kernel = np.full(step.n_outputs, unit)
    return rounded, Stored(rounded.check(given.signal), rounded.run(given.rows), kernel, 0 * kernel), np.ones(1)


def _decide(program: Program, unit: Floats) -> Decide:
    """The same Decide; values get the unit of what they are made of."""
    decide = program.decide
    if decide.kind != "value" or decide.scale is not None:
        return decide
    return replace(decide, scale=np.broadcast_to(unit[: program.n_outputs], program.n_outputs).astype(np.float32))
