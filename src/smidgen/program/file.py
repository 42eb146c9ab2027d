"""The `.smg` file: a zip of one JSON and raw little-endian arrays. (stub)"""

import os

from smidgen.program.document import Document


def write(path: str | os.PathLike[str], content: Document) -> None:
    """Stub."""
    raise NotImplementedError


def read(path: str | os.PathLike[str]) -> Document:
    """Stub."""
    raise NotImplementedError
