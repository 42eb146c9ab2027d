"""Program: a short list of steps that was checked when it was made, and can run, count its cost, and say what it is.

A Program that exists is proved: shapes meet, and no result can leave its accumulator for any input in the declared
range. `run` is the definition of what every board computes. May import NumPy and this package.
"""

import html
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from smidgen.errors import DataError, ModelFileError, ProgramError
from smidgen.program import document, file
from smidgen.program.checks import Array, counted, require, shown
from smidgen.program.decide import LEAST_SCORE, NEAR_TIE, SCORE_TOLERANCE, TASKS, Decide
from smidgen.program.distance import Distance
from smidgen.program.group import GroupReduce
from smidgen.program.input import Input, unmasked
from smidgen.program.linear import Linear
from smidgen.program.signal import Signal

Step = Input | Linear | Distance | GroupReduce | Decide
STEPS: tuple[type[Step], ...] = (Input, Linear, Distance, GroupReduce, Decide)

Name = str | int | float | bool

BATCH_VALUES = 1 << 18
"""Rows are taken in batches of about so many values a step, which stay in the cache."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a Program says of some rows: its raw scores (int64, or float64), and the prediction they lead to."""

    scores: Array
    prediction: Array


@dataclass(frozen=True)
class StepCost:
    """The cost of one step: constants in flash, scratch memory for what it gives, multiply-accumulates."""

    name: str
    constants: dict[str, int]
    scratch_bytes: int
    multiply_accumulates: int

    @property
    def model_bytes(self) -> int:
        """Its constants, added up."""
        return sum(self.constants.values())


