"""One training, from rows to a Program within a budget: what ProtoNN and the pruned network do alike.

    a choice (Input, noise, formats) → the plan → where to start → the engine → the Program

A family brings its plan, its start and its Program's steps; everything else is here. What to choose is found by
`trial`. May import the files of models/ that know no algorithm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from smidgen.core.losses import LOSSES
from smidgen.core.metrics import precision_at_k
from smidgen.errors import BudgetError, UsageError
from smidgen.models.engine import Recipe, Trained, go_on, train
from smidgen.models.feed import Feed, feed_of, spread_of
from smidgen.models.parameters import LEAST_STEP, Model
from smidgen.models.plans import BITS
from smidgen.models.projection import Projection
from smidgen.models.rows import TrainingRows, dense_batch
from smidgen.models.scaling import n_constant_bytes
from smidgen.models.support import Columns
from smidgen.program import Decide, Input, Program
from smidgen.program.checks import counted
from smidgen.program.storage import Format

DEFAULT_BUDGET = 2048  # whose sizes a model without a budget has
MOST_BYTES = 1 << 40
SAMPLE_VALUES = 1 << 23  # numbers of the rows from which parts start
LEAST_SHARE = 1e-4  # of a class or a label, where scores start
MOST_COUNTS = 2**29  # that the mean of values may come to in a bias of 32 bits
SCALE_BYTES = 4  # of a value
SCORED_VALUES = 1 << 21  # numbers of the rows that are judged at once
LEAST_SAMPLE, MOST_SAMPLE = 512, 20_000

STEPS_AT_CAP, ROWS_AT_CAP, LEAST_STEPS = 12_000, 16_000, 400


@dataclass(frozen=True)
class Choice:
    """What one training is given beside the rows."""

    scaling: Input
    noise: float
    formats: Mapping[str, Format]
    knobs: Mapping[str, Any] = field(default_factory=dict)  # what the family's plan takes


@dataclass(frozen=True)
class Start:
    """What a family starts from."""

    plan: Any
    rows: TrainingRows  # a sample
    x: NDArray[np.float32]  # (k, d) what the Input makes of them
    projection: Projection
    budget: int | None  # bytes for all constants
    learning_rate: float
    weight_decay: float
    seed: int


class Values(NamedTuple):
    """By what values to predict were standardised, each (K,); 0 and 1 for everything else."""

    centre: NDArray
    deviation: NDArray


class Family(Protocol):
    """What is told apart between ProtoNN and the pruned network."""

    default_rate: float

    def knobs(self, sizes: Mapping[str, Any], rows: TrainingRows) -> Mapping[str, Sequence[Any]]:
        """Return what a trial may turn, given what was fixed by hand; the first value is the rule's own."""

    def formats(self, weight_format: Any) -> Mapping[str, Format]:
        """Return the format of each matrix."""

    def plan(self, budget: int, rows: TrainingRows, scaling: Input, formats: Mapping[str, Format], **sizes: Any) -> Any:
        """Return the sizes that a budget buys."""

    def start(self, start: Start) -> Model:
        """Return a model to train."""

    def steps(self, trained: Trained, values: "Values") -> tuple[tuple[Any, ...], float]:
        """Return the Program's steps between Input and Decide, and what one count of a score is worth."""

    def matrices(self, trained: Trained) -> Mapping[str, NDArray]:
        """Return the matrices of the model as they count, by the names of an estimator's attributes."""


@dataclass(frozen=True)
class Settings:
    """What an estimator's parameters come to."""

    budget: int | None
    weight_format: Any = "auto"
    sizes: Mapping[str, Any] = field(default_factory=dict)  # by hand
    loss: str = "cross_entropy"
    n_steps: int | None = None
    batch_size: int = 256
    learning_rate: float | None = None
    weight_decay: float = 0.0
    noise: float | None = None
    trial: bool = True
    validation_fraction: float | None = None  # of the rows, held out to stop early by
    trusted_range: tuple[int, int] | None = None
    seed: int = 0


@dataclass(frozen=True)
class Fitted:
    """What `fit` ends with."""

    program: Program
    plan: Any
    choice: Choice
    trained: Trained
    values: Values
    unit: float  # what one count of a score is worth
    trials: list[dict[str, Any]] = field(default_factory=list)


def steps_for(n_rows: int) -> int:
    """Return how many steps so many rows are worth: with their square root, between a floor and a cap.

    >>> steps_for(150), steps_for(1_797), steps_for(60_000)
    (1162, 4022, 12000)
    """
    share = min(1.0, n_rows / ROWS_AT_CAP)
    return max(LEAST_STEPS, round(STEPS_AT_CAP * math.sqrt(share)))


