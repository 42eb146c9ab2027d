"""Taking a model file apart and putting it together again, faults included."""

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

Members = dict[str, bytes]
HEADER = "program.json"


def unzip(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezip(members: Members | list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of the members, in their order; a name may stand twice."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, data in members.items() if isinstance(members, dict) else members:
            archive.writestr(zipfile.ZipInfo(name, (2020, 2, 2, 2, 2, 2)), data, compression)
    return buffer.getvalue()


def dump(header: Any) -> bytes:
    """JSON as the format wants it, but with whatever numbers there are."""
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


def edit_members(edit: Callable[[Members], object]) -> Callable[[bytes], bytes]:
    """An edit of a dict of members → an edit of a file's bytes."""

    def edited(data: bytes) -> bytes:
        members = unzip(data)
        edit(members)
        return rezip(members)

    return edited


def edit_text(edit: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """An edit of program.json's bytes → an edit of a file's bytes."""
    return edit_members(lambda members: members.update({HEADER: edit(members[HEADER])}))


def edit_header(edit: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    """An edit of the JSON object → an edit of a file's bytes."""

    def edited(text: bytes) -> bytes:
        header = json.loads(text)
        edit(header)
        return dump(header)

    return edit_text(edited)


def edit_array(name: str, edit: Callable[[bytearray], object]) -> Callable[[bytes], bytes]:
    """An edit of one array's bytes (its claimed length follows) → an edit of a file's bytes."""

    def edited(members: Members) -> None:
        data = bytearray(members[name])
        before = len(data)
        edit(data)
        members[name] = bytes(data)
        header = json.loads(members[HEADER])
        entry = entry_of(header, name)
        entry["shape"] = [len(data) * entry["shape"][0] // before]
        members[HEADER] = dump(header)

    return edit_members(edited)


def entry_of(header: Any, name: str) -> Any:
    """The object that describes an array."""
    step, *fields = name.split(".")
    found = header["steps"][int(step)]
    for field in fields:
        found = found[field]
    return found
