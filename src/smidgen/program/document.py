"""Steps ↔ one JSON object and named arrays: what a model file holds, and what the model hash covers.

A step becomes an object of its fields, those at their default left out. An array becomes
`{"array": "1.bias", "dtype": "int16", "shape": [10]}` and its little-endian bytes under that name; a matrix becomes its
shape, format and storage and the arrays of its packed parts. The way back takes nothing on trust: each field's
annotation says what it may hold, the steps check their own constants, and what is built must give the very same
document again, so that one Program is one hash. May import NumPy and this package.
"""

import hashlib
import json
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from smidgen.errors import ProgramError
from smidgen.program.checks import Array, choice, require, shown
from smidgen.program.storage import Matrix

FORMAT = "smidgen program"
VERSION = 1
KEYS = {"classes", "feature_names", "format", "steps", "version"}
DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "float32")
MATRIX_KEYS = ("format", "shape", "storage")
"""What a matrix's object holds besides its parts."""


@dataclass(frozen=True, eq=False)
class Document:
    """One JSON object with the five keys of the format, and arrays by name, as their little-endian bytes."""

    header: dict[str, Any]
    arrays: dict[str, bytes]

    def __post_init__(self) -> None:
        header = self.header
        ours = isinstance(header, dict) and header.get("format") == FORMAT
        require(ours, f'its JSON is not that of a Program, an object whose "format" is "{FORMAT}"')
        version = header.get("version")
        known = type(version) is int and version >= 1
        require(known, f"its format version is {shown(version)}, which no smidgen ever wrote")
        require(
            version == VERSION,
            f"a newer smidgen wrote it, in format version {version} where this one reads {VERSION}; update smidgen",
        )
        require(header.keys() == KEYS, f"its JSON must have the keys {', '.join(sorted(KEYS))}")
        for key, names in self.names.items():
            require(_are_names(names), f"its {key} must be a list of words or numbers, or null")
        require(isinstance(header["steps"], list), "its steps must be a list")

    @property
    def names(self) -> dict[str, Any]:
        """What a Program holds besides its steps."""
        return {key: self.header[key] for key in ("classes", "feature_names")}


def _are_names(names: Any) -> bool:
    """Whether they may stand for classes or features; so nothing in a document is nested deeply."""
    return names is None or (isinstance(names, list) and all(isinstance(name, (str, int, float)) for name in names))


def canonical(header: Any) -> bytes:
    r"""The one way to write a JSON object: keys sorted, no spaces, plain ASCII, finite numbers.

    >>> canonical({"b": [1, 2.0], "a": "é"})
    b'{"a":"\\u00e9","b":[1,2.0]}'
    """
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest(content: Document) -> str:
    """SHA-256 of the canonical JSON, then of each array's bytes in the order of their names."""
    hasher = hashlib.sha256(canonical(content.header))
    for name in sorted(content.arrays):
        hasher.update(content.arrays[name])
    return hasher.hexdigest()


# Steps → document.


def from_steps(
    steps: tuple[Any, ...], *, classes: tuple[Any, ...] | None, feature_names: tuple[str, ...] | None
) -> Document:
    """Take a Program apart into what a file can hold."""
    arrays: dict[str, bytes] = {}
    entries = [
        {"step": type(step).__name__, **_fields_to_json(step, f"{index}", arrays)} for index, step in enumerate(steps)
    ]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "classes": None if classes is None else list(classes),
        "feature_names": None if feature_names is None else list(feature_names),
        "steps": entries,
    }
    return Document(header, arrays)


def _fields_to_json(part: Any, name: str, arrays: dict[str, bytes]) -> dict[str, Any]:
    written = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, np.ndarray) or value != field.default:
            written[field.name] = _to_json(value, f"{name}.{field.name}", arrays)
    return written


