"""Model files that are wrong, each in one way: a name → a sound file to start from, its edit, and words of the error.

The first part damages the zip, the second the JSON, the third the arrays. What every case must show is in test_file.py.
"""

import pickle
import struct
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.program.zips import (
    HEADER,
    dump,
    edit_array,
    edit_header,
    edit_members,
    edit_text,
    entry_of,
    rezip,
    unzip,
)


class Case(NamedTuple):
    """Which of `file_programs` to start from, what to do to its bytes, and what the error must say (a regex)."""

    program: str
    edit: Callable[[bytes], bytes]
    says: str


# Damaged zips.


def patch(where: Callable[[bytes], int], new: bytes) -> Callable[[bytes], bytes]:
    """Overwrite bytes at the place that `where` finds."""

    def edited(data: bytes) -> bytes:
        at = where(data)
        return data[:at] + new + data[at + len(new) :]

    return edited


def local(offset: int) -> Callable[[bytes], int]:
    """A place in the first member's local header."""
    return lambda data: data.index(b"PK\3\4") + offset


def central(offset: int) -> Callable[[bytes], int]:
    """A place in the directory's first entry."""
    return lambda data: data.index(b"PK\1\2") + offset


def last_central(offset: int) -> Callable[[bytes], int]:
    return lambda data: data.rindex(b"PK\1\2") + offset


def end(offset: int) -> Callable[[bytes], int]:
    """A place in the record that ends the zip."""
    return lambda data: data.rindex(b"PK\5\6") + offset