@dataclass(frozen=True)
class Cost:
    """The cost of a Program: constants in flash, RAM without the stack, multiply-accumulates, and each step's own."""

    model_bytes: int
    ram_bytes: int
    multiply_accumulates: int
    steps: tuple[StepCost, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """A short list of typed steps, from raw numbers to an answer.

    Parameters
    ----------
    steps
        Input first, Decide last.
    classes
        The names of classes, of labels or of outputs, if they have any.
    feature_names
        The names of the raw features, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from smidgen.program import Matrix
    >>> points = Matrix.pack([[-8, -8], [7, 7]], "int4")
    >>> program = Program(
    ...     (
    ...         Input("uint8", 2),
    ...         Distance(points, zero=128, shift=4),
    ...         GroupReduce(np.array([1, 1], np.uint8), "min"),
    ...         Decide("argmin"),
    ...     ),
    ...     classes=("dark", "bright"),
    ... )
    >>> program.predict([[10, 30], [200, 250]])
    array(['dark', 'bright'], dtype='<U6')
    >>> program.cost().model_bytes
    4
    """

    steps: tuple[Step, ...]
    classes: tuple[Name, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _listed(self.steps, "steps"))
        for name in ("classes", "feature_names"):
            if getattr(self, name) is not None:
                names = _listed(getattr(self, name), name.replace("_", " "))
                object.__setattr__(self, name, tuple(map(_plain, names)))
        self.check()

    # What it is.

    @property
    def input(self) -> Input:
        """The first step."""
        first = self.steps[0]
        assert isinstance(first, Input)
        return first

    @property
    def decide(self) -> Decide:
        """The last step."""
        last = self.steps[-1]
        assert isinstance(last, Decide)
        return last

    @property
    def n_features(self) -> int:
        """How many raw numbers a row has."""
        return self.input.n_features

    @property
    def n_outputs(self) -> int:
        """How many scores a row gets."""
        return self.signals[-1].width

    @property
    def arithmetic(self) -> str:
        """`integer` or `float32`."""
        return "integer" if self.input.output == "bytes" else "float32"

    @property
    def task(self) -> str:
        """`classification`, `multilabel` or `regression`."""
        return TASKS[self.decide.kind]

    # The proof.

    def check(self) -> None:
        """Raise `ProgramError` unless shapes meet and no result can leave its accumulator; done once, at the start."""
        require(len(self.steps) >= 3, "a Program needs an Input, a step that computes, and a Decide")
        for index, step in enumerate(self.steps):
            require(isinstance(step, STEPS), f"step {index} is a {type(step).__name__}, which is no step")
            require(isinstance(step, Input) == (index == 0), "a Program has one Input, its first step")
            require(
                isinstance(step, Decide) == (index == len(self.steps) - 1), "a Program has one Decide, its last step"
            )
        require(isinstance(self.steps[1], (Linear, Distance)), "a Program's second step is a Linear or a Distance")
        grouped = [index for index, step in enumerate(self.steps) if isinstance(step, GroupReduce)]
        require(grouped in ([], [len(self.steps) - 2]), "a Program has at most one GroupReduce, just before Decide")
        n_outputs = self.n_outputs  # this runs every step's own proof
        for index, (step, taker) in enumerate(pairwise(self.steps)):
            # of bytes the signals say so; among float32 values only the steps can
            require(
                _hands_on_sums(step) or not isinstance(taker, (GroupReduce, Decide)),
                f"step {index + 1}: {type(taker).__name__} takes plain sums or distances, and step {index} makes a "
                "relu or a Gaussian of them",
            )
        outputs = 2 if self.decide.kind == "threshold" else n_outputs
        _check_names(self.classes, outputs, "classes", (str, int, float, bool))
        _check_names(self.feature_names, self.n_features, "feature names", (str,))

    @cached_property
    def signals(self) -> tuple[Signal, ...]:
        """What each step hands on, with its proven bounds."""
        signals: list[Signal] = []
        for index, step in enumerate(self.steps):
            try:
                signals.append(step.check(signals[-1] if signals else None))
            except ProgramError as error:
                raise ProgramError(f"step {index}: {error}") from None
        return tuple(signals)

    # The meaning.

    def run(self, X: Any) -> Result:
        """Scores and predictions of rows of raw numbers (an array, or a sparse matrix, taken in batches)."""
        parts = list(self._batches(X)) or [np.zeros((0, self.n_outputs))]
        scores = np.concatenate(parts)
        prediction = self.decide.run(scores)
        return Result(scores.astype(np.int64 if self.arithmetic == "integer" else np.float64), prediction)

    def scores(self, X: Any) -> Array:
        """The scores alone: int64 of an integer Program, float64 of a float32 one."""
        return self.run(X).scores

    def predict(self, X: Any) -> Array:
        """The answers: class names (their index where they have none), indicator rows, or values."""
        prediction = self.run(X).prediction
        if self.task == "classification" and self.classes is not None:
            return np.asarray(self.classes)[prediction]
        return prediction[:, 0] if self.task == "regression" and prediction.shape[1] == 1 else prediction

    def trace(self, X: Any) -> list[Array]:
        """What each step gives for these rows: the way to look inside, or to find where a board differs."""
        table = self._as_table(X)
        values = _rows(table, 0, table.shape[0])
        seen = []
        for step in self.steps:
            values = step.run(values)
            seen.append(values)
        return seen

    def raw_rows(self, X: Any) -> Array:
        """The same rows in the sensor's own type, as a board gets them: rounded, clipped, missing values marked."""
        table = self._as_table(X)
        parts = [self.input.sensed(_rows(table, start, stop), start) for start, stop in self._spans(table.shape[0])]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_features), self.input.raw)

    def near_ties(self, X: Any) -> npt.NDArray[np.bool_]:
        """Rows whose answer float32 rounding may change: a score, or a sign, too close to its rival to tell."""
        return self._doubts(X)[0]

    def tolerances(self, X: Any) -> Array:
        """How far a board's scores may be off: 0 for integers, for float32 a share of the terms' magnitudes."""
        return self._doubts(X)[1]

    def _doubts(self, X: Any) -> tuple[npt.NDArray[np.bool_], Array]:
        """Which rows are near-ties, and the tolerance of each score."""
        table = self._as_table(X)
        near, tolerances = np.zeros(table.shape[0], bool), np.zeros((table.shape[0], self.n_outputs))
        if self.arithmetic == "float32":
            for start, stop in self._spans(table.shape[0]):
                near[start:stop], tolerances[start:stop] = self._float_doubts(_rows(table, start, stop))
        return near, tolerances

    def _float_doubts(self, values: Array) -> tuple[npt.NDArray[np.bool_], Array]:
        near, magnitudes = np.zeros(len(values), bool), np.zeros((len(values), 1))
        for step in self.steps[:-1]:
            if isinstance(step, Linear) and step.activation == "sign":
                near |= (np.abs(step.sums(values)) <= NEAR_TIE * step.magnitudes(values)).any(axis=1)
            if isinstance(step, (Linear, Distance)):
                magnitudes = step.magnitudes(values)
            elif isinstance(step, GroupReduce):
                magnitudes = step.magnitudes(magnitudes)
            values = step.run(values)
        if self.signals[-1].kind == "integers":  # Hamming counts are exact: only their signs can differ
            return near, np.zeros(values.shape)
        magnitudes = magnitudes + LEAST_SCORE
        return near | self.decide.near_ties(values, magnitudes), SCORE_TOLERANCE * magnitudes

    def _batches(self, X: Any) -> Iterator[Array]:
        """The scores of some rows after the other."""
        table = self._as_table(X)
        for start, stop in self._spans(table.shape[0]):
            values = self.input.run(_rows(table, start, stop), first_row=start)
            for step in self.steps[1:-1]:
                values = step.run(values)
            yield values

    def _spans(self, n_rows: int) -> Iterator[tuple[int, int]]:
        widest = max(self.n_features, *(signal.width for signal in self.signals))
        size = max(16, BATCH_VALUES // widest)
        return ((start, min(start + size, n_rows)) for start in range(0, n_rows, size))

    def _as_table(self, X: Any) -> Any:
        """An array of two dimensions, as wide as the Program; sparse matrices become CSR, which has rows to take."""
        self._check_columns(X)
        try:
            table = X.tocsr() if hasattr(X, "tocsr") else unmasked(X)
        except ValueError as error:
            raise DataError(f"X is no table of numbers: {error}") from None
        if len(table.shape) != 2 or table.shape[1] != self.n_features:
            raise DataError(f"X has shape {tuple(table.shape)}; the Program takes rows of {self.n_features:,} numbers")
        return table

    def _check_columns(self, X: Any) -> None:
        """Refuse a data frame whose columns have other names, or the same in another order."""
        columns = list(getattr(X, "columns", ()))
        if self.feature_names is None or len(columns) != self.n_features:
            return
        for index, (found, wanted) in enumerate(zip(columns, self.feature_names, strict=True)):
            if isinstance(found, str) and found != wanted:
                raise DataError(
                    f"column {index} of X is {shown(found)} where the Program takes {shown(wanted)};"
                    " give the columns that it was made for, in their order"
                )

    # The cost.

    def cost(self) -> Cost:
        """Bytes of flash for constants, bytes of RAM without the stack, multiply-accumulates; per step and in all.

        An array is a constant; a single number stands in the code, which the linker counts. RAM is the raw input and
        the largest, over the steps, of what a step reads from scratch memory and what it writes there.
        """
        steps, held, most = [], 0, 0
        for index, (step, signal) in enumerate(zip(self.steps, self.signals, strict=True)):
            given = self._scratch_bytes(index, step, signal)
            most, held = max(most, held + given), given
            constants = {name: array.nbytes for name, array in step.constants().items()}
            steps.append(StepCost(type(step).__name__, constants, given, step.multiply_accumulates()))
        raw_bytes = self.n_features * np.dtype(self.input.raw).itemsize
        return Cost(
            model_bytes=sum(step.model_bytes for step in steps),
            ram_bytes=raw_bytes + most,
            multiply_accumulates=sum(step.multiply_accumulates for step in steps),
            steps=tuple(steps),
        )

    def _scratch_bytes(self, index: int, step: Step, signal: Signal) -> int:
        if isinstance(step, Input):
            return signal.stored_bytes if step.copies else 0
        stored = index + 1 < len(self.steps) and isinstance(self.steps[index + 1], (Linear, Distance))
        return signal.stored_bytes if stored else 0

    def __repr__(self) -> str:
        steps = " → ".join(type(step).__name__ for step in self.steps)
        return f"Program({steps}, {self.arithmetic}, {counted(self.cost().model_bytes, 'byte')} of constants)"

    def describe(self) -> str:
        """The Program, read aloud: a line a step, and what it costs."""
        cost = self.cost()
        lines = [
            f"{index}  {type(step).__name__:<11}  {step.describe()} → {signal.describe()}"
            for index, (step, signal) in enumerate(zip(self.steps, self.signals, strict=True))
        ]
        total = (
            f"{self.arithmetic} Program, {counted(cost.model_bytes, 'byte')} of constants,"
            f" {counted(cost.ram_bytes, 'byte')} of RAM and the stack,"
            f" {counted(cost.multiply_accumulates, 'multiply-accumulate')}"
        )
        return "\n".join([*lines, total])

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        cost = self.cost()
        cells = "".join(
            f"<tr><td>{counted.name}</td><td style='text-align:left'>{html.escape(step.describe())}</td>"
            f"<td>{counted.model_bytes:,}</td><td>{counted.scratch_bytes:,}</td>"
            f"<td>{counted.multiply_accumulates:,}</td></tr>"
            for step, counted in zip(self.steps, cost.steps, strict=True)
        )
        head = "".join(f"<th>{name}</th>" for name in ("step", "", "flash", "scratch", "multiply-accumulates"))
        foot = (
            f"<th>{self.arithmetic}</th><th></th><th>{cost.model_bytes:,}</th><th>{cost.ram_bytes:,} with input</th>"
            f"<th>{cost.multiply_accumulates:,}</th>"
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody><tfoot><tr>{foot}</tr></tfoot></table>"

    # The file.

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON and the little-endian arrays: equal for equal Programs, whatever the zip."""
        return document.digest(self._document())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.smg` file, whole or not at all."""
        file.write(path, self._document())

    def _document(self) -> document.Document:
        return document.from_steps(self.steps, classes=self.classes, feature_names=self.feature_names)

    @classmethod
    def _from_document(cls, content: document.Document) -> Self:
        return cls(document.to_steps(content, STEPS), **content.names)


def load_program(path: str | os.PathLike[str]) -> Program:
    """Read a `.smg` file that may come from anywhere; anything wrong with it is a `ModelFileError`.

    Nothing in a file is ever executed, and no more memory is taken than its size justifies.
    """
    content = file.read(path)
    try:
        return Program._from_document(content)
    except ProgramError as error:
        raise ModelFileError(f"{os.fspath(path)} holds no sound Program: {error}") from None


def _listed(items: Any, what: str) -> tuple[Any, ...]:
    """A tuple of what must be several things: not a lone step, nor a word, whose letters would be taken one by one."""
    listed = isinstance(items, Iterable) and not isinstance(items, (str, bytes))
    require(listed, f"a Program's {what} are {shown(items)}; they must be a list")
    return tuple(items)


def _plain(name: Any) -> Any:
    """A name as a file can hold it: NumPy's words and numbers as Python's, but for its dates, which are neither."""
    return name.item() if isinstance(name, (np.str_, np.bool_, np.integer, np.floating)) else name


def _hands_on_sums(step: Step) -> bool:
    """Whether a float32 step gives what GroupReduce and Decide take, as an integer one must."""
    if isinstance(step, Linear):
        return step.activation != "relu"
    return not isinstance(step, Distance) or step.kernel is None


def _check_names(names: tuple[Name, ...] | None, n: int, what: str, types: tuple[type, ...]) -> None:
    if names is None:
        return
    require(len(names) == n, f"there are {len(names):,} {what} where {n:,} are needed")
    for name in names:
        require(
            type(name) in types, f"{shown(name)} among the {what} is a {type(name).__name__}, which no file can hold"
        )
        require(_fits_in_a_file(name), f"{shown(name)} among the {what} is no number or text that every file can hold")
    require(len({type(name) for name in names}) == 1, f"the {what} are of different types; make all of them words")
    require(len(set(names)) == n, f"two of the {what} are the same")


def _fits_in_a_file(name: Name) -> bool:
    """Finite numbers, integers of 64 bits, and text without half characters or a final NUL, which NumPy would drop."""
    if isinstance(name, float):
        return math.isfinite(name)
    if isinstance(name, str):
        return not name.endswith("\0") and not any("\ud800" <= letter <= "\udfff" for letter in name)
    return -(2**63) <= name < 2**63


def _rows(table: Any, start: int, stop: int) -> Array:
    """Some rows as a dense array."""
    rows = table[start:stop]
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