def named_formats(weight_format: Any, names: Sequence[str]) -> dict[str, Format]:
    """Return the format of each matrix: one for all, or those given by name and int4 for the others."""
    given = dict.fromkeys(names, weight_format) if isinstance(weight_format, str) else weight_format
    if unknown := set(given) - set(names):
        raise UsageError(f"weight_format names {sorted(unknown)[0]!r}: the matrices are {', '.join(names)}")
    if strange := set(given.values()) - {*BITS, "auto"}:
        raise UsageError(f"weight_format has {strange.pop()!r}: a format is {', '.join(BITS)} or auto")
    return {name: cast(Format, "int4" if given.get(name, "auto") == "auto" else given[name]) for name in names}


def train_choice(
    family: Family,
    rows: TrainingRows,
    choice: Choice,
    settings: Settings,
    *,
    n_steps: int,
    held: TrainingRows | None = None,
) -> Fitted:
    """Train one plan to its end; with held-out rows, to where they are served best."""
    plan = plan_of(family, rows, choice, settings)
    feed = _feed(rows, choice, settings)
    targets, values = training_targets(rows)
    model = family.start(_start(rows, choice, settings, plan=plan, feed=feed, default_rate=family.default_rate))
    validate = None
    if held is not None:
        validate = lambda reached: score_of(_program(family, reached, choice, rows, values)[0], held)  # noqa: E731
    is_float = choice.scaling.output == "float32"
    recipe = Recipe(n_steps, settings.batch_size, not is_float, settings.seed, validate)
    trained = train(model, feed, targets, rows.weight.astype(np.float32), loss=LOSSES[settings.loss], recipe=recipe)
    return _finished(family, trained, choice, rows, values=values, plan=plan, settings=settings)


def train_further(family: Family, fitted: Fitted, rows: TrainingRows, settings: Settings) -> Fitted:
    """Go once over further rows; sizes, Input and the unit of values stay as they are."""
    choice = fitted.choice
    feed = _feed(rows, choice, settings)
    targets, values = training_targets(rows, fitted.values)
    n_steps = feed.batches_an_epoch(settings.batch_size)
    recipe = Recipe(n_steps, settings.batch_size, choice.scaling.output == "bytes", settings.seed)
    trained = go_on(
        fitted.trained, feed, targets, rows.weight.astype(np.float32), loss=LOSSES[settings.loss], recipe=recipe
    )
    further = _finished(family, trained, choice, rows, values=values, plan=fitted.plan, settings=settings)
    return replace(further, trials=fitted.trials)


def _feed(rows: TrainingRows, choice: Choice, settings: Settings) -> Feed:
    size, seed = settings.batch_size, settings.seed
    return feed_of(rows.X, rows.weight, choice.scaling, noise=choice.noise, batch_size=size, seed=seed)


def _finished(
    family: Family,
    trained: Trained,
    choice: Choice,
    rows: TrainingRows,
    *,
    values: Values,
    plan: Any,
    settings: Settings,
) -> Fitted:
    program, unit = _program(family, trained, choice, rows, values)
    n_bytes = program.cost().model_bytes
    if settings.budget is not None and n_bytes > settings.budget:
        raise BudgetError(f"the sizes do not fit into {counted(settings.budget, 'byte')}: the model takes {n_bytes}")
    return Fitted(program, plan, choice, trained, values, unit)


def _program(
    family: Family, trained: Trained, choice: Choice, rows: TrainingRows, values: Values
) -> tuple[Program, float]:
    """Build the Program, and say what one count of a score is worth."""
    steps, unit = family.steps(trained, values)
    is_float = choice.scaling.output == "float32"
    decide = decide_of(rows, n_scores(rows), None if is_float else unit * values.deviation)
    classes = None if rows.classes is None else tuple(rows.classes.tolist())
    return Program((choice.scaling, *steps, decide), classes=classes), unit


def score_of(program: Program, rows: TrainingRows) -> float:
    """Return accuracy; of labels precision at 1, 3 and 5 averaged; of values R²."""
    scores, prediction = answers_of(program, rows)
    if rows.task == "classification":
        return float(np.average(prediction == rows.y, weights=rows.weight))
    if rows.task == "multilabel":
        return float(np.mean([precision_at_k(rows.y, scores, k) for k in (1, 3, 5) if k <= rows.n_outputs]))
    return float(r2_score(rows.y, prediction, sample_weight=rows.weight)) if len(rows.y) > 1 else 0.0


def closeness_of(fitted: Fitted, rows: TrainingRows, loss: str) -> float:
    """Return minus the loss, for values R²: a finer measure than how many rows are right."""
    if rows.task == "regression":
        return score_of(fitted.program, rows)
    scores, _ = answers_of(fitted.program, rows)
    targets, _ = training_targets(rows)
    return -float(LOSSES[loss](scores * fitted.unit, targets, rows.weight / rows.weight.sum())[0])


