"""What the C of a Program needs to know before any of it is written: types, constants, and who writes where.

Imports the Program and the steps of this room.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from smidgen.emit.routines import Routine
from smidgen.emit.rows import Row, grouped
from smidgen.emit.steps import INT16, PRODUCERS, Producer, input_constants
from smidgen.emit.text import Constant
from smidgen.program import GroupReduce, Program
from smidgen.program.signal import Signal

RAW_CTYPES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "float32": "float"}
STORED_CTYPES = {"bytes": "uint8_t", "bits": "uint8_t", "float32": "float"}


@dataclass(frozen=True)
class Store:
    """A step whose output is kept: from where to where, as C."""

    index: int
    source: str
    target: str


@dataclass(frozen=True)
class Plan:
    """A Program, looked at from C."""

    program: Program

    @cached_property
    def producers(self) -> dict[int, Producer]:
        """Each Linear and Distance by the number of its step."""
        steps, signals = self.program.steps, self.program.signals
        makers = {index: PRODUCERS.get(type(step)) for index, step in enumerate(steps)}
        return {
            index: make(steps[index], signals[index - 1], index) for index, make in makers.items() if make is not None
        }

    @property
    def own_routines(self) -> dict[str, Routine]:
        """Routines that are made for one step, by their names."""
        wholes = [producer.whole for producer in self.producers.values()]
        return {whole.name: whole for whole in wholes if whole is not None}

    @property
    def last(self) -> int:
        """The number of the last step that produces: its values are never stored."""
        return max(self.producers)

    @property
    def group(self) -> GroupReduce | None:
        """The GroupReduce, where there is one."""
        step = self.program.steps[-2]
        return step if isinstance(step, GroupReduce) else None

    # Types.

    @property
    def score_type(self) -> str:
        """What `NAME_scores` writes."""
        return "int32_t" if self.program.arithmetic == "integer" else "float"

    @property
    def value_type(self) -> str:
        """What the last step hands on, one by one: int16_t where the proof says that it fits."""
        signals = self.program.signals[self.last : -1]
        if signals[0].kind == "float32":
            return "float"
        narrow = all(signal.range is not None and signal.range.bits("a score") == 16 for signal in signals)
        if self.group is not None and self.group.floor is not None:
            narrow = narrow and INT16[0] <= self.group.floor <= INT16[1]
        return "int16_t" if narrow else "int32_t"

    @property
    def class_type(self) -> str:
        """What `NAME_predict` gives of a class."""
        return "uint8_t" if self.program.n_outputs <= 256 else "uint16_t"

    def output_type(self, index: int) -> str:
        """What a step's values are in C."""
        if index == 0 and not self.program.input.copies:
            return "smidgen_input_t"
        return self.value_type if index >= self.last else STORED_CTYPES[self.program.signals[index].kind]

    # Memory.

    @property
    def scratch_type(self) -> str:
        """The type of the scratch array; of float so that floats stand where they may."""
        return "uint8_t" if self.program.arithmetic == "integer" else "float"

    @cached_property
    def scratch_bytes(self) -> int:
        """One array, filled from both ends: the most that a step reads from it and writes to it."""
        held, most = 0, 0
        for _, signal in self._stored:
            most, held = max(most, held + signal.stored_bytes), signal.stored_bytes
        return most if self.scratch_type == "uint8_t" else -(-most // 4) * 4

    @property
    def _stored(self) -> Sequence[tuple[int, Signal]]:
        first = 0 if self.program.input.copies else 1
        return [(index, self.program.signals[index]) for index in range(first, self.last)]

    @cached_property
    def stores(self) -> list[Store]:
        """The steps that write to scratch memory, by turns at its start and at its end."""
        stores, source = [], "x"
        for turn, (index, signal) in enumerate(self._stored):
            target = "run->scratch"
            if turn % 2:
                target = self._at_end(signal)
            elif self.scratch_type == "float" and signal.kind == "bits":
                target = "(uint8_t *)run->scratch"
            stores.append(Store(index, source, target))
            source = target
        return stores

    def _at_end(self, signal: Signal) -> str:
        place = self.scratch_bytes - signal.stored_bytes
        if self.scratch_type == "uint8_t":
            return f"run->scratch + {place}"
        return f"(uint8_t *)run->scratch + {place}" if signal.kind == "bits" else f"run->scratch + {place // 4}"

    # Constants.

    @cached_property
    def constants(self) -> list[Constant]:
        """All arrays, those of wide numbers first, so that none needs padding."""
        steps = self.program.steps
        found = input_constants(self.program.input)
        for index, producer in self.producers.items():
            rows = producer.rows
            what = f"step {index}: {steps[index].describe()}".replace("→", "->")
            if index == self.last and self.group is not None:
                rows = list(grouped(rows, self.group))
                what = f"{what}; before each class, the number of its rows"
            found += self._row_constants(index, rows, what)
            found += producer.tables
        scale = self.program.decide.scale
        if scale is not None:
            found.append(Constant("unit", "float", [scale.tolist()], "the unit of each output"))
        widths = {"float": 0, "int16_t": 1, "uint8_t": 2}
        return sorted(found, key=lambda constant: widths[constant.ctype])

    @staticmethod
    def _row_constants(index: int, rows: list[Row], what: str) -> list[Constant]:
        floats, byte_rows = [row.floats for row in rows], [row.bytes for row in rows]
        found = [Constant(f"{index}_floats", "float", floats, what)] if any(floats) else []
        return found + ([Constant(f"{index}_bytes", "uint8_t", byte_rows, what)] if any(byte_rows) else [])

    def start_of(self, index: int) -> dict[str, str]:
        """Where the constants of a step's rows begin: the members of a `smidgen_at_t`."""
        names = {constant.name for constant in self.constants}
        members = ("bytes",) if self.program.arithmetic == "integer" else ("bytes", "floats")
        return {member: f"smidgen_{index}_{member}" if f"{index}_{member}" in names else "0" for member in members}
