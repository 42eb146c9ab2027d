"""Steps → document → steps: canonical, complete, and closed to everything that is no step."""

import hashlib
import json
import types
import typing
from dataclasses import fields

import numpy as np
import pytest

from smidgen.errors import ProgramError
from smidgen.program import Decide, Gaussian, GroupReduce, Input, Linear, Matrix, Program, Rescale
from smidgen.program.document import Document, canonical, digest, from_steps, to_steps
from smidgen.program.program import STEPS
from tests.program.file_programs import file_programs

PROGRAMS = file_programs()
INPUT, DECIDE = Input("uint8", 2), Decide("argmax")


def document_of(program: Program) -> Document:
    return from_steps(program.steps, classes=program.classes, feature_names=program.feature_names)


def test_the_header_is_what_the_format_says():
    linear = Linear(Matrix.pack([[1, -2], [0, 3]], "int8", "dense"), np.array([5, -700], np.int16))
    content = from_steps((INPUT, linear, DECIDE), classes=("no", "ä"), feature_names=None)
    assert content.header == {
        "classes": ["no", "ä"],
        "feature_names": None,
        "format": "smidgen program",
        "steps": [
            {"step": "Input", "n_features": 2, "raw": "uint8"},
            {
                "step": "Linear",
                "weights": {
                    "format": "int8",
                    "shape": [2, 2],
                    "storage": "dense",
                    "values": {"array": "1.weights.values", "dtype": "int8", "shape": [4]},
                },
                "bias": {"array": "1.bias", "dtype": "int16", "shape": [2]},
            },
            {"step": "Decide", "kind": "argmax"},
        ],
        "version": 1,
    }
    assert content.arrays == {"1.weights.values": b"\x01\xfe\x00\x03", "1.bias": b"\x05\x00\x44\xfd"}


