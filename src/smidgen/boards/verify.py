"""Verify: a Program compiled for a board, measured, run on every row, and compared with the reference interpreter.

`verify` makes the certificate of one Program. `verify_many` compares dozens of Programs in one firmware, for tests that
look for differences. Both work in a temporary folder, within a time. Imports the rest of boards/, emit and program.
"""

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import smidgen
from smidgen.boards import firmware
from smidgen.boards.board import Board, load_board
from smidgen.boards.certificate import Certificate
from smidgen.boards.compile import Toolchain, find_toolchain
from smidgen.boards.elf import Elf, read_elf
from smidgen.boards.firmware import Model
from smidgen.boards.measures import measures
from smidgen.boards.simulate import Call, Outcome, simulate
from smidgen.emit import c_files
from smidgen.errors import BudgetError, DataError, ToolError
from smidgen.program import Program

Array = npt.NDArray[Any]

LARGEST_FIRMWARE, LARGEST_CODE = 80_000, 2_500
"""Bytes that `verify_many` puts into one firmware, and what it takes for the code of a model: AVR's jumps and addresses
reach that far."""


@dataclass(frozen=True)
class Comparison:
    """How a board's scores and answers for some rows compare with the interpreter's.

    Attributes
    ----------
    rows, mismatches, near_ties : int
        Rows given; rows that disagree; rows of a float32 Program that rounding may change.
    worst_score_difference : float
        The largest difference between two scores.
    first_mismatch : int or None
        The first row that disagrees.
    """

    rows: int
    mismatches: int
    near_ties: int
    worst_score_difference: float
    first_mismatch: int | None


def verify(
    program: Program,
    X: Any,
    y: Any = None,
    *,
    board: str | Board = "uno",
    name: str = "model",
    compiler: str | None = None,
    sanitize: bool = False,
    flags: Sequence[str] = (),
    seconds: float = 300.0,
) -> Certificate:
    """Compile a Program for a board, measure it, run every row on the simulated board, and compare.

    Parameters
    ----------
    program : Program
        What `to_program` or `load_program` gives.
    X : array, data frame or sparse matrix
        Rows of raw numbers, at least one.
    y : array-like, optional
        What should come out, for the accuracy of the board's answers.
    board : str or Board
        A name that `smidgen boards` lists, a board file, or a Board.
    name : str
        The prefix in the C.
    compiler : str, optional
        One of the board's compilers by name; else the first that is here.
    sanitize : bool
        With AddressSanitizer and UBSan, which make any undefined behaviour an error; for the host alone.
    flags : sequence of str
        Compiler flags to add.
    seconds : float
        For all of it; what takes longer is killed.

    Returns
    -------
    Certificate

    Raises
    ------
    BudgetError
        When the model is too big for the board.
    ToolError
        When a compiler or a simulator is missing or fails, or the firmware crashes or does not end.
    DataError, UsageError
        When the rows do not suit the Program, or there is no such board.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> weights = Matrix.pack([[1, -2], [0, 3]], "int4")
    >>> program = Program((Input("uint8", 2), Linear(weights), Decide("argmax")), classes=("dark", "bright"))
    >>> verify(program, [[9, 1], [1, 9]], ["dark", "bright"], board="host").mismatches
    0
    """
    chosen = board if isinstance(board, Board) else load_board(board)
    model = Model(name, program)
    rows = _raw_rows(program, X)
    if not len(rows):
        raise DataError("there are no rows to verify with; give at least one")
    _refuse_what_cannot_fit(chosen, model)
    toolchain = find_toolchain(chosen, compiler, sanitize=sanitize, extra=flags)
    with tempfile.TemporaryDirectory(prefix="smidgen-") as folder:
        workshop = _Workshop(toolchain, Path(folder), time.monotonic() + seconds)
        built = workshop.build(model)
        measured = workshop.measure(built, rows)
        scores, answers = workshop.compare([model], [rows], built.objects)[0]
    if measured.answers is not None:
        answers = measured.answers
    compared = _compare(program, X, scores, answers)
    return _certificate(toolchain, model, measured, compared, {} if y is None else measures(program, scores, y))


