"""The one public door from estimators to Programs.

May import core, `smidgen.models` and `smidgen.program`. An estimator of smidgen that was fitted in an integer format
built its own Program then; everything else becomes a float32 Program here, and an integer one by calibration rows.
"""

import logging
from typing import Any

import numpy as np

from smidgen.convert.merge import merged_steps
from smidgen.convert.pipeline import Before, take_apart
from smidgen.convert.sklearn_models import steps_of
from smidgen.core.threads import one_thread
from smidgen.errors import AgreementError, UsageError
from smidgen.models.base import ProgramClassifier, ProgramRegressor
from smidgen.models.plumbing import feature_names
from smidgen.program import Program
from smidgen.program.checks import counted
from smidgen.program.quantise import TOLERANCE, agreeing, quantise
from smidgen.program.storage import Format

_log = logging.getLogger(__name__)


@one_thread()
def to_program(
    model: Any,
    calibration: Any = None,
    *,
    weight_format: Format = "int8",
    raw: str | None = None,
    held_out: Any = None,
    tolerance: float = TOLERANCE,
) -> Program:
    """Return the Program of a fitted estimator: integers, raw sensor units in, label out.

    Parameters
    ----------
    model : estimator
        A fitted estimator of smidgen; or scikit-learn's LogisticRegression, LinearSVC, NearestCentroid,
        KNeighborsClassifier (one neighbour) or MLPClassifier (one hidden layer, relu); or a Pipeline of scalers,
        SelectKBest, SimpleImputer, PCA or TruncatedSVD that ends in one of these.
    calibration : array-like, optional
        Raw rows, such as training rows, to quantise a float32 model with; without them its Program is a float32 one. A
        model that was fitted in an integer format needs none.
    weight_format : {"int8", "int4"}
        What weights and points are quantised to.
    raw : {"uint8", "int8", "int16", "float32"}, optional
        What the sensors give; by default the narrowest type that holds the calibration rows.
    held_out : array-like, optional
        Rows on which the integer Program must agree with the float32 one; by default a quarter of the calibration
        rows, which then have no other part.
    tolerance : float
        The share of those rows that may get another answer.

    Returns
    -------
    program : Program
        Fitted in integers, an estimator without a Pipeline is its Program, row for row. In float32, answers are those
        of `model.predict`, but for the near-ties of `Program.near_ties`. Quantised, they agree within the tolerance,
        and how well is logged; `quantise` returns it with the Program.

    Examples
    --------
    >>> from smidgen import PrototypeClassifier, to_program
    >>> model = PrototypeClassifier(random_state=0).fit([[0, 1], [1, 0], [200, 180], [210, 190]], [0, 0, 1, 1])
    >>> to_program(model).predict([[10, 20], [250, 240]])
    array([0, 1])

    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_digits(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:800], y[:800])
    >>> to_program(pipeline, calibration=X[:800])
    Program(Input → Linear → Decide, integer, ... bytes of constants)
    """
    before, estimator = take_apart(model)
    own = isinstance(estimator, (ProgramClassifier, ProgramRegressor))
    program = _own_program(before, estimator, model, raw) if own else _float_program(before, estimator, model)
    if calibration is None:
        if held_out is not None or (raw is not None and raw != program.input.raw):
            raise UsageError("raw and held_out say how to quantise: give calibration rows as well, or leave them out")
        return program
    if program.arithmetic == "float32":
        raw = raw or (program.input.raw if own and before.does_nothing else None)
        options: dict[str, Any] = {"weight_format": weight_format, "held_out": held_out, "tolerance": tolerance}
        return quantise(program, calibration, raw=raw, **options).program
    if not before.does_nothing:
        _require_agreement(program, model, calibration if held_out is None else held_out, tolerance)
    return program


def _float_program(before: Before, estimator: Any, model: Any) -> Program:
    steps = (*before.steps(), *steps_of(estimator, before))
    return Program(steps, classes=tuple(np.asarray(estimator.classes_).tolist()), feature_names=feature_names(model))


def _own_program(
    before: Before, estimator: ProgramClassifier | ProgramRegressor, model: Any, raw: str | None
) -> Program:
    if before.does_nothing:
        return estimator.program_
    steps = tuple(merged_steps(before, estimator.program_, raw))
    return Program(steps, classes=estimator.program_.classes, feature_names=feature_names(model))


def _require_agreement(program: Program, model: Any, rows: Any, tolerance: float) -> None:
    """What a scaler merged behind an integer estimator's back costs: training saw nothing of its rounding."""
    wanted = model.predict(rows)
    share, n_rows = agreeing(program.task, wanted, program.predict(rows)), len(wanted)
    if 1 - share > tolerance + 1e-12:
        raise AgreementError(
            f"with the Pipeline merged into its Input, the Program agrees with the model on {100 * share:.2f} % of "
            f"{counted(n_rows, 'row')}, less than the {100 * (1 - tolerance):.2f} % asked for: fit the estimator on "
            "raw rows, which need no scaler, or raise the tolerance"
        )
    _log.info("the merged Program agrees with the model on %.2f %% of %d rows", 100 * share, n_rows)