def _to_json(value: Any, name: str, arrays: dict[str, bytes]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[name] = value.astype(value.dtype.newbyteorder("<")).tobytes()
        return {"array": name, "dtype": value.dtype.name, "shape": list(value.shape)}
    if isinstance(value, Matrix):
        parts = {key: _to_json(part, f"{name}.{key}", arrays) for key, part in value.parts.items()}
        return {"format": value.format, "shape": list(value.shape), "storage": value.storage, **parts}
    if is_dataclass(value):
        return _fields_to_json(value, name, arrays)
    return list(value) if isinstance(value, tuple) else value


# Document → steps.


def to_steps(content: Document, kinds: tuple[type[Any], ...]) -> tuple[Any, ...]:
    """Build the steps that a document describes, each one of `kinds`; `ProgramError` for whatever is wrong with it."""
    left = dict(content.arrays)
    steps = []
    for index, entry in enumerate(content.header["steps"]):
        try:
            steps.append(_step(entry, kinds, f"{index}", left))
        except ProgramError as error:
            raise ProgramError(f"step {index}: {error}") from None
    require(not left, f"the array {', '.join(list(left)[:1])} belongs to no step")
    same = digest(from_steps(tuple(steps), **content.names)) == digest(content)
    require(same, "it is not written as smidgen writes it (no field at its default, every number in its own type)")
    return tuple(steps)


def _step(entry: Any, kinds: tuple[type[Any], ...], name: str, left: dict[str, bytes]) -> Any:
    require(isinstance(entry, dict), f"it is {shown(entry)}; it must be an object")
    word = choice(entry.get("step"), tuple(kind.__name__ for kind in kinds), "its kind")
    kind = next(kind for kind in kinds if kind.__name__ == word)
    return _from_object(kind, {key: value for key, value in entry.items() if key != "step"}, name, left)


def _from_object(kind: Any, entry: dict[str, Any], name: str, left: dict[str, bytes]) -> Any:
    """A dataclass from an object of its fields; every array that it names is taken out of `left`."""
    allowed = _allowed(kind)
    unknown, missing = sorted(entry.keys() - allowed.keys()), sorted(_needed(kind) - entry.keys())
    require(not unknown, f"{kind.__name__} has no field {shown(unknown[:1])[1:-1]}")
    require(not missing, f"{kind.__name__} lacks the field {', '.join(missing[:1])}")
    values = {key: _from_json(value, allowed[key], f"{name}.{key}", left) for key, value in entry.items()}
    return kind(**values)


def _from_json(value: Any, allowed: tuple[Any, ...], name: str, left: dict[str, bytes]) -> Any:
    if isinstance(value, dict):
        if "array" in value and np.ndarray in allowed:
            return _array(value, name, left)
        if Matrix in allowed:
            return _matrix(value, name, left)
        for kind in allowed:
            if is_dataclass(kind) and isinstance(kind, type):
                return _from_object(kind, value, name, left)
    elif isinstance(value, list):
        if tuple in allowed and all(type(item) is int for item in value):
            return tuple(value)
    elif type(value) in allowed or (type(value) is int and float in allowed):
        return value
    raise ProgramError(f"{name.partition('.')[2]} is {shown(value)}, which it cannot be")


def _array(entry: Any, name: str, left: dict[str, bytes]) -> Array:
    """The array of that name, if its size is what the entry claims; no copy is made here."""
    whole_entry = isinstance(entry, dict) and entry.keys() == {"array", "dtype", "shape"}
    require(whole_entry, f"the entry of the array {shown(name)} must have the keys array, dtype, shape")
    require(entry["array"] == name, f"an array is called {shown(entry['array'])} where {name} belongs")
    dtype = np.dtype(choice(entry["dtype"], DTYPES, f"the dtype of {name}")).newbyteorder("<")
    shape = entry["shape"]
    flat = isinstance(shape, list) and len(shape) == 1 and type(shape[0]) is int and shape[0] >= 0
    require(flat, f"the shape of {name} is {shown(shape)}; it must be a list of one length")
    require(name in left, f"the array {name} is not in the file")
    data = left.pop(name)
    needed = shape[0] * dtype.itemsize
    require(len(data) == needed, f"the array {name} has {len(data):,} bytes where {needed:,} are claimed")
    return np.frombuffer(data, dtype)


def _matrix(entry: dict[str, Any], name: str, left: dict[str, bytes]) -> Matrix:
    require(
        all(key in entry for key in MATRIX_KEYS),
        f"the matrix {name.partition('.')[2]} lacks one of {', '.join(MATRIX_KEYS)}",
    )
    shape = entry["shape"]
    pair = isinstance(shape, list) and len(shape) == 2
    require(pair, f"the shape of {name} is {shown(shape)}; it must be a list of rows and columns")
    parts = {key: _array(part, f"{name}.{key}", left) for key, part in entry.items() if key not in MATRIX_KEYS}
    return Matrix.unpack((shape[0], shape[1]), entry["format"], entry["storage"], parts)


@cache
def _needed(kind: Any) -> set[str]:
    """The fields without a default."""
    return {field.name for field in fields(kind) if field.default is MISSING}


@cache
def _allowed(kind: Any) -> dict[str, tuple[Any, ...]]:
    """What each field may hold, read off its annotation: plain types, tuple, np.ndarray and dataclasses."""
    hints = get_type_hints(kind)
    return {field.name: tuple(_plain(hint) for hint in _alternatives(hints[field.name])) for field in fields(kind)}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """`int | None` → int, None; a lone type → itself."""
    return get_args(hint) if get_origin(hint) not in (None, Literal, tuple, np.ndarray) else (hint,)


def _plain(hint: Any) -> Any:
    """The type behind a hint: `tuple[int, int]` → tuple, `Literal["a"]` → str."""
    origin = get_origin(hint)
    return str if origin is Literal else origin or hint