def verify_many(
    programs: Sequence[Program],
    X: Sequence[Any],
    *,
    board: str | Board = "uno",
    compiler: str | None = None,
    sanitize: bool = False,
    flags: Sequence[str] = (),
    seconds: float = 600.0,
) -> list[Comparison]:
    """Compare many Programs with the interpreter, dozens to a firmware, each on its own rows; nothing is measured.

    The firmware may be larger than the board's memory, which the simulator stretches; the processor is the board's.

    Parameters
    ----------
    programs : sequence of Program
    X : sequence
        The rows of each.
    board, compiler, sanitize, flags, seconds
        As for `verify`.

    Returns
    -------
    list of Comparison
    """
    chosen = board if isinstance(board, Board) else load_board(board)
    toolchain = find_toolchain(chosen, compiler, sanitize=sanitize, extra=flags)
    models = [Model(f"m{index}", program) for index, program in enumerate(programs)]
    rows = [_raw_rows(program, table) for program, table in zip(programs, X, strict=True)]
    end = time.monotonic() + seconds
    results: list[Comparison] = []
    for part in _parts(models):
        with tempfile.TemporaryDirectory(prefix="smidgen-") as folder:
            outcomes = _Workshop(toolchain, Path(folder), end).compare(models[part], rows[part])
        for program, table, (scores, answers) in zip(programs[part], X[part], outcomes, strict=True):
            results.append(_compare(program, table, scores, answers))
    return results


def _parts(models: Sequence[Model]) -> Iterable[slice]:
    """Cut a list of models into firmwares, each small enough."""
    start, total = 0, 0
    for index, model in enumerate(models):
        size = model.program.cost().model_bytes + LARGEST_CODE
        if index > start and total + size > LARGEST_FIRMWARE:
            yield slice(start, index)
            start, total = index, 0
        total += size
    if start < len(models):
        yield slice(start, len(models))


def _raw_rows(program: Program, X: Any) -> npt.NDArray[np.uint8]:
    """Rows as a board's memory holds them, little-endian."""
    raw = program.raw_rows(X)
    raw = np.ascontiguousarray(raw, raw.dtype.newbyteorder("<"))
    return raw.view(np.uint8).reshape(len(raw), program.n_features * raw.itemsize)


# What cannot fit.


def _refuse_what_cannot_fit(board: Board, model: Model) -> None:
    """Say so before anything is compiled where the constants alone are too many, or the row."""
    cost = model.program.cost()
    _require_room(board, "flash", cost.model_bytes, board.flash_bytes, "bytes of constants alone")
    _require_room(board, "RAM", cost.ram_bytes, board.ram_bytes, "bytes even without a stack")


def _require_room(board: Board, memory: str, needed: int, there: int | None, what: str) -> None:
    if there is not None and needed > there:
        raise BudgetError(
            f"the model is too big for {board.name}: it takes {needed:,} {what} of {memory}, and {board.name} has "
            f"{there:,} bytes"
        )


# Building and running.


@dataclass(frozen=True, eq=False)
class _Built:
    """A model's objects, and the firmware that is measured."""

    model: Model
    objects: tuple[Path, ...]
    image: Path
    constant_bytes: int | None
    flash_bytes: int | None
    elf: Elf | None
    empty: Elf | None


@dataclass(frozen=True, eq=False)
class _Measured:
    """What the measured firmware took, and what it answered; None where that cannot be."""

    constant_bytes: int | None
    flash_bytes: int | None
    ram_bytes: int | None = None
    stack_bytes: int | None = None
    counts: Array | None = None
    answers: Array | None = None


