"""Random mutations of sound model files: each must be refused in a sentence, or load, prove itself and run.

Some damage the bytes anyhow; most take the zip apart, damage the JSON or an array, and put it together again with right
checksums, so that they reach the steps' own checks.
"""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.errors import ModelFileError
from smidgen.program import Distance, Linear, Program, load_program
from tests.program.file_programs import file_programs, rows_for
from tests.program.zips import HEADER, Members, dump, rezip, unzip

ODD_NUMBERS = [0, 1, -1, 2, 7, 8, 15, 16, 127, 128, 255, 256, 65_535, 65_536, 2**31, 2**63, -(2**63), 10**18, 10**400]
ODD_FLOATS = [0.0, -0.0, 0.5, 1e-45, 1e38, 1e300, float("nan"), float("inf")]
ODD_WORDS = [
    *("a", "1", "", "nan", "\ud800", "int8", "int4", "bits", "float32", "uint16", "dense", "gap8", "gap4", "bitmap"),
    *("argmax", "value", "best", "min", "sign", "relu", "hamming", "Input", "Linear", "Decide"),
]
ODD_VALUES: list[Any] = [
    *(None, True, False, *ODD_NUMBERS, *ODD_FLOATS, *ODD_WORDS),
    *([], [1], [1, 2], [[1]], {}, {"array": "1.bias"}, {"step": "Linear"}),
]
LARGEST_RUN = 1 << 22
"""The weights of a matrix, zeros included, up to which a mutated Program is run."""


def mutate_and_load(seed: int, n: int, folder: Path) -> Counter[str]:
    """Make and load `n` mutations, and count what became of them; any error but ModelFileError is raised."""
    sound, outcomes = sound_files(folder), Counter[str]()
    for case in range(n):
        rng = random.Random(f"{seed} {case}")
        path = folder / f"{case}.smg"  # a new one each time: overwriting waits for the disk
        path.write_bytes(mutated(rng, sound))
        try:
            outcomes[_outcome(path)] += 1
        except Exception as error:
            error.add_note(f"in mutation {case} of seed {seed}")
            raise
        path.unlink()
    return outcomes


def sound_files(folder: Path) -> list[bytes]:
    """The bytes of every Program of `file_programs`, saved."""
    path, files = folder / "sound.smg", []
    for program in file_programs().values():
        program.save(path)
        files.append(path.read_bytes())
        path.unlink()
    return files


def _outcome(path: Path) -> str:
    try:
        program = load_program(path)
    except ModelFileError as error:
        sentence = str(error)
    else:
        exercise(program)
        return "loaded"
    assert "\n" not in sentence
    return "refused: its zip or JSON" if sentence.startswith("cannot load") else "refused: its steps"


def exercise(program: Program) -> None:
    """All that a user may ask of a Program that loaded."""
    program.check()
    program.describe()
    assert program.cost().model_bytes >= 0
    assert len(program.hash) == 64
    matrices = [getattr(step, "weights", None) or step.points for step in program.steps if _has_matrix(step)]
    if all(matrix.shape[0] * matrix.shape[1] <= LARGEST_RUN for matrix in matrices):
        with np.errstate(all="ignore"):  # floats of a mutated file may overflow
            program.predict(rows_for(program, 2))


def _has_matrix(step: object) -> bool:
    return isinstance(step, (Linear, Distance))


def mutated(rng: random.Random, sound: list[bytes]) -> bytes:
    """One of the sound files, with one to three faults."""
    data = rng.choice(sound)
    if rng.random() < 0.4:
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = rng.choice(BYTE_FAULTS)(rng, data, rng.choice(sound))
        return data
    members = unzip(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(MEMBER_FAULTS)(rng, members)
    return rezip(members)


# Faults of bytes, whatever they mean.


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 16, 200)))