def both(first: Callable[[bytes], bytes], second: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: second(first(data))


def extra_member(name: str, content: bytes = b"\0") -> Callable[[bytes], bytes]:
    return edit_members(lambda members: members.update({name: content}))


def twice(name: str) -> Callable[[bytes], bytes]:
    return lambda data: rezip([*unzip(data).items(), (name, unzip(data)[name])])


def overlapping(data: bytes) -> bytes:
    """The last member's entry points at the first member."""
    return patch(last_central(42), struct.pack("<I", 0))(data)


def many_members(data: bytes) -> bytes:
    return rezip([(f"9.a{number}", b"") for number in range(5000)] + list(unzip(data).items()))


def bomb(data: bytes) -> bytes:
    """50 MB of zeros in 50 kB."""
    members = unzip(data)
    members["1.weights.entries"] = bytes(50_000_000)
    return rezip(members, zipfile.ZIP_DEFLATED)


def nested_bomb(data: bytes) -> bytes:
    return rezip({**unzip(data), "1.weights.entries": bomb(data)}, zipfile.ZIP_LZMA)


class Evil:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("open('canary', 'w').close()",)


ZIPS: dict[str, Case] = {
    "empty file": Case("protonn", lambda data: b"", "it is empty"),
    "text": Case("protonn", lambda data: b"weights = [1, 2, 3]\n" * 9, "it is no zip"),
    "pickle": Case("protonn", lambda data: pickle.dumps(Evil()), "it is no zip"),
    "bare JSON": Case("protonn", lambda data: unzip(data)[HEADER], "it is no zip"),
    "only the zip's mark": Case("protonn", lambda data: data[:4], "cut short"),
    "empty zip": Case("protonn", lambda data: rezip({}), "it is no zip"),
    "truncated by a byte": Case("protonn", lambda data: data[:-1], "cut short"),
    "truncated by half": Case("protonn", lambda data: data[: len(data) // 2], "cut short"),
    "directory cut off": Case("protonn", lambda data: data[: data.index(b"PK\1\2")], "cut short"),
    "a byte out of the middle": Case("protonn", lambda data: data[:99] + data[100:], "cut short"),
    "bytes after the end": Case("protonn", lambda data: data + b"junk", "something was added"),
    "zip after the end": Case("protonn", lambda data: data + data, "something was added"),
    "bytes before the start": Case("protonn", lambda data: b"#!/bin/sh\n" + data, "it is no zip"),
    "zip before the start": Case("protonn", lambda data: rezip({"a": b"b"}) + data, "something was added"),
    "comment": Case("protonn", lambda data: data[:-2] + struct.pack("<H", 4) + b"note", "something was added"),
    "comment claimed": Case("protonn", patch(end(20), b"\5\0"), "has a comment"),
    "several disks": Case("protonn", patch(end(4), b"\1\0"), "several parts"),
    "too many members claimed": Case("protonn", patch(end(8), b"\xff\xff\xff\xff"), "directory is damaged"),
    "too few members claimed": Case("protonn", patch(end(8), b"\1\0\1\0"), "besides its members"),
    "no members claimed": Case("protonn", patch(end(8), b"\0\0\0\0"), "besides its members"),
    "oversized directory": Case("protonn", patch(end(12), b"\xff\xff\xff\xff"), "cut short"),
    "directory far away": Case("protonn", patch(end(16), b"\xff\xff\xff\xff"), "cut short"),
    "damaged directory": Case("protonn", patch(central(0), b"XX"), "directory is damaged"),
    "damaged local header": Case("protonn", patch(local(0), b"PK\3\4\xff\xff\xff\xff"), "does not agree"),
    "second local header without its mark": Case(
        "protonn", patch(lambda data: data.index(b"PK\3\4", 9), b"XX"), "does not agree"
    ),
    "other name in the local header": Case("protonn", patch(local(30), b"q"), "does not agree"),
    "long extra field in the local header": Case(
        "protonn", patch(local(28), b"\xff\xff"), "more than its zip has left"
    ),
    "long name in the directory": Case("protonn", patch(central(28), b"\xff\xff"), "is called"),
    "oversized member": Case(
        "protonn",
        both(patch(central(20), b"\xff\xff\xff\x7f" * 2), patch(local(18), b"\xff\xff\xff\x7f" * 2)),
        "claims 2,147,483,647 bytes",
    ),
    "ZIP64 sizes": Case(
        "protonn", both(patch(central(20), b"\xff" * 8), patch(local(18), b"\xff" * 8)), "claims 4,294,967,295 bytes"
    ),
    "packed size and size differ": Case("protonn", patch(central(24), b"\0\0\0\1"), "is compressed"),
    "wrong checksum": Case("protonn", lambda data: data.replace(b'"Input"', b'"Inpux"'), "checksum is wrong"),
    "encrypted": Case("protonn", patch(central(8), b"\1\0"), "is encrypted"),
    "compressed": Case("protonn", lambda data: rezip(unzip(data), zipfile.ZIP_DEFLATED), "is compressed"),
    "unknown compression": Case("protonn", patch(central(10), b"\x63\0"), "is compressed"),
    "zip bomb": Case("protonn", bomb, "is compressed"),
    "nested zip bomb": Case("protonn", nested_bomb, "is compressed"),
    "overlapping members": Case("protonn", overlapping, "just after the member before it"),
    "member offset beyond the file": Case("protonn", patch(central(42), b"\xff\xff\xff\xff"), "just after the member"),
    "JSON twice": Case("protonn", twice(HEADER), "two members of its zip are called program.json"),
    "array twice": Case("protonn", twice("1.bias"), "two members of its zip are called 1.bias"),
    "path upwards": Case("protonn", extra_member("../../canary"), "is called '../../canary'"),
    "absolute path": Case("protonn", extra_member("/tmp/canary"), "is called '/tmp/canary'"),
    "path with a drive": Case("protonn", extra_member("C:\\canary"), "is called"),
    "folder": Case("protonn", extra_member("1.weights/"), "is called"),
    "name with a line break": Case("protonn", extra_member("1.bias\n"), "is called"),
    "name with a null": Case("protonn", patch(lambda data: last_central(46)(data) + 1, b"\0"), "is called"),
    "name of no letters": Case("protonn", extra_member("1.ŵeights"), "is called"),
    "code beside the arrays": Case("protonn", extra_member("__init__.py", b"open('canary', 'w')"), "is called"),
    "very many members": Case("protonn", many_members, "belongs to no step"),
    "no JSON": Case("protonn", edit_members(lambda members: members.pop(HEADER)), "has no program.json"),
    "array missing": Case("protonn", edit_members(lambda members: members.pop("1.bias")), "1.bias is not in the file"),
    "array too many": Case("protonn", extra_member("1.spare"), "1.spare belongs to no step"),
}


# Wrong JSON.


def put(value: Any, *path: Any) -> Callable[[bytes], bytes]:
    """Set what the path leads to."""

    def edit(header: Any) -> None:
        for key in path[:-1]:
            header = header[key]
        header[path[-1]] = value

    return edit_header(edit)


def drop(*path: Any) -> Callable[[bytes], bytes]:
    """Delete what the path leads to."""

    def edit(header: Any) -> None:
        for key in path[:-1]:
            header = header[key]
        del header[path[-1]]

    return edit_header(edit)


def replace(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Replace text in the JSON, which must be there."""

    def edit(text: bytes) -> bytes:
        assert old in text
        return text.replace(old, new, 1)

    return edit_text(edit)


def whole_text(text: bytes) -> Callable[[bytes], bytes]:
    return edit_text(lambda _: text)


def step(field: str, value: Any, index: int = 1) -> Callable[[bytes], bytes]:
    return put(value, "steps", index, field)


def weights(field: str, value: Any) -> Callable[[bytes], bytes]:
    return put(value, "steps", 1, "weights", field)


def bias(field: str, value: Any) -> Callable[[bytes], bytes]:
    return put(value, "steps", 1, "bias", field)


CODE = "__import__('os').system('touch canary')"
HEADERS: dict[str, Case] = {
    "JSON empty": Case("protonn", whole_text(b""), "not the JSON"),
    "JSON cut short": Case("protonn", edit_text(lambda text: text[:-9]), "not the JSON"),
    "JSON not text": Case("protonn", whole_text(b"\xff\xfe\0"), "not the JSON"),
    "JSON a list": Case("protonn", whole_text(b"[]"), "not that of a Program"),
    "JSON a number": Case("protonn", whole_text(b"7"), "not that of a Program"),
    "JSON an expression": Case("protonn", whole_text(CODE.encode()), "not the JSON"),
    "JSON nested too deeply": Case("protonn", whole_text(b"[" * 100_000), "not the JSON"),
    "JSON nested too deeply, and closed": Case(
        "protonn", whole_text(b'{"a":' * 50_000 + b"1" + b"}" * 50_000), "not the JSON"
    ),
    "JSON of empty lists": Case("protonn", whole_text(dump([[]] * 50_000)), "not that of a Program"),
    "JSON too long": Case("protonn", whole_text(b" " * (1 << 23) + b"{}"), "at most 8,388,608"),
    "JSON with spaces": Case("protonn", edit_text(lambda text: text.replace(b",", b", ")), "not written as smidgen"),
    "JSON with a byte order mark": Case("protonn", edit_text(lambda text: b"\xef\xbb\xbf" + text), "not the JSON"),
    "key twice": Case("protonn", replace(b'"version":1', b'"version":1,"version":1'), "not written as smidgen"),
    "keys unsorted": Case("protonn", edit_text(lambda text: b'{"version":1,' + text[1:-13] + b"}"), "not written as"),
    "NaN in the JSON": Case("floats", replace(b'"kernel":', b'"kernel":NaN,"k":'), "not the JSON"),
    "Infinity in the JSON": Case("floats", replace(b'"kernel":', b'"kernel":-Infinity,"k":'), "not the JSON"),
    "a number beyond floats": Case("floats", replace(b'"kernel":', b'"kernel":1e999,"k":'), "not the JSON"),
    "an integer of 10,000 digits": Case(
        "protonn", replace(b'"version":1', b'"version":' + b"9" * 10_000), "a number has 10,000 digits"
    ),
    "another format": Case("protonn", put("another", "format"), "not that of a Program"),
    "format missing": Case("protonn", drop("format"), "not that of a Program"),
    "newer version": Case("protonn", put(2, "version"), "a newer smidgen wrote it.*; update smidgen"),
    "version zero": Case("protonn", put(0, "version"), "version is 0"),
    "version true": Case("protonn", put(True, "version"), "version is True"),
    "version in words": Case("protonn", put("1", "version"), "version is '1'"),
    "version missing": Case("protonn", drop("version"), "version is None"),
    "unknown key": Case("protonn", put(CODE, "on_load"), "must have the keys"),
    "steps missing": Case("protonn", drop("steps"), "must have the keys"),
    "steps an object": Case("protonn", put({}, "steps"), "steps must be a list"),
    "no steps": Case("float groups", lambda data: rezip({HEADER: no_steps(data)}), "a Program needs an Input"),
    "step a number": Case("protonn", put(3, "steps", 1), "step 1: it is 3"),
    "step of unknown kind": Case("protonn", step("step", "Softmax"), "its kind is 'Softmax'"),
    "step called like a module": Case("protonn", step("step", "os.system"), "its kind is 'os.system'"),
    "step called by a list": Case("protonn", step("step", ["Linear"]), r"its kind is \['Linear'\]"),
    "step without kind": Case("protonn", drop("steps", 1, "step"), "its kind is None"),
    "Input last": Case("float groups", edit_header(lambda header: header["steps"].reverse()), "step"),
    "two Inputs": Case("float groups", edit_header(lambda h: h["steps"].insert(0, h["steps"][0])), "step"),
    "unknown field": Case("protonn", step("eval", CODE), "has no field 'eval'"),
    "dunder field": Case("protonn", step("__class__", "os"), "has no field '__class__'"),
    "field missing": Case("protonn", drop("steps", 0, "raw"), "lacks the field raw"),
    "matrix missing": Case("protonn", drop("steps", 1, "weights"), "lacks the field weights"),
    "matrix a number": Case("protonn", step("weights", 5), "weights is 5"),
    "matrix a list": Case("protonn", step("weights", [[1, 2], [3, 4]]), r"weights is \[\[1, 2\], \[3, 4\]\]"),
    "matrix a kernel": Case("protonn", step("weights", {"table": 1, "shift": 9}), "lacks one of format"),
    "matrix without format": Case("protonn", drop("steps", 1, "weights", "format"), "lacks one of format"),
    "unknown matrix format": Case("protonn", weights("format", "int3"), "format is 'int3'"),
    "matrix format an object": Case("protonn", weights("format", {}), "format is {}"),
    "unknown storage": Case("protonn", weights("storage", "csr"), "storage is 'csr'"),
    "storage a null": Case("protonn", weights("storage", None), "storage is None"),
    "storage that the format has not": Case("hamming", weights("storage", "gap4"), "storage is 'gap4'"),
    "storage of other parts": Case("protonn", weights("storage", "gap8"), "has the parts counts, gaps, values"),
    "shape of three sides": Case("protonn", weights("shape", [5, 2, 10]), r"shape of .* is \[5, 2, 10\]"),
    "shape a number": Case("protonn", weights("shape", 100), "shape of .* is 100"),
    "negative shape": Case("protonn", weights("shape", [-5, 20]), "a side of a matrix is -5"),
    "zero shape": Case("protonn", weights("shape", [0, 20]), "a side of a matrix is 0"),
    "oversized shape": Case("protonn", weights("shape", [2**40, 20]), "a side of a matrix is 1099511627776"),
    "shape beyond the parts": Case("protonn", weights("shape", [65_535, 65_535]), "it|they must be 65,535 of uint8"),
    "fewer columns than the gaps reach": Case("protonn", weights("shape", [5, 19]), "runs past its end"),
    "dense shape beyond the parts": Case(
        "amm", put([60_000, 60_000], "steps", 1, "weights", "shape"), "must be 60,000 of uint8"
    ),
    "fractional shape": Case("protonn", weights("shape", [5.0, 20]), "a side of a matrix is 5.0"),
    "true shape": Case("protonn", weights("shape", [True, 20]), "a side of a matrix is True"),
    "nested shape": Case("protonn", weights("shape", [[5], 20]), r"a side of a matrix is \[5\]"),
    "array without dtype": Case("protonn", drop("steps", 1, "bias", "dtype"), "must have the keys"),
    "array with a key too many": Case("protonn", bias("order", "F"), "must have the keys"),
    "array of unknown dtype": Case("protonn", bias("dtype", "complex128"), "dtype of 1.bias is 'complex128'"),
    "array of objects": Case("protonn", bias("dtype", "object"), "dtype of 1.bias is 'object'"),
    "array of big-endian numbers": Case("protonn", bias("dtype", ">i2"), "dtype of 1.bias is '>i2'"),
    "array of wrong dtype": Case("protonn", bias("dtype", "uint16"), "dtype uint16; it must be int16 or int32"),
    "array of too wide a dtype": Case("protonn", bias("dtype", "int32"), "10 bytes where 20 are claimed"),
    "dtype a list": Case("protonn", bias("dtype", [["a", "i2"]]), "dtype of 1.bias is"),
    "array negative": Case("protonn", bias("shape", [-5]), "shape of 1.bias is"),
    "array of two dimensions": Case("protonn", bias("shape", [5, 1]), "shape of 1.bias is"),
    "array without dimension": Case("protonn", bias("shape", []), "shape of 1.bias is"),
    "array length a word": Case("protonn", bias("shape", ["5"]), "shape of 1.bias is"),
    "array oversized": Case("protonn", bias("shape", [2**62]), "are claimed"),
    "array from elsewhere": Case("protonn", bias("array", "../../etc/passwd"), "an array is called"),
    "array of another step": Case("protonn", bias("array", "3.bias"), "an array is called '3.bias' where 1.bias"),
    "array name a number": Case("protonn", bias("array", 1), "an array is called 1"),
    "array where a number belongs": Case(
        "protonn", edit_header(lambda h: h["steps"][1]["rescale"].update(shift=h["steps"][1]["bias"])), "cannot be"
    ),
    "number where an array belongs": Case("protonn", step("bias", 5), "step 1: bias is 5, which it cannot be"),
    "bias null": Case("protonn", step("bias", None), "belongs to no step"),
    "bias missing": Case("protonn", drop("steps", 1, "bias"), "belongs to no step"),
    "default written out": Case("protonn", step("shift", 0, index=0), "not written as smidgen writes it"),
    "whole number as a float": Case("protonn", step("n_features", 20.0, index=0), "n_features is 20.0"),
    "float with more digits than float32": Case("floats", put(0.1, "steps", 2, "kernel"), "not written as smidgen"),
    "features true": Case("protonn", step("n_features", True, index=0), "n_features is True"),
    "features a list": Case("protonn", step("n_features", [20], index=0), "n_features is \\[20\\]"),
    "features negative": Case("protonn", step("n_features", -20, index=0), "number of features is -20"),
    "features too many": Case("protonn", step("n_features", 65_536, index=0), "number of features is 65536"),
    "features that no step takes": Case("protonn", step("n_features", 65_535, index=0), "takes 20 values where 65,535"),
    "unknown raw type": Case("protonn", step("raw", "uint64", index=0), "raw type is 'uint64'"),
    "unknown output": Case("protonn", step("output", "double", index=0), "output is 'double'"),
    "trusted range of one": Case("protonn", step("trusted_range", [3], index=0), "a pair"),
    "trusted range of words": Case("protonn", step("trusted_range", ["a", "b"], index=0), "trusted_range is"),
    "trusted range reversed": Case("protonn", step("trusted_range", [9, 3], index=0), "high end of the trusted range"),
    "infinite offset": Case("protonn", step("offset", 1e300, index=0), "offset is"),
    "shift a word": Case("sparsenet", step("shift", "4", index=0), "shift is '4'"),
    "shift too large": Case("sparsenet", step("shift", 16, index=0), "shift is 16"),
    "missing marker an array": Case(
        "hamming", edit_header(lambda h: h["steps"][0].update(missing=h["steps"][0]["fill"])), "missing is"
    ),
    "missing marker out of range": Case("hamming", step("missing", 40_000, index=0), "missing marker is 40000"),
    "factor beyond float32": Case("amm", step("base", 126, index=0), "which float32 cannot hold"),
    "base beyond float32": Case("amm", step("base", 127, index=0), "base exponent is 127"),
    "unknown activation": Case("protonn", step("activation", "tanh"), "activation is 'tanh'"),
    "activation an object": Case("protonn", step("activation", {"step": "Input"}), "activation is"),
    "rescale a list": Case("protonn", step("rescale", [90, 7]), "rescale is"),
    "rescale unknown field": Case("protonn", put(1, "steps", 1, "rescale", "zero"), "Rescale has no field 'zero'"),
    "rescale without shift": Case("protonn", drop("steps", 1, "rescale", "shift"), "Rescale lacks the field shift"),
    "rescale shift too large": Case("protonn", put(64, "steps", 1, "rescale", "shift"), "is 64"),
    "rescale multiplier negative": Case("protonn", put(-1, "steps", 1, "rescale", "multiplier"), "multiplier is -1"),
    "kernel without table": Case("protonn", drop("steps", 2, "kernel", "table"), "Gaussian lacks the field table"),
    "kernel a number": Case("protonn", step("kernel", 0.5, index=2), "Gaussian is a table"),
    "kernel shift too small": Case("protonn", put(7, "steps", 2, "kernel", "shift"), "Gaussian's shift is 7"),
    "kernel negative": Case("floats", step("kernel", -0.5, index=2), "must be positive"),
    "kernel of a huge integer": Case("floats", step("kernel", 10**19, index=2), "not written as smidgen"),
    "points out of bytes": Case("protonn", step("shift", 5, index=2), "they must be bytes"),
    "unknown metric": Case("protonn", step("metric", "cosine", index=2), "metric is 'cosine'"),
    "unknown operation": Case("hamming", step("operation", "sum", index=3), "operation is 'sum'"),
    "floor a fraction among integers": Case("amm", step("floor", 0.5, index=2), "it must be whole"),
    "floor beyond int32": Case("amm", step("floor", 2**40, index=2), "floor is 1099511627776"),
    "floor with min": Case("hamming", step("floor", 3, index=3), "goes with max alone"),
    "unknown decision": Case("protonn", step("kind", "softmax", index=4), "kind is 'softmax'"),
    "decision a number": Case("protonn", step("kind", 0, index=4), "kind is 0"),
    "threshold of several scores": Case("protonn", step("kind", "threshold", index=4), "takes a single score, not 3"),
    "more best labels than there are": Case("sparsenet", step("k", 5, index=3), "5 best of only 4"),
    "no best labels": Case("sparsenet", step("k", 0, index=3), "best labels is 0"),
    "classes an object": Case("protonn", put({"a": 1}, "classes"), "classes must be a list"),
    "classes a word": Case("protonn", put("abc", "classes"), "classes must be a list"),
    "too few classes": Case("protonn", put(["a", "b"], "classes"), "there are 2 classes where 3 are needed"),
    "class twice": Case("protonn", put(["a", "b", "a"], "classes"), "two of the classes are the same"),
    "class a list": Case("protonn", put(["a", "b", ["c"]], "classes"), "a list of words or numbers"),
    "class an object": Case("protonn", put(["a", "b", {"c": {}}], "classes"), "a list of words or numbers"),
    "classes of different types": Case("protonn", put(["a", "b", 3], "classes"), "of different types"),
    "class a null": Case("protonn", put(["a", "b", None], "classes"), "a list of words or numbers"),
    "class with half a character": Case("protonn", put(["a", "b", "\ud800"], "classes"), "no number or text"),
    "class beyond 64 bits": Case("protonn", put([1, 2, 2**64 - 1], "classes"), "no number or text"),
    "feature name a number": Case("hamming", put([*range(9)], "feature_names"), "among the feature names is a int"),
    "too few feature names": Case("hamming", put(["x"], "feature_names"), "1 feature names where 9"),
}


def no_steps(data: bytes) -> bytes:
    return dump({"classes": None, "feature_names": None, "format": "smidgen program", "steps": [], "version": 1})


# Wrong arrays.


def fill_with(name: str, value: int) -> Callable[[bytes], bytes]:
    def edit(data: bytearray) -> None:
        data[:] = bytes([value]) * len(data)

    return edit_array(name, edit)


def set_byte(name: str, index: int, value: int) -> Callable[[bytes], bytes]:
    return edit_array(name, lambda data: data.__setitem__(index, value))


def set_float(name: str, value: float) -> Callable[[bytes], bytes]:
    return edit_array(name, lambda data: data.__setitem__(slice(0, 4), struct.pack("<f", value)))


def move_entry(data: bytes) -> bytes:
    """The first row of a gap matrix owns an entry more, the last one an entry less."""

    def edit(counts: bytearray) -> None:
        counts[0] += 1
        counts[-1] -= 1

    return edit_array("1.weights.counts", edit)(data)


def claim(name: str, **fields: Any) -> Callable[[bytes], bytes]:
    """Change what the JSON says of an array."""
    return edit_header(lambda header: entry_of(header, name).update(fields))


def wide_counts(data: bytes) -> bytes:
    """Counts of two bytes each where one would do."""
    widened = edit_array("3.counts", lambda counts: counts.__setitem__(slice(None), b"\1\0\2\0\3\0"))(data)
    return claim("3.counts", dtype="uint16", shape=[3])(widened)


def nibble_padding(data: bytes) -> bytes:
    """The unused half of a byte, in the first row with an odd number of entries, is not 0."""
    counts = unzip(data)["1.weights.counts"]
    row = next(row for row, count in enumerate(counts) if count % 2)
    last = sum((count + 1) // 2 for count in counts[: row + 1]) - 1
    return edit_array("1.weights.values", lambda values: values.__setitem__(last, values[last] | 0xF0))(data)


ARRAYS: dict[str, Case] = {
    "array a byte short": Case("protonn", edit_members(lambda m: m.update({"1.bias": m["1.bias"][:-1]})), "9 bytes"),
    "array a byte long": Case("protonn", edit_members(lambda m: m.update({"1.bias": m["1.bias"] + b"1"})), "11 bytes"),
    "array empty": Case("protonn", edit_array("1.bias", lambda data: data.clear()), "bias has 0 entries"),
    "array an entry short": Case("protonn", edit_array("1.bias", lambda d: d.__delitem__(slice(2))), "has 4 entries"),
    "array an entry long": Case("protonn", edit_array("1.bias", lambda d: d.extend(b"\1\1")), "has 6 entries"),
    "NaN offset": Case("floats", set_float("0.offset", float("nan")), "offset has an entry that is not a finite"),
    "infinite multiplier": Case("floats", set_float("0.multiplier", float("inf")), "not a finite number"),
    "NaN fill": Case("floats", set_float("0.fill", float("nan")), "fill has an entry that is not a finite"),
    "NaN bias": Case("floats", set_float("1.bias", float("nan")), "bias has an entry that is not a finite"),
    "NaN weight": Case("floats", set_float("1.weights.values", float("nan")), "not a finite number"),
    "infinite point": Case("floats", set_float("2.points.values", float("-inf")), "not a finite number"),
    "NaN in a gap matrix": Case("floats", set_float("3.weights.values", float("nan")), "not a finite number"),
    "NaN scale": Case("regression", set_float("2.scale", float("nan")), "scale has an entry that is not a finite"),
    "negative zero": Case("floats", set_float("1.weights.values", -0.0), "not packed as|not written as"),
    "all-zero bias": Case("protonn", fill_with("1.bias", 0), "bias is all zeros"),
    "nibble out of range": Case("amm", fill_with("0.shift", 16), "a shift is 16"),
    "owners that promise too many": Case("hamming", set_byte("3.counts", 0, 200), "takes 205 values where 6 come in"),
    "owners that promise too few": Case("hamming", set_byte("3.counts", 2, 1), "takes 4 values where 6 come in"),
    "class without entries": Case("hamming", set_byte("3.counts", 0, 0), "class 0 of GroupReduce has no entries"),
    "owners wider than they need be": Case("hamming", wide_counts, "uint16 where uint8 would do"),
    "row counts beyond the entries": Case("protonn", fill_with("1.weights.counts", 255), "counts .* add to 1,275"),
    "row counts below the entries": Case("protonn", fill_with("1.weights.counts", 0), "add to 0 where"),
    "row counts a row short": Case("protonn", edit_array("1.weights.counts", lambda d: d.pop()), "must be 5 of uint8"),
    "row that owns a neighbour's entry": Case("amm", move_entry, "runs past its end|not packed as"),
    "gap4 runs past the row": Case("protonn", fill_with("1.weights.entries", 0x1F), "runs past its end"),
    "gap8 runs past the row": Case("amm", fill_with("1.weights.gaps", 255), "runs past its end"),
    "gap8 one past the row": Case("amm", set_byte("1.weights.gaps", -1, 11), "runs past its end"),
    "gap8 value 0": Case("amm", set_byte("1.weights.values", 0, 0), "not packed as smidgen packs it"),
    "gap4 value 0": Case(
        "protonn", edit_array("1.weights.entries", lambda d: d.__setitem__(0, d[0] & 15)), "not packed"
    ),
    "gap8 nibble padding": Case("protonn gap8", nibble_padding, "not packed as smidgen packs it"),
    "gaps shorter than values": Case("amm", edit_array("1.weights.gaps", lambda d: d.pop()), "are stored"),
    "values shorter than gaps": Case("amm", edit_array("1.weights.values", lambda d: d.pop()), "must be"),
    "bitmap too short": Case("sparsenet", edit_array("1.weights.bitmap", lambda d: d.pop()), "must be 12 of uint8"),
    "bitmap padding": Case("sparsenet", set_byte("1.weights.bitmap", 1, 0xFF), "must be|not packed as"),
    "bitmap with a bit too many": Case("floats", fill_with("1.weights.bitmap", 255), "must be 40 of float32"),
    "dense too short": Case("protonn", edit_array("2.points.values", lambda d: d.pop()), "must be 21 of uint8"),
    "dense too long": Case("protonn", edit_array("2.points.values", lambda d: d.extend(b"\x88" * 9)), "must be 21"),
    "dense nibble padding": Case("protonn", fill_with("2.points.values", 0x99), "not packed as smidgen packs it"),
    "bits padding": Case("hamming", fill_with("2.points.values", 0xFF), "not packed as smidgen packs it"),
    "kernel that rises": Case("protonn", set_byte("2.kernel.table", 3, 255), "must never rise"),
    "kernel all zeros": Case("protonn", fill_with("2.kernel.table", 0), "table is all zeros"),
    "kernel of one entry": Case(
        "protonn", edit_array("2.kernel.table", lambda d: d.__delitem__(slice(1, None))), "1 ent"
    ),
    "kernel of 256 entries": Case(
        "protonn", edit_array("2.kernel.table", lambda d: d.extend(bytes(250))), "256 entries"
    ),
    "sum beyond 32 bits": Case(
        "protonn", edit_array("3.bias", lambda d: d.__setitem__(slice(4), b"\xff\xff\xff\x7f")), "no"
    ),
    "codes beyond the width": Case("regression", fill_with("0.codes", 255), "takes 10 values where 1,020 come in"),
    "codes all zero": Case("regression", fill_with("0.codes", 0), "should have no codes"),
}


MALFORMED: dict[str, Case] = {**ZIPS, **HEADERS, **ARRAYS}
