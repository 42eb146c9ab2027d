"""Steps ↔ one JSON object and named arrays: what a model file holds, and what the model hash covers. (stub)"""

from dataclasses import dataclass
from typing import Any

from smidgen.program.checks import Array


@dataclass(frozen=True, eq=False)
class Document:
    """One JSON object and named arrays."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def from_steps(steps: Any, *, classes: Any, feature_names: Any) -> Document:
    """Stub."""
    raise NotImplementedError


def to_steps(content: Document, kinds: Any) -> Any:
    """Stub."""
    raise NotImplementedError


def digest(content: Document) -> str:
    """Stub."""
    raise NotImplementedError
