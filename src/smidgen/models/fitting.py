"""From rows to a Program within a budget: what ProtoNN and the pruned network do alike in `fit`.

    candidates → a short trial on training rows → the plan → training → the Program

What held-out rows must decide (the Input, the noise, then what the family names: widths, labels a prototype) is decided
one thing after another, each by short trainings that see three quarters of the rows and are judged on the rest. A family
brings its plan, its start and its Program; everything else is here. May import the files of models/ that know no
algorithm.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from smidgen.core.losses import LOSSES
from smidgen.core.metrics import precision_at_k
from smidgen.errors import BudgetError, UsageError
from smidgen.models import scaling
from smidgen.models.engine import Recipe, Trained, train
from smidgen.models.parameters import Model
from smidgen.models.feed import Feed, feed_of, spread_of
from smidgen.models.projection import Columns, Projection
from smidgen.models.rows import TrainingRows, dense_batch, set_aside
from smidgen.program import Decide, Input, Program
from smidgen.program.checks import counted

NOISES = (0.1, 0.03, 0.3)
TRIAL_STEPS = 5  # times fewer than the training itself
LEAST_TRIAL_STEPS = 200
MOST_HELD_OUT = 10_000
SAMPLE_VALUES = 1 << 23  # numbers of the rows from which parts start
LEAST_SAMPLE, MOST_SAMPLE = 512, 20_000

STEPS_AT_CAP, ROWS_AT_CAP, LEAST_STEPS = 12_000, 16_000, 600


@dataclass(frozen=True)
class Choice:
    """What one training is given beside the rows."""

    scaling: Input
    noise: float
    formats: Mapping[str, str]
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

    def formats(self, weight_format: Any) -> Mapping[str, str]:
        """Return the format of each matrix."""

    def plan(self, budget: int, rows: TrainingRows, scaling: Input, formats: Mapping[str, str], **sizes: Any) -> Any:
        """Return the sizes that a budget buys."""

    def start(self, start: Start) -> Model:
        """Return a model to train."""

    def steps(self, trained: Trained, columns: Columns, values: "Values") -> tuple[tuple[Any, ...], float]:
        """Return the Program's steps between Input and Decide, and what one count of a score is worth."""


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
    trusted_range: tuple[int, int] | None = None
    seed: int = 0


@dataclass(frozen=True)
class Fitted:
    """What `fit` ends with."""

    program: Program
    plan: Any
    choice: Choice
    trained: Trained
    unit: float  # what one count of a score is worth
    trials: list[dict[str, Any]]


DEFAULT_BUDGET = 2048
WIDE_FORMAT_FROM = 8 * 1024  # bytes from which int8 may be as good as int4


def fit_family(
    family: Family, rows: TrainingRows, settings: Settings, feature_names: tuple[str, ...] | None
) -> Fitted:
    """Choose, train, and build the Program."""
    choice, trials = choose(family, rows, settings)
    n_steps = settings.n_steps or steps_for(float(rows.weight.sum()))
    fitted = train_choice(family, rows, choice, settings, n_steps, feature_names)
    return replace(fitted, trials=trials)


def steps_for(total_weight: float) -> int:
    """Return how many steps so many rows are worth: with their square root, between a floor and a cap.

    >>> steps_for(150), steps_for(1_797), steps_for(60_000)
    (1161, 4021, 12000)
    """
    share = min(1.0, total_weight / ROWS_AT_CAP)
    return max(LEAST_STEPS, round(STEPS_AT_CAP * math.sqrt(share)))


def named_formats(weight_format: Any, names: Sequence[str]) -> dict[str, str]:
    """Return the format of each matrix: one for all, or those given by name and int4 for the others."""
    if isinstance(weight_format, str):
        return dict.fromkeys(names, "int4" if weight_format == "auto" else weight_format)
    if unknown := set(weight_format) - set(names):
        raise UsageError(f"weight_format names {sorted(unknown)[0]!r}: the matrices are {', '.join(names)}")
    return {name: weight_format.get(name, "int4") for name in names}


# The trial.