def test_the_hash_covers_canonical_json_and_the_arrays_in_order_of_name():
    content = document_of(PROGRAMS["hamming"])
    text = json.dumps(content.header, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    joined = b"".join(data for _, data in sorted(content.arrays.items()))
    assert digest(content) == hashlib.sha256(text.encode() + joined).hexdigest() == PROGRAMS["hamming"].hash


def test_arrays_are_little_endian_whatever_the_machine():
    big = np.array([1, 2], ">i2")
    linear = Linear(Matrix.pack(np.eye(2), "int8"), big)
    assert from_steps((INPUT, linear, DECIDE), classes=None, feature_names=None).arrays["1.bias"] == b"\1\0\2\0"


@pytest.mark.parametrize("name", PROGRAMS)
def test_there_and_back(name):
    program = PROGRAMS[name]
    content = document_of(program)
    again = Program(to_steps(content, STEPS), program.classes, program.feature_names)
    assert document_of(again).header == content.header
    assert document_of(again).arrays == content.arrays
    assert again.describe() == program.describe()


def test_the_programs_hold_every_field_format_and_storage():
    """Else the tests of this file would leave a field of a step untried."""
    texts = [canonical(document_of(program).header).decode() for program in PROGRAMS.values()]
    for kind in (*STEPS, Rescale, Gaussian):
        for field in fields(kind):
            assert any(f'"{field.name}":' in text for text in texts), f"{kind.__name__}.{field.name}"
    found = {
        (matrix.format, matrix.storage)
        for program in PROGRAMS.values()
        for step in program.steps
        for matrix in (getattr(step, "weights", None), getattr(step, "points", None))
        if matrix is not None
    }
    assert {storage for _, storage in found} == {"dense", "bitmap", "gap8", "gap4"}
    assert {number_format for number_format, _ in found} == {"float32", "int8", "int4", "bits"}


def leaves(hint: object) -> list[object]:
    """The lone types of an annotation."""
    if isinstance(hint, types.UnionType):
        return [leaf for part in typing.get_args(hint) for leaf in leaves(part)]
    return [typing.get_origin(hint) or hint]


@pytest.mark.parametrize("kind", [*STEPS, Rescale, Gaussian])
def test_every_annotation_is_one_that_a_document_knows(kind):
    """A step's new field of another kind needs a word in document.py first."""
    known = {int, float, str, type(None), tuple, np.ndarray, typing.Literal, Matrix, Rescale, Gaussian}
    for hint in typing.get_type_hints(kind).values():
        assert set(leaves(hint)) <= known


def test_equal_programs_are_equal_documents():
    """However their numbers were given: as NumPy scalars, big-endian, with negative zeros, with defaults given."""
    weights = np.array([[0.5, -0.0], [1, 2]])
    plain = (
        Input("float32", 2, "float32"),
        Linear(Matrix.pack(weights, "float32", "dense"), np.array([1, 0], np.float32)),
        GroupReduce(np.array([1, 1], np.uint8), "max", floor=0.1),
        DECIDE,
    )
    spelled = (
        Input("float32", np.int64(2), "float32", offset=0.0, multiplier=1, shift=np.uint8(0)),
        Linear(Matrix.pack(weights + 0.0, "float32", "dense"), np.array([1, -0.0], ">f4"), activation="none"),
        GroupReduce(np.array([1, 1], np.uint8), "max", floor=np.float32(0.1)),
        Decide("argmax", k=None),
    )
    documents = [from_steps(steps, classes=("a", "b"), feature_names=None) for steps in (plain, spelled)]
    assert digest(documents[0]) == digest(documents[1])
    assert canonical(documents[0].header) == canonical(documents[1].header)


def changes() -> dict[str, Program]:
    """One Program, and others that differ from it in one thing each."""
    linear = Linear(Matrix.pack([[1, -2], [0, 3]], "int8", "dense"))
    stored_otherwise = Linear(Matrix.pack([[1, -2], [0, 3]], "int8", "gap8"))
    return {
        "the Program": Program((INPUT, linear, DECIDE), ("a", "b")),
        "class order": Program((INPUT, linear, DECIDE), ("b", "a")),
        "no classes": Program((INPUT, linear, DECIDE)),
        "numbers as classes": Program((INPUT, linear, DECIDE), (0, 1)),
        "booleans as classes": Program((INPUT, linear, DECIDE), (False, True)),
        "floats as classes": Program((INPUT, linear, DECIDE), (0.0, 1.0)),
        "feature names": Program((INPUT, linear, DECIDE), ("a", "b"), ("x", "y")),
        "storage": Program((INPUT, stored_otherwise, DECIDE), ("a", "b")),
        "range": Program((Input("uint8", 2, trusted_range=(0, 9)), linear, DECIDE), ("a", "b")),
        "decision": Program((INPUT, linear, Decide("argmin")), ("a", "b")),
    }


def test_a_change_of_anything_changes_the_hash():
    hashes = [program.hash for program in changes().values()]
    assert len(set(hashes)) == len(hashes)


def test_a_step_of_another_kind_is_refused():
    """The kinds are the caller's closed list; nothing is looked up by name anywhere else."""
    content = document_of(PROGRAMS["floats"])
    with pytest.raises(ProgramError, match="step 2: its kind is 'Distance'; it must be one of Input, Linear, Decide"):
        to_steps(content, (Input, Linear, Decide))


@pytest.mark.parametrize("name", [float("inf"), float("nan"), 2**63, -(2**63) - 1, "\udfff", b"a", None, (1,)])
def test_names_that_no_file_can_hold_are_refused_when_the_program_is_made(name):
    with pytest.raises(ProgramError, match="among the classes"):
        Program((INPUT, Linear(Matrix.pack(np.eye(2), "int8")), DECIDE), ("a", name))


@pytest.mark.parametrize(
    "name", [2**63 - 1, -(2**63), 5e-324, 1.7e308, "", "\0a", "\x1b[31m", "a" * 10_000, "😀", False]
)
def test_names_that_a_file_can_hold(name):
    program = Program((INPUT, Linear(Matrix.pack(np.eye(2), "int8")), DECIDE), (type(name)(1), name))
    again = to_steps(document_of(program), STEPS)
    assert len(again) == 3
    assert json.loads(canonical(document_of(program).header))["classes"] == [type(name)(1), name]