def answers_of(program: Program, rows: TrainingRows) -> tuple[NDArray[np.float64], NDArray]:
    """Return scores and predictions, some rows at a time."""
    step = max(1, SCORED_VALUES // rows.X.shape[1])
    blocks = [slice(start, start + step) for start in range(0, len(rows.y), step)]
    answers = [program.run(dense_batch(rows.X, block)) for block in blocks]
    scores = np.concatenate([answer.scores for answer in answers]).astype(np.float64)
    return scores, np.concatenate([answer.prediction for answer in answers])


def plan_of(family: Family, rows: TrainingRows, choice: Choice, settings: Settings) -> Any:
    """Return the plan of a choice; without a budget the sizes of 2 kB, or of as many bytes as what is given takes."""
    sizes = {name: size for name, size in settings.sizes.items() if size is not None}
    budget = DEFAULT_BUDGET if settings.budget is None else settings.budget
    while True:
        try:
            return family.plan(budget, rows, choice.scaling, choice.formats, **choice.knobs, **sizes)
        except BudgetError:
            if settings.budget is not None or budget > MOST_BYTES:
                raise
            budget *= 2


def _start(
    rows: TrainingRows, choice: Choice, settings: Settings, *, plan: Any, feed: Feed, default_rate: float
) -> Start:
    n_sample = int(np.clip(SAMPLE_VALUES // choice.scaling.width, LEAST_SAMPLE, MOST_SAMPLE))
    order = np.random.default_rng(settings.seed).permutation(len(rows.y))
    chosen = np.sort(order[:n_sample])
    sample, x = rows.take(chosen), feed.sample(chosen)
    spread = spread_of(feed.deviation)
    low, high = byte_range(choice.scaling)
    projection = Projection(feed.mean, spread, low, high, Columns(np.arange(len(low)), len(low)))
    rate = default_rate if settings.learning_rate is None else settings.learning_rate
    return Start(plan, sample, x, projection, settings.budget, rate, settings.weight_decay, settings.seed)


def byte_range(scaling: Input) -> tuple[NDArray, NDArray]:
    """Return the least and the largest byte of each feature; zeros for real numbers, of which nothing is proved."""
    span = scaling.check(None).range
    if span is None:
        return np.zeros(scaling.width), np.zeros(scaling.width)
    return span.low.astype(np.float64), span.high.astype(np.float64)


def training_targets(rows: TrainingRows, values: Values | None = None) -> tuple[NDArray, Values]:
    """Return what the scores shall come to, and by what values are standardised: by themselves, unless it is given."""
    as_it_is = Values(np.zeros(1), np.ones(1))
    if rows.task == "multilabel":
        return rows.y.astype(np.float32), as_it_is
    if rows.task == "classification":
        yes_or_no = rows.y.astype(np.float32)[:, None]
        return (yes_or_no if rows.n_outputs == 2 else rows.y.astype(np.int64)), as_it_is
    if values is None:
        centre = np.average(rows.y, axis=0, weights=rows.weight)
        deviation = np.sqrt(np.average((rows.y - centre) ** 2, axis=0, weights=rows.weight))
        values = Values(centre, np.where(deviation > 0, deviation, 1.0))
    return ((rows.y - values.centre) / values.deviation).astype(np.float32), values


def least_output_step(rows: TrainingRows) -> float:
    """Return what the step of the last weights' grid must not fall below: else the bias could not hold the mean.

    A count of an output is that step times a count of a byte, of which 255 come to about 1.
    """
    values = training_targets(rows)[1]
    return max(LEAST_STEP, 255 * float(np.max(np.abs(values.centre) / values.deviation)) / MOST_COUNTS)


def n_scores(rows: TrainingRows) -> int:
    """Return how many scores a row has: one tells two classes apart."""
    return 1 if rows.task == "classification" and rows.n_outputs == 2 else rows.n_outputs


def start_outputs(rows: TrainingRows, n_outputs: int) -> NDArray[np.float32]:
    """The bias of the scores: the logarithm of each class's share or of each label's odds, by weight; 0 for values."""
    if rows.task == "regression":
        return np.zeros(n_outputs, np.float32)
    if rows.task == "multilabel":
        share = np.average(rows.y, axis=0, weights=rows.weight)
    else:
        share = np.bincount(rows.y, weights=rows.weight, minlength=rows.n_outputs) / rows.weight.sum()
    share = np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE)
    if rows.task == "classification" and n_outputs > 1:
        return np.log(share * len(share)).astype(np.float32)
    return np.log(share / (1 - share)).astype(np.float32)[-n_outputs:]


def bytes_at_the_ends(rows: TrainingRows, scaling: Input) -> int:
    """Return what Input and Decide take: the one its constants, the other, of values, a scale for each."""
    n_scales = rows.n_outputs if rows.task == "regression" and scaling.output == "bytes" else 0
    return n_constant_bytes(scaling) + SCALE_BYTES * n_scales


def decide_of(rows: TrainingRows, n_scores: int, scale: NDArray | None = None) -> Decide:
    """Return the Program's last step; values of an integer Program have a scale."""
    if rows.task == "multilabel":
        return Decide("labels")
    if rows.task == "regression":
        return Decide("value", scale=None if scale is None else scale.astype(np.float32))
    return Decide("threshold" if n_scores == 1 else "argmax")