def choose(family: Family, rows: TrainingRows, settings: Settings) -> tuple[Choice, list[dict[str, Any]]]:
    """Decide by held-out training rows whatever was not given by hand."""
    is_float = "float32" in family.formats(settings.weight_format).values()
    inputs = _affordable_inputs(family, rows, settings, is_float)
    noises = NOISES if settings.noise is None else (settings.noise,)
    choice = Choice(inputs[0], noises[0], family.formats(settings.weight_format))
    if not settings.trial:
        return choice, []
    share = min(0.25, MOST_HELD_OUT / len(rows.y))
    learn, held = set_aside(rows, settings.seed, share)
    n_steps = max(LEAST_TRIAL_STEPS, (settings.n_steps or steps_for(float(rows.weight.sum()))) // TRIAL_STEPS)
    trial = _Trial(family, learn, held, settings, n_steps)
    choice = trial.best([replace(choice, scaling=scaling) for scaling in inputs])
    choice = trial.best([replace(choice, noise=noise) for noise in noises])
    for knob, values in family.knobs(settings.sizes, rows).items():
        choice = trial.best([replace(choice, knobs={**choice.knobs, knob: value}) for value in values])
    budget = settings.budget or DEFAULT_BUDGET
    if settings.weight_format == "auto" and budget >= WIDE_FORMAT_FROM:
        choice = trial.best([choice, replace(choice, formats=family.formats("int8"))])
    return choice, trial.log


def _affordable_inputs(family: Family, rows: TrainingRows, settings: Settings, is_float: bool) -> list[Input]:
    if is_float:
        if settings.trusted_range is not None:
            raise UsageError("trusted_range belongs to the integer formats: leave it out where the weights are float32")
        return scaling.candidate_float_inputs(rows.X, rows.weight)
    inputs = scaling.candidate_inputs(rows.X, rows.weight, settings.trusted_range)
    affordable = [candidate for candidate in inputs[1:] if _can_plan(family, rows, candidate, settings)]
    return [inputs[0], *affordable]


def _can_plan(family: Family, rows: TrainingRows, candidate: Input, settings: Settings) -> bool:
    choice = Choice(candidate, 0.0, family.formats(settings.weight_format))
    try:
        _plan(family, rows, choice, settings)
    except BudgetError:
        return False
    return True


@dataclass
class _Trial:
    """Short trainings, each judged on rows it has not seen; none is run twice."""

    family: Family
    learn: TrainingRows
    held: TrainingRows
    settings: Settings
    n_steps: int
    log: list[dict[str, Any]] = field(default_factory=list)
    seen: list[tuple[Any, float]] = field(default_factory=list)

    def best(self, options: list[Choice]) -> Choice:
        """Return the best option, the first of equals."""
        if len(options) == 1:
            return options[0]
        scores = [self.score(option) for option in options]
        return options[int(np.argmax(scores))]

    def score(self, option: Choice) -> float:
        try:
            same = (option.scaling, option.noise, _plan(self.family, self.learn, option, self.settings))
            for known, score in self.seen:
                if known == same:
                    return score
            fitted = train_choice(self.family, self.learn, option, self.settings, self.n_steps)
        except BudgetError:  # a knob turned beyond what the budget holds
            return -math.inf
        score = held_out_score(fitted.program, self.held)
        self.seen.append((same, score))
        self.log.append({"input": option.scaling.describe(), "noise": option.noise, **option.knobs, "score": score})
        return score


def held_out_score(program: Program, rows: TrainingRows) -> float:
    """Return accuracy; of labels precision at 1, 3 and 5 averaged; of values R²."""
    answer = [program.run(dense_batch(rows.X, block)) for block in _blocks(rows)]
    prediction = np.concatenate([part.prediction for part in answer])
    if rows.task == "classification":
        return float(np.average(prediction == rows.y, weights=rows.weight))
    if rows.task == "multilabel":
        scores = np.concatenate([part.scores for part in answer])
        return float(np.mean([precision_at_k(rows.y, scores, k) for k in (1, 3, 5) if k <= rows.n_outputs]))
    return float(r2_score(rows.y, prediction, sample_weight=rows.weight)) if len(rows.y) > 1 else 0.0


def _blocks(rows: TrainingRows) -> list[slice]:
    step = max(1, SAMPLE_VALUES // rows.X.shape[1])
    return [slice(start, start + step) for start in range(0, len(rows.y), step)]


# One training.


def train_choice(
    family: Family,
    rows: TrainingRows,
    choice: Choice,
    settings: Settings,
    n_steps: int,
    feature_names: tuple[str, ...] | None = None,
) -> Fitted:
    """Train one plan to its end."""
    plan = _plan(family, rows, choice, settings)
    feed = feed_of(rows.X, rows.weight, choice.scaling, choice.noise, settings.batch_size, settings.seed)
    targets, values = training_targets(rows)
    model = family.start(_start(rows, choice, settings, plan, feed, family.default_rate))
    is_float = choice.scaling.output == "float32"
    recipe = Recipe(n_steps, settings.batch_size, whole_numbers=not is_float, seed=settings.seed)
    trained = train(model, feed, targets, rows.weight.astype(np.float32), LOSSES[settings.loss], recipe)
    columns = Columns(np.asarray(trained.columns), choice.scaling.width)
    steps, unit = family.steps(trained, columns, values)
    decide = _decide(rows, unit * values.deviation, is_float=is_float)
    names = () if rows.classes is None else tuple(rows.classes.tolist())
    program = Program((choice.scaling, *steps, decide), classes=names or None, feature_names=feature_names)
    if settings.budget is not None and program.cost().model_bytes > settings.budget:
        raise BudgetError(
            f"the model takes {program.cost().model_bytes:,} bytes, more than {counted(settings.budget, 'byte')}"
        )
    return Fitted(program, plan, choice, trained, unit, [])


def _plan(family: Family, rows: TrainingRows, choice: Choice, settings: Settings) -> Any:
    budget = DEFAULT_BUDGET if settings.budget is None else settings.budget
    sizes = {name: size for name, size in settings.sizes.items() if size is not None}
    return family.plan(budget, rows, choice.scaling, choice.formats, **choice.knobs, **sizes)


def _start(
    rows: TrainingRows, choice: Choice, settings: Settings, plan: Any, feed: Feed, default_rate: float
) -> Start:
    n_sample = int(np.clip(SAMPLE_VALUES // choice.scaling.width, LEAST_SAMPLE, MOST_SAMPLE))
    order = np.random.default_rng(settings.seed).permutation(len(rows.y))
    sample = rows.take(np.sort(order[:n_sample]))
    x = choice.scaling.run(dense_batch(sample.X, slice(None))).astype(np.float32, copy=False)
    spread = spread_of(feed.deviation)
    low, high = byte_range(choice.scaling)
    projection = Projection(feed.mean, spread, low, high, 128, 2**31 - 1)
    rate = default_rate if settings.learning_rate is None else settings.learning_rate
    return Start(plan, sample, x, projection, settings.budget, rate, settings.weight_decay, settings.seed)


def byte_range(scaling: Input) -> tuple[NDArray, NDArray]:
    """Return the least and the largest byte of each feature; zeros for real numbers, of which nothing is proved."""
    span = scaling.check(None).range
    if span is None:
        return np.zeros(scaling.width), np.zeros(scaling.width)
    return span.low.astype(np.float64), span.high.astype(np.float64)


def training_targets(rows: TrainingRows) -> tuple[NDArray, Values]:
    """Return what the scores shall come to, and by what values were standardised."""
    as_it_is = Values(np.zeros(1), np.ones(1))
    if rows.task == "multilabel":
        return rows.y.astype(np.float32), as_it_is
    if rows.task == "classification":
        yes_or_no = rows.y.astype(np.float32)[:, None]
        return (yes_or_no if rows.n_outputs == 2 else rows.y.astype(np.int64)), as_it_is
    centre = np.average(rows.y, axis=0, weights=rows.weight)
    deviation = np.sqrt(np.average((rows.y - centre) ** 2, axis=0, weights=rows.weight))
    deviation = np.where(deviation > 0, deviation, 1.0)
    return ((rows.y - centre) / deviation).astype(np.float32), Values(centre, deviation)


def n_scores(rows: TrainingRows) -> int:
    """Return how many scores a row has: one tells two classes apart."""
    return 1 if rows.task == "classification" and rows.n_outputs == 2 else rows.n_outputs


def start_outputs(rows: TrainingRows, n_outputs: int) -> NDArray[np.float32]:
    """The bias of the scores: the logarithm of the odds of each label, else nothing."""
    if rows.task != "multilabel":
        return np.zeros(n_outputs, np.float32)
    share = np.clip(np.average(rows.y, axis=0, weights=rows.weight), 1e-4, 1 - 1e-4)
    return np.log(share / (1 - share)).astype(np.float32)


def _decide(rows: TrainingRows, scale: NDArray, *, is_float: bool) -> Decide:
    if rows.task == "multilabel":
        return Decide("labels")
    if rows.task == "regression":
        return Decide("value", scale=None if is_float else scale.astype(np.float32))
    return Decide("threshold" if rows.n_outputs == 2 else "argmax")