def _flip_bit(rng: random.Random, data: bytes, other: bytes) -> bytes:
    if not data:
        return data
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def _overwrite(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, stop = _span(rng, data)
    return data[:start] + rng.randbytes(stop - start) + data[stop:]


def _insert(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, stop = _span(rng, data)
    return data[:start] + rng.randbytes(stop - start + 1) + data[start:]


def _delete(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, stop = _span(rng, data)
    return data[:start] + data[stop:]


def _repeat(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, stop = _span(rng, data)
    return data[:stop] + data[start:]


def _truncate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The head of one file and the tail of another."""
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other)) :]


BYTE_FAULTS: list[Callable[[random.Random, bytes, bytes], bytes]] = [
    _flip_bit,
    _overwrite,
    _insert,
    _delete,
    _repeat,
    _truncate,
    _splice,
]


# Faults of members, behind a sound zip.


def _any_place(rng: random.Random, header: Any) -> tuple[Any, Any]:
    """A list or an object somewhere in the JSON, and one of its keys."""
    places, queue = [], [header]
    while queue:
        branch = queue.pop()
        keys = list(branch) if isinstance(branch, dict) else list(range(len(branch)))
        places += [(branch, key) for key in keys]
        queue += [branch[key] for key in keys if isinstance(branch[key], (dict, list))]
    return rng.choice(places) if places else ({"": 0}, "")


def _edit_json(edit: Callable[[random.Random, Any, Any, Any], None]) -> Callable[[random.Random, Members], None]:
    def fault(rng: random.Random, members: Members) -> None:
        try:
            header = json.loads(members[HEADER])
        except (KeyError, ValueError):  # an earlier fault took it
            return
        if isinstance(header, (dict, list)):
            edit(rng, header, *_any_place(rng, header))
            members[HEADER] = dump(header)

    return fault


def _odd_value(rng: random.Random, header: Any, branch: Any, key: Any) -> None:
    branch[key] = rng.choice(ODD_VALUES)


def _nudge(rng: random.Random, header: Any, branch: Any, key: Any) -> None:
    """A number somewhat larger or smaller."""
    for _ in range(20):
        if type(branch[key]) in (int, float) and abs(branch[key]) < 1e300:
            branch[key] += rng.choice((-1, 1, 1, -8, 8, 100, 0.5))
            return
        branch, key = _any_place(rng, header)


def _drop_key(rng: random.Random, header: Any, branch: Any, key: Any) -> None:
    del branch[key]


def _add_key(rng: random.Random, header: Any, branch: Any, key: Any) -> None:
    if isinstance(branch, list):
        branch.insert(key, rng.choice((branch[key], rng.choice(ODD_VALUES))))
    else:
        branch[rng.choice(("step", "array", "k", "shift", "floor", "bias", "codes", "hot", "eval", ""))] = branch[key]


def _copy_value(rng: random.Random, header: Any, branch: Any, key: Any) -> None:
    """What stands in one place, in another one too."""
    source, source_key = _any_place(rng, header)
    branch[key] = json.loads(dump(source[source_key]))


def _claim(rng: random.Random, header: Any, branch: Any, key: Any) -> None:
    """Another dtype or length for an array, or another format, storage or shape for a matrix."""
    for _ in range(20):
        if isinstance(branch, dict) and key in ("dtype", "format", "storage"):
            branch[key] = rng.choice(("uint8", "int8", "uint16", "int16", "int32", "float32", "int4", "gap8", "dense"))
            return
        if isinstance(branch, dict) and key == "shape" and isinstance(branch[key], list):
            branch[key] = [rng.choice((side, 1, 2, 65_535)) if type(side) is int else 1 for side in branch[key]]
            return
        branch, key = _any_place(rng, header)


def _change_array(rng: random.Random, members: Members) -> None:
    """Other bytes of the same length: what a consistent, but perhaps senseless, file holds."""
    name = rng.choice(list(members))
    if name != HEADER and members[name]:
        data = bytearray(members[name])
        for _ in range(rng.choice((1, 1, 2, len(data)))):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 15, 127, 128, 255, rng.randrange(256)))
        members[name] = bytes(data)


def _resize_array(rng: random.Random, members: Members) -> None:
    """Longer or shorter, and the JSON says so too, for arrays of bytes."""
    name = rng.choice(list(members))
    if name == HEADER or HEADER not in members:
        return
    before = len(members[name])
    members[name] = (members[name] * 2)[: max(0, before + rng.choice((-2, -1, 1, 2, 8)))]
    old = f'"array":"{name}","dtype":"uint8","shape":[{before}]'
    new = old.replace(f"[{before}]", f"[{len(members[name])}]")
    members[HEADER] = members[HEADER].replace(old.encode(), new.encode())


def _drop_member(rng: random.Random, members: Members) -> None:
    if len(members) > 1:
        del members[rng.choice(list(members))]


def _garble_json(rng: random.Random, members: Members) -> None:
    members[HEADER] = rng.choice(BYTE_FAULTS)(rng, members.get(HEADER, b"{}"), b'{"steps":[[[[')


MEMBER_FAULTS: list[Callable[[random.Random, Members], None]] = [
    *map(_edit_json, (_odd_value, _odd_value, _nudge, _nudge, _drop_key, _add_key, _copy_value, _claim)),
    *(_change_array, _change_array, _change_array, _resize_array, _drop_member, _garble_json),
]
