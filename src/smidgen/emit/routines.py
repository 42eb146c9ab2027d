"""The hand-written routines of runtime/: which of them a text needs, and their text in this model's own names.

A routine stands in a file of its name, as C that any compiler can read: `smidgen_` stands before all of its names, and
becomes the model's prefix. Where it says `sum_t` or `out_t` it is a pattern: `gap4_int4_16` is `gap4_int4` with
`sum_t` as uint16_t. Imports nothing.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

PATTERNS = {
    "16": {"sum_t": "uint16_t"},
    "32": {"sum_t": "uint32_t"},
    "bytes": {"out_t": "uint8_t"},
    "floats": {"out_t": "float"},
}
"""The last word of a pattern's name, and the types that it stands for."""


def with_routines(text: str, types: dict[str, str]) -> Iterator[str]:
    """The routines that a text calls, each after those that it calls itself, then the text; in this Program's types."""
    seen: set[str] = set()

    def needed(caller: str) -> Iterator[str]:
        for name in re.findall(r"\bsmidgen_(\w+)(?=\()", caller):
            if name not in seen and (routine := _in_types(_routine(name), types)):
                seen.add(name)
                yield from needed(routine)
                yield routine

    text = _in_types(text, types)
    yield from needed(text)
    yield text


def named(text: str, name: str) -> str:
    """A text in the model's own names, which until then begin with `smidgen_`."""
    return re.sub(r"\bsmidgen_", f"{name}_", text.replace("SMIDGEN_NAME", name))


@cache
def runtime(file: str) -> str:
    """The text of a file in runtime/; empty where there is none of this name."""
    path = resources.files("smidgen.emit") / "runtime" / file
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _routine(name: str) -> str:
    base, _, last = name.rpartition("_")
    if last in PATTERNS and (pattern := runtime(f"{base}.c")):
        return _in_types(pattern.replace(f"smidgen_{base}(", f"smidgen_{name}("), PATTERNS[last]).rstrip()
    return runtime(f"{name}.c").rstrip()


def _in_types(text: str, types: dict[str, str]) -> str:
    for placeholder, word in types.items():
        text = re.sub(rf"\b{placeholder}\b", word, text)
    return text
