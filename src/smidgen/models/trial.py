"""The short trial: what held-out training rows must decide before the training that counts.

One thing after another: the Input, the noise, then what the family names (widths, labels a prototype), at last the
number format. Each is decided by short trainings that see three quarters of the rows and are judged on the rest. May
import the files of models/ that know no algorithm.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from smidgen.errors import BudgetError, UsageError
from smidgen.models import scaling
from smidgen.models.fitting import (
    DEFAULT_BUDGET,
    Choice,
    Family,
    Fitted,
    Settings,
    closeness_of,
    plan_of,
    steps_for,
    train_choice,
)
from smidgen.models.rows import TrainingRows, set_aside
from smidgen.program import Input

NOISES = (0.01, 0.03, 0.1, 0.3, 0.55, 0.8)
FIRST_NOISE = 2  # where among them a trial begins
FEWER_STEPS = 5  # times fewer than the training that counts
LEAST_STEPS = 80
HELD_OUT, MOST_HELD_OUT = 0.25, 10_000
WIDE_FORMAT_FROM = 8 * 1024  # bytes from which int8 may be as good as int4


def fit_family(family: Family, rows: TrainingRows, settings: Settings) -> Fitted:
    """Choose by a trial, then train on all rows (but those by which it shall stop early)."""
    choice, trials = choose(family, rows, settings)
    held = None
    if settings.validation_fraction is not None:
        rows, held = set_aside(rows, settings.seed, settings.validation_fraction)
    fitted = train_choice(family, rows, choice, settings, n_steps=_n_steps(rows, settings), held=held)
    return replace(fitted, trials=trials)


def _n_steps(rows: TrainingRows, settings: Settings) -> int:
    return settings.n_steps or steps_for(len(rows.y))


def choose(family: Family, rows: TrainingRows, settings: Settings) -> tuple[Choice, list[dict[str, Any]]]:
    """Decide by held-out training rows whatever was not given by hand; the log has a row for each training."""
    inputs = _inputs(family, rows, settings)
    noise = NOISES[FIRST_NOISE] if settings.noise is None else settings.noise
    choice = Choice(inputs[0], noise, family.formats(settings.weight_format))
    plan_of(family, rows, choice, settings)  # refuses a budget that nothing can meet, before anything is trained
    if not settings.trial:
        return choice, []
    learn, held = set_aside(rows, settings.seed, min(HELD_OUT, MOST_HELD_OUT / len(rows.y)))
    n_steps = max(LEAST_STEPS, _n_steps(rows, settings) // FEWER_STEPS)
    trial = _Trial(family, learn, held, settings, n_steps)
    choice = trial.best([replace(choice, scaling=scaling) for scaling in inputs])
    if settings.noise is None:
        choice = trial.climb([replace(choice, noise=noise) for noise in NOISES], FIRST_NOISE)
    for knob, values in family.knobs(settings.sizes, rows).items():
        choice = trial.best([replace(choice, knobs={**choice.knobs, knob: value}) for value in values])
    if settings.weight_format == "auto" and (settings.budget or DEFAULT_BUDGET) >= WIDE_FORMAT_FROM:
        choice = trial.best([choice, replace(choice, formats=family.formats("int8"))])
    return choice, trial.log


def _inputs(family: Family, rows: TrainingRows, settings: Settings) -> list[Input]:
    """The Inputs that may suit the rows and leave room for a model, the cheapest first."""
    formats = set(family.formats(settings.weight_format).values())
    if "float32" not in formats:
        inputs = scaling.candidate_inputs(rows.X, rows.weight, settings.trusted_range)
        return [inputs[0], *(candidate for candidate in inputs[1:] if _can_plan(family, rows, candidate, settings))]
    if len(formats) > 1:
        raise UsageError("weight_format mixes float32 with integers: a Program computes in the one or in the other")
    if settings.trusted_range is not None:
        raise UsageError("trusted_range belongs to the integer formats: leave it out where the weights are float32")
    return scaling.candidate_float_inputs(rows.X, rows.weight)


def _can_plan(family: Family, rows: TrainingRows, candidate: Input, settings: Settings) -> bool:
    choice = Choice(candidate, 0.0, family.formats(settings.weight_format))
    try:
        plan_of(family, rows, choice, settings)
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

    def climb(self, options: list[Choice], first: int) -> Choice:
        """Go from one option up, or else down, as long as that does good."""
        place = first
        for way in (1, -1):
            while 0 <= place + way < len(options) and self.score(options[place + way]) > self.score(options[place]):
                place += way
            if place != first:
                break
        return options[place]

    def score(self, option: Choice) -> float:
        """Train briefly, and judge on the held-out rows; minus infinity where the budget cannot hold it."""
        try:
            same = (option.scaling, option.noise, plan_of(self.family, self.learn, option, self.settings))
            for known, score in self.seen:
                if known == same:
                    return score
            fitted = train_choice(self.family, self.learn, option, self.settings, n_steps=self.n_steps)
        except BudgetError:  # a knob turned beyond what the budget holds
            return -math.inf
        score = closeness_of(fitted, self.held, self.settings.loss)
        self.seen.append((same, score))
        self.log.append({"input": option.scaling.describe(), "noise": option.noise, **option.knobs, "score": score})
        return score