@dataclass(frozen=True)
class _Workshop:
    """A compiler, a folder to work in, and the moment by which all must be done."""

    toolchain: Toolchain
    folder: Path
    end: float

    @property
    def board(self) -> Board:
        return self.toolchain.board

    def left(self) -> float:
        """Seconds that are left."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise ToolError(f"verifying on {self.board.name} took too long; give it more seconds, or fewer rows")
        return left

    def write(self, files: Mapping[str, str]) -> list[Path]:
        """Put files into the folder; gives those to compile: C, and on AVR assembly."""
        for file, text in files.items():
            (self.folder / file).write_text(text, encoding="utf-8")
        sources = [self.folder / file for file in files if file.endswith((".c", ".S"))]
        return [source for source in sources if source.suffix == ".c" or self.board.family == "avr"]

    def compiled(self, files: Mapping[str, str]) -> list[Path]:
        """Write and compile files."""
        return [self.toolchain.compile(source, self.left()) for source in self.write(files)]

    def linked(self, objects: Iterable[Path], name: str) -> Path:
        """Link a firmware."""
        return self.toolchain.link(objects, self.folder / name, self.left())

    def build(self, model: Model) -> _Built:
        """Compile the model, and link it into the firmware that is measured and out of the empty one."""
        objects = tuple(self.compiled(c_files(model.program, model.name)))
        full = self.linked([*self.compiled({"measured.c": firmware.measured(model)}), *objects], "measured.elf")
        bare = self.linked(self.compiled({"empty.c": firmware.empty(model)}), "empty.elf")
        if not _is_elf(full):
            return _Built(model, objects, full, None, None, None, None)
        elf, empty = read_elf(full), read_elf(bare)
        constants = sum(_constants(read_elf(path), model.name) for path in objects)
        _require_room(self.board, "flash", elf.flash_bytes, self.board.flash_bytes, "bytes with an empty firmware")
        return _Built(model, objects, full, constants, elf.flash_bytes - empty.flash_bytes, elf, empty)

    def measure(self, built: _Built, rows: npt.NDArray[np.uint8]) -> _Measured:
        """Run the measured firmware: first one row in more memory than there is, to see what it needs, then all."""
        flash = None if self.toolchain.sanitize else built.flash_bytes
        if self.board.family == "host" or built.elf is None or built.empty is None:
            return _Measured(built.constant_bytes, flash)
        model = built.model
        call = Call(firmware.TURN, rows, model.answer_bytes, firmware.ROW, firmware.ANSWER)
        trial = self.run(built.image, [replace(call, rows=rows[:1])], roomy=True)[0]
        needed = built.elf.ram_bytes + trial.stack_bytes
        _require_room(self.board, "RAM", needed, self.board.ram_bytes, "bytes, the row and the stack included,")
        ran = self.run(built.image, [call])[0]
        variables = built.elf.ram_bytes - built.empty.ram_bytes + model.row_bytes
        if model.writes_answers:
            variables += model.answer_bytes
        return _Measured(
            constant_bytes=built.constant_bytes,
            flash_bytes=flash,
            ram_bytes=variables + ran.stack_bytes,
            stack_bytes=ran.stack_bytes,
            counts=ran.counts,
            answers=ran.answers.view(model.answer_type.newbyteorder("<")),
        )

    def compare(
        self, models: Sequence[Model], rows: Sequence[npt.NDArray[np.uint8]], objects: Sequence[Path] | None = None
    ) -> list[tuple[Array, Array]]:
        """Run scores and prediction of each model on its rows; where no objects are given, compile them together."""
        calls = [call for model, table in zip(models, rows, strict=True) for call in _calls(model, table)]
        included: list[str] = []
        if objects is None:
            files = {file: text for model in models for file, text in c_files(model.program, model.name).items()}
            objects = [self.toolchain.compile(path, self.left()) for path in self.write(files) if path.suffix == ".S"]
            included = [file for file in files if file.endswith(".c")]
        text = firmware.compared(models, sources=included)
        if self.board.family == "host":
            text += firmware.host_main(
                (one.function, one.rows.shape[1], one.answer_bytes, len(one.rows)) for one in calls
            )
        else:
            text += firmware.idle_main(one.function for one in calls)
        image = self.linked([*self.compiled({"compared.c": text}), *objects], "compared.elf")
        outcomes = self.run(image, calls, roomy=True)
        return [
            (
                outcomes[2 * index].answers.view(model.score_type.newbyteorder("<")),
                outcomes[2 * index + 1].answers.view(model.answer_type.newbyteorder("<")),
            )
            for index, model in enumerate(models)
        ]

    def run(self, image: Path, calls: Sequence[Call], *, roomy: bool = False) -> list[Outcome]:
        """Run a firmware in what time is left."""
        return simulate(self.board, image, calls, self.left(), roomy=roomy)


def _calls(model: Model, rows: npt.NDArray[np.uint8]) -> Iterable[Call]:
    yield Call(f"scores_{model.name}", rows, model.score_bytes, count=False)
    yield Call(f"predict_{model.name}", rows, model.answer_bytes, count=False)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _constants(elf: Elf, name: str) -> int:
    """Bytes of the arrays in a model's section, by its name in objects, `.rodata.smidgen.NAME`, without the gaps."""
    return sum(size for section, size in elf.objects.items() if section.endswith(f".smidgen.{name}"))


