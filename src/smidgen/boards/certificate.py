"""`Certificate`: what was compiled, for which board, run on which rows, and what came out. Imports smidgen's errors.

It holds no date and no path: the same model, tools and rows give the same certificate, byte for byte.
"""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from smidgen.errors import DataError, UsageError

FORMAT = 1
_SHOWN = ("board", "rows", "mismatches", "flash_bytes", "ram_bytes", "cycles")


@dataclass(frozen=True, repr=False)
class Certificate:
    """The evidence that a board computes what Python does, and what that costs there.

    Attributes
    ----------
    board, chip : str
        Which board was simulated.
    model : str
        The Program's hash.
    smidgen : str
        The version that made it.
    task, arithmetic : str
        The Program's.
    compiler, compiler_version : str
        What compiled it.
    flags : tuple of str
        With which flags, warnings apart.
    rows : int
        The rows that the board was given.
    mismatches : int
        Rows on which board and interpreter disagree, by the rule of the task; near-ties of float32 Programs apart.
    near_ties : int
        Rows of a float32 Program whose answer rounding may change; 0 for integer Programs.
    worst_score_difference : float
        The largest difference between a score of the board and the interpreter's; 0 for integer Programs that agree.
    model_bytes : int
        The Program's constants, as `Program.cost` counts them.
    constant_bytes : int or None
        The same as the object file's section says: never more, and a few bytes fewer where the board's order of them
        needs less padding. None where the object file is not ELF.
    flash_bytes : int or None
        What the model adds to the flash of an empty firmware: code and constants. None where nothing was measured.
    ram_bytes : int or None
        What it adds to the RAM: the row, variables, and the deepest stack. None for the host.
    stack_bytes : int or None
        The deepest stack's part of that.
    counts : str
        What `cycles` are: "cycles", "instructions", or "" where nothing was counted.
    cycles : float or None
        The mean of one prediction.
    worst_cycles : int or None
        The most that one prediction took.
    clock_hz : int or None
        The board's.
    microjoules : float or None
        Energy of one prediction, an estimate: supply voltage times published active current times time, taking an
        instruction for a cycle where instructions were counted.
    power_source : str
        Where current and voltage come from.
    measures : mapping
        How good the answers are, in the task's terms; empty where no labels were given.

    Examples
    --------
    >>> certificate = Certificate(board="uno", chip="ATmega328P", model="90ab", rows=450, mismatches=0, cycles=7348.4)
    >>> certificate
    Certificate(board='uno', rows=450, mismatches=0, cycles=7348)
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    board: str
    chip: str
    model: str
    rows: int
    mismatches: int
    smidgen: str = ""
    task: str = "classification"
    arithmetic: str = "integer"
    compiler: str = ""
    compiler_version: str = ""
    flags: tuple[str, ...] = ()
    near_ties: int = 0
    worst_score_difference: float = 0.0
    model_bytes: int = 0
    constant_bytes: int | None = None
    flash_bytes: int | None = None
    ram_bytes: int | None = None
    stack_bytes: int | None = None
    counts: str = ""
    cycles: float | None = None
    worst_cycles: int | None = None
    clock_hz: int | None = None
    microjoules: float | None = None
    power_source: str = ""
    measures: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "flags", tuple(self.flags))
        object.__setattr__(self, "measures", dict(self.measures))

    @property
    def agrees(self) -> bool:
        """Whether the board disagrees on no row, and holds no more bytes of constants than the Program counts."""
        return self.mismatches == 0 and (self.constant_bytes is None or self.constant_bytes <= self.model_bytes)

    @property
    def accuracy(self) -> float | None:
        """That of the board's answers, of a classifier with labels given."""
        return self.measures.get("accuracy")

    @property
    def milliseconds(self) -> float | None:
        """The time of one prediction at the board's clock, taking an instruction for a cycle; None if not counted."""
        return 1000 * self.cycles / self.clock_hz if self.cycles is not None and self.clock_hz else None

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in _SHOWN if getattr(self, name) is not None}
        if self.cycles is not None:
            shown["cycles"] = round(self.cycles)
        parts = [f"{name}={value!r}" for name, value in shown.items()]
        return f"Certificate({', '.join([*parts, *(f'{name}={value:.3f}' for name, value in self.measures.items())])})"

    def as_json(self) -> dict[str, Any]:
        """Give everything as a dictionary that JSON can hold; the measures stand among the other keys."""
        data = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "measures"}
        return {"certificate": FORMAT, **data, "flags": list(self.flags), **self.measures}

    def to_json(self) -> str:
        """Give the text of the certificate's file."""
        return json.dumps(self.as_json(), indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read what `to_json` wrote.

        Raises
        ------
        DataError
            When it is no certificate, or one of a newer smidgen.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise DataError(f"this is no certificate: {error}") from None
        if not isinstance(data, dict) or data.pop("certificate", None) != FORMAT:
            raise DataError(f"this is no certificate of format {FORMAT}, the one that this smidgen reads")
        known = {one.name: data.pop(one.name) for one in fields(cls) if one.name in data}
        strange = [name for name, value in data.items() if not isinstance(value, float)]
        if strange:
            raise DataError(f"the certificate holds '{strange[0]}', which is nothing that certificates hold")
        try:
            return cls(**known, measures=data)
        except TypeError as error:
            raise DataError(f"the certificate lacks something: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate's file, whole or not at all.

        Raises
        ------
        UsageError
            When it cannot be written.
        """
        target = Path(path)
        part = target.with_name(f".smidgen-{secrets.token_hex(8)}.tmp")
        try:
            part.write_text(self.to_json(), encoding="utf-8")
            part.replace(target)
        except OSError as error:
            raise UsageError(f"cannot write {target}: {error.strerror or error}") from None
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
