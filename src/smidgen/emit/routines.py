"""The hand-written routines of runtime/: which of them a text needs, and their text in this model's own names.

A routine stands in a file of its name, as C that any compiler can read: `smidgen_` stands before all of its names, and
becomes the model's prefix. Where it says `sum_t` or `out_t` it is a pattern: `gap4_int4_16` is `gap4_int4` with
`sum_t` as uint16_t, and `gap4_int4_16_long` is the same with counts of two bytes. Imports nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

CALL = r"\bsmidgen_(\w+)(?=\()"
PATTERNS = {
    "16": {"sum_t": "uint16_t", "SUM_IS_WIDE": "0"},
    "24": {"sum_t": "uint32_t", "SUM_IS_WIDE": "1"},
    "32": {"sum_t": "uint32_t"},
    "bytes": {"out_t": "uint8_t"},
    "floats": {"out_t": "float"},
}
"""The last word of a pattern's name, and the types that it stands for; in assembly there are 16 and 24 bits alone."""


@dataclass(frozen=True)
class Routine:
    """A routine as C, and where there is one, as AVR assembly of the same name and meaning."""

    name: str
    c: str
    assembly: str = ""

    @property
    def announced(self) -> str:
        """Its declaration, for the file that does not hold it."""
        head = re.search(r"^static (.*\))$", self.c, flags=re.MULTILINE)
        assert head is not None
        return f"{head[1]};"


def used_routines(text: str, types: dict[str, str], own: dict[str, Routine]) -> list[Routine]:
    """The routines that a text calls, each after those that it calls itself; `own` are those of one step."""
    seen: dict[str, Routine] = {}

    def visit(caller: str) -> None:
        for name in re.findall(CALL, caller):
            routine = own.get(name) or _routine(name)
            if name not in seen and routine is not None:
                routine = replace(routine, c=in_types(routine.c, types))
                seen[name] = routine
                visit(routine.c)
                seen[name] = seen.pop(name)  # to the end, behind those that it calls

    visit(in_types(text, types))
    return list(seen.values())


def called_from(text: str, routines: list[Routine]) -> set[str]:
    """The names of the routines that a text needs, without looking into those that stand in assembly."""
    found: set[str] = set()
    by_name = {routine.name: routine for routine in routines}
    queue = [text]
    while queue:
        for name in re.findall(CALL, queue.pop()):
            if name in by_name and name not in found:
                found.add(name)
                if not by_name[name].assembly:
                    queue.append(by_name[name].c)
    return found


def step_routine(file: str, words: Mapping[str, object]) -> Routine:
    """A routine that is made for one step: `STEP_ROWS` and the like in its text are numbers of that step."""
    texts = []
    for suffix in (".c", ".S"):
        text = runtime(file + suffix).rstrip()
        for word, value in words.items():
            text = re.sub(rf"\bSTEP_{word}\b", str(value), text)
        texts.append(re.sub(r"_STEP\b", f"_{words['INDEX']}", text))
    return Routine(f"{file.partition('_')[0]}_{words['INDEX']}", *texts)


def named(text: str, name: str) -> str:
    """A text in the model's own names, which until then begin with `smidgen_`."""
    return re.sub(r"\bsmidgen_", f"{name}_", text.replace("SMIDGEN_NAME", name))


@cache
def runtime(file: str) -> str:
    """The text of a file in runtime/; empty where there is none of this name."""
    path = resources.files("smidgen.emit") / "runtime" / file
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _routine(name: str) -> Routine | None:
    base, _, last = name.rpartition("_")
    if last == "long" and (short := _routine(base)) is not None:
        return Routine(name, short.c.replace(f"smidgen_{base}(", f"smidgen_{name}(").replace("_read8(", "_read16("))
    if last in PATTERNS and (pattern := runtime(f"{base}.c")):
        assembly = runtime(f"{name}.S") or (runtime(f"{base}.S") if "SUM_IS_WIDE" in PATTERNS[last] else "")
        texts = (re.sub(rf"_{base}\b", f"_{name}", text) for text in (pattern.rstrip(), assembly.rstrip()))
        return Routine(name, *(in_types(text, PATTERNS[last]) for text in texts))
    c = runtime(f"{name}.c").rstrip()
    return Routine(name, c, runtime(f"{name}.S").rstrip()) if c else None


def in_types(text: str, types: dict[str, str]) -> str:
    """A text with this Program's own types in place of those that stand for them."""
    for placeholder, word in types.items():
        text = re.sub(rf"\b{placeholder}\b", word, text)
    return text
