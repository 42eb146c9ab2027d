"""What the estimators that the engine trains have in common: `fit`, `partial_fit`, and what they leave.

One mixin beside the bases of `base`. May import the files of models/ that know no algorithm.
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from smidgen.errors import DataError
from smidgen.models import plumbing
from smidgen.models.budget import parse_budget
from smidgen.models.fitting import Family, Fitted, Settings, train_further
from smidgen.models.rows import TrainingRows
from smidgen.models.sklearn_private import Interval, StrOptions
from smidgen.models.trial import fit_family
from smidgen.program import Program

INTEGERS = Interval(Integral, 1, None, closed="left")
CONSTRAINTS = {
    "budget": [INTEGERS, str, None],
    "weight_format": [StrOptions({"auto", "int4", "int8", "float32"}), dict],
    "n_steps": [INTEGERS, None],
    "batch_size": [INTEGERS],
    "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "noise": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "trial": ["boolean"],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "trusted_range": [tuple, list, None],
    "random_state": ["random_state"],
}
"""What the estimators that the engine trains take, for scikit-learn to check."""


def gives_probabilities(estimator: Any) -> bool:
    """Say whether the scores of a classifier are logarithms of probabilities; for `available_if`."""
    return estimator.loss == "cross_entropy" and getattr(estimator, "solver", "adam") == "adam"


class TrainedByEngine:
    """An estimator of a family that the engine trains; an estimator's own class lists its parameters."""

    plan_: Any
    trial_: list[dict[str, Any]]
    history_: list[dict[str, float]]
    noise_: float

    _family: Family
    _size_names: tuple[str, ...]  # parameters that fix a size by hand

    def _settings(self, rows: TrainingRows) -> Settings:  # noqa: ARG002  (sizes may come from the rows)
        """What the parameters come to, with a seed drawn from `random_state`."""
        given: Any = self
        return Settings(
            budget=parse_budget(given.budget),
            weight_format=given.weight_format,
            sizes={name: getattr(self, name) for name in self._size_names},
            loss=getattr(self, "loss", "squared"),
            n_steps=given.n_steps,
            batch_size=given.batch_size,
            learning_rate=given.learning_rate,
            weight_decay=given.weight_decay,
            noise=None if given.noise == "auto" else float(given.noise),
            trial=given.trial,
            validation_fraction=given.validation_fraction if given.early_stopping else None,
            trusted_range=given.trusted_range,
            seed=plumbing.seed_of(given.random_state),
        )

    def _train(self, rows: TrainingRows) -> Program:
        return self._leave(fit_family(self._family, rows, self._settings(rows)))

    def _train_further(self, rows: TrainingRows) -> Program:
        fitted = self._fitted
        if rows.X.dtype.kind == "f" and fitted.choice.scaling.raw != "float32":
            raise DataError(
                f"X holds fractions, but the model takes {fitted.choice.scaling.raw} numbers since its first rows: "
                "give whole numbers, or begin with rows that have fractions"
            )
        return self._leave(train_further(self._family, fitted, rows, self._settings(rows)))

    def _leave(self, fitted: Fitted) -> Program:
        self._fitted = fitted
        self.plan_, self.trial_, self.history_ = fitted.plan, fitted.trials, fitted.trained.history
        self.noise_ = fitted.choice.noise
        for name, matrix in self._family.matrices(fitted.trained).items():
            setattr(self, name, matrix)
        return replace(fitted.program, feature_names=plumbing.feature_names(self))
