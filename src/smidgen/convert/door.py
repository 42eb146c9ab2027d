"""The one public door from estimators to Programs.

May import `smidgen.models` and `smidgen.program`. An estimator of smidgen builds its own Program when it is fitted, so
there is nothing to convert; what has no Program of its own is refused by name.
"""

from typing import Any

from smidgen.errors import UsageError
from smidgen.models.base import ProgramClassifier, ProgramRegressor
from smidgen.program import Program


def to_program(model: Any, calibration: Any = None) -> Program:
    """Return the Program of a fitted estimator: integers, raw sensor units in, the answer out.

    Parameters
    ----------
    model : estimator
        A fitted estimator of smidgen. One with `weight_format="float32"` gives its float32 Program.
    calibration : array-like, optional
        Rows to quantise a float32 model with. A model fitted in an integer format needs none, and ignores them.

    Returns
    -------
    program : Program
        Its answers are those of `model.predict`, row for row.

    Examples
    --------
    >>> from smidgen import PrototypeClassifier, to_program
    >>> model = PrototypeClassifier(random_state=0).fit([[0, 1], [1, 0], [200, 180], [210, 190]], [0, 0, 1, 1])
    >>> to_program(model).predict([[10, 20], [250, 240]])
    array([0, 1])
    """
    name = type(model).__name__
    if not isinstance(model, (ProgramClassifier, ProgramRegressor)):
        raise UsageError(f"{name} cannot become a Program yet: give to_program a fitted estimator of smidgen itself")
    if not hasattr(model, "program_"):
        raise UsageError(f"this {name} is not fitted yet: call fit before to_program")
    if calibration is not None and model.program_.arithmetic == "float32":
        raise UsageError(
            f"this {name} was fitted in float32, which cannot be quantised yet: leave calibration out for its float32 "
            'Program, or fit with weight_format="auto"'
        )
    return model.program_