# Comparing.


def _compare(program: Program, X: Any, scores: Array, answers: Array) -> Comparison:
    """The rule of the task: scores and answers are equal; of float32 Programs near-ties apart, within the tolerance."""
    wanted = program.run(X)
    expected = wanted.scores if program.task == "regression" else wanted.prediction
    differences = np.abs(scores.astype(np.float64) - wanted.scores)
    differences[np.isnan(differences)] = np.inf
    differs = (answers.reshape(len(scores), -1) != expected.reshape(len(scores), -1)).any(axis=1)
    if program.arithmetic == "integer":
        near = np.zeros(len(scores), bool)
        wrong = differs | (differences > 0).any(axis=1)
    else:
        near = program.near_ties(X)
        beyond = (differences > program.tolerances(X)).any(axis=1)
        wrong = (beyond | (differs & (program.task != "regression"))) & ~near
    return Comparison(
        rows=len(scores),
        mismatches=int(wrong.sum()),
        near_ties=int(near.sum()),
        worst_score_difference=float(np.max(differences, initial=0.0)),
        first_mismatch=int(np.argmax(wrong)) if wrong.any() else None,
    )


def _certificate(
    toolchain: Toolchain, model: Model, measured: _Measured, compared: Comparison, found: Mapping[str, float]
) -> Certificate:
    board, program = toolchain.board, model.program
    mean = None if measured.counts is None else float(measured.counts.mean())
    power = board.power
    joules = None
    if mean is not None and power and board.clock_hz:
        joules = power.volts * power.milliamperes * mean / board.clock_hz * 1000
    return Certificate(
        board=board.name,
        chip=board.chip,
        model=program.hash,
        smidgen=smidgen.__version__,
        task=program.task,
        arithmetic=program.arithmetic,
        compiler=toolchain.tool.name,
        compiler_version=toolchain.tool.version,
        flags=toolchain.flags,
        rows=compared.rows,
        mismatches=compared.mismatches,
        near_ties=compared.near_ties,
        worst_score_difference=compared.worst_score_difference,
        model_bytes=program.cost().model_bytes,
        constant_bytes=measured.constant_bytes,
        flash_bytes=measured.flash_bytes,
        ram_bytes=measured.ram_bytes,
        stack_bytes=measured.stack_bytes,
        counts=board.simulator.counts if board.simulator and mean is not None else "",
        cycles=mean,
        worst_cycles=None if measured.counts is None else int(measured.counts.max()),
        clock_hz=board.clock_hz,
        microjoules=joules,
        power_source=power.source if power and joules is not None else "",
        measures=found,
    )
