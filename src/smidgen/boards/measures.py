"""How good a board's answers are, in each task's own terms: the keys of DESIGN.md's table. Imports NumPy and Program.

The answers are the board's, not the interpreter's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from smidgen.errors import DataError
from smidgen.program import Program

Array = npt.NDArray[Any]


def measures(program: Program, scores: Array, y: Any) -> dict[str, float]:
    """Compare what scores lead to with what should have come out.

    Parameters
    ----------
    program : Program
        Whose scores these are.
    scores : ndarray
        A line a row.
    y : array-like
        Class names (words will do for numbers), an indicator matrix, or values.

    Returns
    -------
    dict
        Classification: accuracy, balanced_accuracy. Multi-label: micro_f1, p_at_1, p_at_3, p_at_5 as far as there are
        labels. Regression: r2 (where the values vary), mae.

    Raises
    ------
    DataError
        When y does not belong to these rows, or names no class of the Program.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> program = Program((Input("uint8", 1), Linear(Matrix.pack([[1]], "int4")), Decide("threshold")))
    >>> measures(program, np.array([[5], [-2], [3], [0]]), [0, 0, 1, 1])
    {'accuracy': 0.5, 'balanced_accuracy': 0.5}
    """
    y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if len(y) != len(scores):
        raise DataError(f"y has {len(y):,} entries for {len(scores):,} rows")
    answers = program.decide.run(np.asarray(scores))
    if program.task == "classification":
        return _of_classes(answers, _indices(program, y))
    wanted = y.reshape(len(y), -1)
    if wanted.shape[1] != program.n_outputs:
        raise DataError(f"y has {wanted.shape[1]:,} columns; the Program gives {program.n_outputs:,}")
    if program.task == "multilabel":
        return _of_labels(answers, np.asarray(scores), wanted > 0)
    return _of_values(answers, wanted.astype(np.float64))


def _indices(program: Program, y: Array) -> Array:
    """The index of each class name; -1 for one that the Program does not know."""
    if y.ndim != 1:
        raise DataError(f"y has shape {y.shape}; classes are one name a row")
    names: Sequence[Any] = program.classes or range(2 if program.decide.kind == "threshold" else program.n_outputs)
    known = {name: index for index, name in enumerate(names)}
    spelled = {_spelled(name): index for index, name in enumerate(names)}
    indices = np.array([known.get(name, spelled.get(_spelled(name), -1)) for name in y.tolist()], np.int64)
    if len(indices) and (indices < 0).all():
        raise DataError(
            f"none of the labels is a class of the model: {y.tolist()[0]!r} is none of {', '.join(spelled)}"
        )
    return indices


def _spelled(name: Any) -> str:
    """A class as a word, whether a file gave 3, 3.0 or "3"."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return str(name)


def _of_classes(answers: Array, wanted: Array) -> dict[str, float]:
    right = answers == wanted
    each = [float(right[wanted == index].mean()) for index in np.unique(wanted[wanted >= 0])]
    return {"accuracy": _mean(right), "balanced_accuracy": _mean(np.array(each))}


def _of_labels(answers: Array, scores: Array, wanted: Array) -> dict[str, float]:
    both = float((answers.astype(bool) & wanted).sum())
    total = float(answers.sum() + wanted.sum())
    found = {"micro_f1": 2 * both / total if total else 1.0}
    order = np.argsort(-scores, axis=1, kind="stable")
    for k in (1, 3, 5):
        if k <= scores.shape[1]:
            found[f"p_at_{k}"] = _mean(np.take_along_axis(wanted, order[:, :k], axis=1))
    return found


def _of_values(answers: Array, wanted: Array) -> dict[str, float]:
    found = {"mae": _mean(np.abs(answers - wanted))}
    spread = ((wanted - wanted.mean(axis=0)) ** 2).sum(axis=0) if len(wanted) else np.zeros(1)
    if (spread > 0).all():
        found["r2"] = _mean(1 - ((answers - wanted) ** 2).sum(axis=0) / spread)
    return found


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else 0.0
