"""Numbers, arrays, words and comments as C text. Imports NumPy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

WIDTH = 110
ITEM_BYTES = {"uint8_t": 1, "int16_t": 2, "float": 4}


@dataclass(frozen=True)
class Constant:
    """An array in flash: its name (without the prefix), C type, numbers line by line, and what they are."""

    name: str
    ctype: str
    lines: Sequence[Sequence[float]]
    comment: str

    @property
    def n_bytes(self) -> int:
        """The bytes it takes."""
        return ITEM_BYTES[self.ctype] * sum(map(len, self.lines))

    def text(self) -> str:
        """Its definition; every line of numbers begins a new line."""
        number = float_literal if self.ctype == "float" else str
        rows = [filled([f"{number(item)}," for item in line]) for line in self.lines if len(line)]
        head = f"/* {self.comment} */\nstatic const {self.ctype} smidgen_{self.name}[{sum(map(len, self.lines))}]"
        return "\n".join([f"{head} smidgen_FLASH({ITEM_BYTES[self.ctype]}) = {{", *rows, "};"])


def float_literal(value: float) -> str:
    """A float32 as C reads it back exactly.

    >>> float_literal(1.0), float_literal(float(np.float32(0.1))), float_literal(2.0**-126)
    ('1.0f', '0.100000001f', '1.17549435e-38f')
    """
    digits = f"{np.float32(value):.9g}"
    return f"{digits}f" if "." in digits or "e" in digits else f"{digits}.0f"


def int_literal(value: float) -> str:
    """An int32 as C takes it anywhere; its least number has no literal of its own."""
    return "(-2147483647 - 1)" if value == -(2**31) else str(int(value))


def string_literal(word: str) -> str:
    r"""Any text as a C string: UTF-8, escaped wherever C might read something else into it.

    >>> string_literal('a "é"?')
    '"a \\"\\303\\251\\"\\?"'
    """
    plain = (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in word.encode())
    return '"' + "".join("\\" + letter if letter in '"?' or letter == "\\" else letter for letter in plain) + '"'


def filled(words: Iterable[str], indent: str = "    ") -> str:
    """Words in lines of a width one can read."""
    lines, line = [], indent[:-1]
    for word in words:
        if len(line) + len(word) >= WIDTH:
            lines.append(line)
            line = indent[:-1]
        line += f" {word}"
    return "\n".join([*lines, line])


def comment(lines: Iterable[str]) -> str:
    """Lines as one block comment."""
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])
