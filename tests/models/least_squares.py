"""The least an estimator can be on the shared bases: a ridge regression on ±1, or on the values, as a float32 Program.

It holds the common tests while they stand alone, and shows what an estimator's file has to do.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from smidgen.core.threads import one_thread
from smidgen.errors import BudgetError
from smidgen.models import plumbing, scaling
from smidgen.models.base import ProgramClassifier, ProgramRegressor
from smidgen.models.budget import parse_budget
from smidgen.models.rows import TrainingRows, dense_batch, merge_repeated
from smidgen.models.sklearn_private import fit_context
from smidgen.program import Decide, Input, Linear, Matrix, Program

BATCH = 64


class _Parameters(BaseEstimator):
    _parameter_constraints = {"budget": [int, str, None], "random_state": ["random_state"]}  # noqa: RUF012

    def __init__(self, *, budget: int | str | None = None, random_state: Any = None) -> None:
        self.budget = budget
        self.random_state = random_state


class LeastSquaresClassifier(_Parameters, ProgramClassifier):
    _takes_indicator = True

    @fit_context(prefer_skip_nested_validation=True)
    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        plumbing.seed_of(self.random_state)
        rows = merge_repeated(plumbing.training_rows(self, X, y, sample_weight, multilabel=True, keep_sparse=True))
        if rows.task == "multilabel":
            decide, target = Decide("labels"), 2.0 * rows.y - 1
        elif rows.n_outputs == 2:
            decide, target = Decide("threshold"), 2.0 * rows.y[:, None] - 1
        else:
            decide, target = Decide("argmax"), 2.0 * np.eye(rows.n_outputs)[rows.y] - 1
        names = None if rows.task == "multilabel" else tuple(rows.classes.tolist())
        self._keep(program_of(self, rows, target, decide, names), rows)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._probabilities(X, temperature=2.0)


class LeastSquaresRegressor(_Parameters, ProgramRegressor):
    @fit_context(prefer_skip_nested_validation=True)
    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        plumbing.seed_of(self.random_state)
        rows = merge_repeated(plumbing.regression_rows(self, X, y, sample_weight, keep_sparse=True))
        self._keep(program_of(self, rows, rows.y, Decide("value")), rows)
        return self


def program_of(estimator: Any, rows: TrainingRows, target: np.ndarray, decide: Decide, classes: Any = None) -> Program:
    first = scaling.candidate_float_inputs(rows.X, rows.weight)[-1]
    weights, bias = ridge(rows, first, target)
    linear = Linear(Matrix.pack(weights, "float32", "dense"), bias if bias.any() else None)
    program = Program((first, linear, decide), classes, plumbing.feature_names(estimator))
    budget, takes = parse_budget(estimator.budget), program.cost().model_bytes
    if budget is not None and takes > budget:
        raise BudgetError(f"the weights do not fit into {budget} bytes: they take {takes}")
    return program


def ridge(rows: TrainingRows, first: Input, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted normal equations, gathered a batch at a time."""
    n_features, total = rows.X.shape[1], rows.weight.sum()
    mean, centre = np.zeros(n_features), rows.weight @ target / total
    gram, moment = np.zeros((n_features, n_features)), np.zeros((n_features, target.shape[1]))
    for start in range(0, len(target), BATCH):
        batch = slice(start, start + BATCH)
        values, weight = first.run(dense_batch(rows.X, batch)), rows.weight[batch, None]
        mean += (weight * values).sum(axis=0) / total
        gram += values.T @ (weight * values)
        moment += values.T @ (weight * (target[batch] - centre))
    gram += 1e-6 * total * np.eye(n_features) - total * np.outer(mean, mean)
    weights = np.linalg.solve(gram, moment).T
    return weights.astype(np.float32), (centre - weights @ mean).astype(np.float32)
