"""Decide: scores → the answer. The last step of every Program.

    argmax, argmin   the class, ties to the lowest index
    threshold        class 1 where the single score is above 0, else class 0
    labels, best     the labels above 0, or the k best ones: one byte a label, 0 or 1
    value            score * scale: values in the target's units

May import NumPy and this package.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smidgen.program import arith
from smidgen.program.checks import Array, choice, require, vector, whole
from smidgen.program.signal import MAX_DIMENSION, Signal, received

TASKS = {
    "argmax": "classification",
    "argmin": "classification",
    "threshold": "classification",
    "labels": "multilabel",
    "best": "multilabel",
    "value": "regression",
}

NEAR_TIE = 1e-5
"""Two float32 scores closer than this share of the row's sum of the terms' magnitudes may swap on a board."""

SCORE_TOLERANCE = 1e-4
"""A board's float32 score may differ by this share of its terms' magnitudes: ten times what makes a near-tie, since a
Gaussian multiplies the rounding of its distance by its exponent, which reaches 87."""

LEAST_SCORE = 1e-25
"""Added to those magnitudes: Gaussians of far points vanish in float32, and the scores made of them are near-ties."""


@dataclass(frozen=True, eq=False)
class Decide:
    """What the scores mean.

    Parameters
    ----------
    kind
        `argmax`, `argmin`, `threshold`, `labels`, `best` or `value`.
    k
        How many labels `best` turns on.
    scale
        The unit of each output of `value`, a float32 array, in an integer Program.

    Examples
    --------
    >>> import numpy as np
    >>> Decide("best", k=2).run(np.array([[5.0, 9.0, 5.0]]))
    array([[1, 1, 0]], dtype=uint8)
    """

    kind: str
    k: int | None = None
    scale: Array | None = None

    def __post_init__(self) -> None:
        choice(self.kind, tuple(TASKS), "Decide's kind")
        if self.kind == "best":
            object.__setattr__(self, "k", whole(self.k, 1, MAX_DIMENSION, "the number of best labels"))
        else:
            require(self.k is None, f"Decide's {self.kind} takes no k")
        if self.scale is not None:
            require(self.kind == "value", f"Decide's {self.kind} takes no scale")
            object.__setattr__(self, "scale", vector(self.scale, ("float32",), "Decide's scale"))

    def check(self, incoming: Signal | None) -> Signal:
        """Check that the number of scores fits the kind of answer, and that C's int32 holds each one."""
        incoming = received(incoming, ("integers", "float32"), "Decide")
        if incoming.range is not None:
            incoming.range.bits("a score")
        if self.kind == "threshold":
            require(incoming.width == 1, f"Decide's threshold takes a single score, not {incoming.width:,}")
        if self.kind in ("argmax", "argmin"):
            require(incoming.width >= 2, f"Decide's {self.kind} needs two scores or more, not {incoming.width}")
        if self.k is not None:
            require(self.k <= incoming.width, f"Decide takes the {self.k} best of only {incoming.width:,} labels")
        if self.kind == "value":
            integer = incoming.kind == "integers"
            require(
                integer == (self.scale is not None), "Decide's value has a scale for integers, and none for float32"
            )
        if self.scale is not None:
            require(
                len(self.scale) == incoming.width,
                f"Decide's scale has {len(self.scale):,} entries for {incoming.width:,} outputs",
            )
            self._check_values_are_finite(self.scale, incoming)
        return incoming

    @staticmethod
    def _check_values_are_finite(scale: Array, incoming: Signal) -> None:
        assert incoming.range is not None
        most = np.maximum(np.abs(incoming.range.low), np.abs(incoming.range.high)) * np.abs(scale.astype(np.float64))
        require(bool((most < 2.0**127).all()), f"a value can reach {most.max():g}, too close to what float32 can hold")

    def run(self, scores: Array) -> Array:
        """Scores → a class index a row, an indicator row, or values (float64)."""
        if self.kind == "argmax":
            return np.argmax(scores, axis=1)
        if self.kind == "argmin":
            return np.argmin(scores, axis=1)
        if self.kind == "threshold":
            return (scores[:, 0] > 0).astype(np.int64)
        if self.kind == "labels":
            return (scores > 0).astype(np.uint8)
        if self.k is not None:
            return arith.best_labels(np, scores, self.k).astype(np.uint8)
        if self.scale is None:
            return scores.astype(np.float64)
        # C computes (float)acc * scale: each rounded to float32 once
        return (scores.astype(np.float32) * self.scale).astype(np.float64)

    def near_ties(self, scores: Array, magnitudes: Array) -> npt.NDArray[np.bool_]:
        """Rows in which float32 rounding may change the answer: a rival within 1e-5 of the terms' magnitudes."""
        if self.kind == "value":
            return np.zeros(len(scores), bool)
        if self.kind in ("threshold", "labels"):
            return np.asarray((np.abs(scores) <= NEAR_TIE * magnitudes).any(axis=1))
        rising = np.sort(scores if self.kind == "argmin" else -scores, axis=1)
        k = self.k or 1
        if k == scores.shape[1]:
            return np.zeros(len(scores), bool)
        near: npt.NDArray[np.bool_] = rising[:, k] - rising[:, k - 1] <= NEAR_TIE * magnitudes.max(axis=1)
        return near

    def constants(self) -> dict[str, Array]:
        """The outputs' units, where there are any."""
        return {} if self.scale is None else {"scale": self.scale}

    def multiply_accumulates(self) -> int:
        """None."""
        return 0

    def describe(self) -> str:
        """One line: the rule."""
        words = {
            "argmax": "the class with the largest score",
            "argmin": "the class with the least score",
            "threshold": "class 1 where the score is above 0",
            "labels": "the labels above 0",
            "best": f"the {self.k} best labels",
            "value": "values in the target's units",
        }
        return words[self.kind]
