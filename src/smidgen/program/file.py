"""The `.smg` file: a zip of `program.json` and raw little-endian arrays, none of them compressed.

Writing is whole or not at all, and the same Program gives the same bytes on every machine. Reading knows only the
little of zip that stored members need and checks every size against the file before it takes any memory; so nothing
can unfold, and no name is ever used as a path. May import this package and the standard library.
"""

import contextlib
import io
import json
import os
import re
import secrets
import stat
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

from smidgen.errors import ModelFileError, ProgramError
from smidgen.program.checks import require, shown
from smidgen.program.document import Document, canonical

HEADER = "program.json"
MEMBER_NAME = re.compile(rb"program\.json|[0-9]{1,5}(\.[a-z0-9_]{1,40}){1,4}")
LARGEST_FILE = 1 << 26
LARGEST_HEADER = 1 << 23
LONGEST_INTEGER = 20
"""The digits of any 64-bit integer, and its sign: longer ones are refused unread."""

DATE = (1980, 1, 1, 0, 0, 0)
UNIX = 3
PLAIN_FILE = (stat.S_IFREG | 0o644) << 16

# The records of a zip, as in its specification.
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
LOCAL_MARK, CENTRAL_MARK, END_MARK = b"PK\3\4", b"PK\1\2", b"PK\5\6"
ENCRYPTED = 1


# Writing.


def write(path: str | os.PathLike[str], content: Document) -> None:
    """Write a model file: to a temporary name in the same folder, then renamed; a link stays and its file is new."""
    try:
        target = Path(os.path.realpath(path))
        require(not _is_special(target), "it is no regular file")  # root could rename a file over /dev/null
        _write_whole(target, _zipped(content))
    except (OSError, ValueError) as error:  # ValueError: too large, or a name that no file can have
        raise ModelFileError(f"cannot write {os.fspath(path)}: {_reason(error)}") from None


def _is_special(target: Path) -> bool:
    """Whether a device, a pipe or a socket stands there."""
    return target.exists() and not target.is_file() and not target.is_dir()


def _write_whole(target: Path, data: bytes) -> None:
    temporary = target.parent / f".smidgen-{secrets.token_hex(8)}.tmp"
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _zipped(content: Document) -> bytes:
    """The zip's bytes: fixed date, system and rights, the JSON first, then the arrays in the order of their names."""
    header, buffer = canonical(content.header), io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in [(HEADER, header), *sorted(content.arrays.items())]:
            member = zipfile.ZipInfo(name, DATE)
            member.create_system, member.external_attr = UNIX, PLAIN_FILE
            archive.writestr(member, data)
    for what, size, largest in (("names", len(header), LARGEST_HEADER), ("file", buffer.tell(), LARGEST_FILE)):
        require(size <= largest, f"its {what} would take {size:,} bytes, more than the {largest:,} that can be loaded")
    return buffer.getvalue()


# Reading.


def read(path: str | os.PathLike[str]) -> Document:
    """Read a model file that may come from anywhere; `ModelFileError` for whatever is wrong with it."""
    try:
        members = _members(_file_bytes(Path(path)))
        require(HEADER in members, f"its zip has no {HEADER}")
        return Document(_parsed(members.pop(HEADER)), members)
    except ProgramError as error:
        raise ModelFileError(f"cannot load {os.fspath(path)}: {error}") from None


def _file_bytes(path: Path) -> bytes:
    """All of a file that is one, and not too large."""
    try:
        status = path.stat()
        require(not stat.S_ISDIR(status.st_mode), "it is a directory; give the name of a file")
        require(stat.S_ISREG(status.st_mode), "it is no regular file")
        require(status.st_size > 0, "it is empty")
        sentence = f"it has {status.st_size:,} bytes, and no model file has more than {LARGEST_FILE:,}"
        require(status.st_size <= LARGEST_FILE, sentence)
        with path.open("rb") as stream:
            return stream.read(status.st_size)
    except ProgramError:
        raise
    except FileNotFoundError:
        raise ProgramError("there is no such file") from None
    except (OSError, ValueError) as error:
        raise ProgramError(_reason(error)) from None


def _members(data: bytes) -> dict[str, bytes]:
    """Name → content of a zip's members, which must fill it without overlaps, gaps, or anything before or after."""
    require(data.startswith(LOCAL_MARK), "it is no zip, as model files are; was it saved by smidgen?")
    start, size, count = _directory(data)
    members: dict[str, bytes] = {}
    position, entry = 0, start
    for _ in range(count):
        require(entry + CENTRAL.size <= start + size, "its zip's directory is damaged")
        mark, _, _, *record, n_name, n_extra, n_comment, _, _, _, offset = CENTRAL.unpack_from(data, entry)
        require(mark == CENTRAL_MARK, "its zip's directory is damaged")
        entry += CENTRAL.size
        name = _member_name(data[entry : entry + n_name])
        require(name not in members, f"two members of its zip are called {name}")
        require(offset == position, f"{name} does not stand in its zip just after the member before it")
        members[name], position = _content(data, position, start, name, record)
        entry += n_name + n_extra + n_comment
    require(entry == start + size and position == start, "its zip holds something besides its members")
    return members


def _directory(data: bytes) -> tuple[int, int, int]:
    """Where the zip's directory starts, its bytes, and how many members it lists; it must reach to the file's end."""
    end = len(data) - END.size
    require(data[max(end, 0) :].startswith(END_MARK), "it is cut short, or something was added at its end")
    _, disk, first_disk, here, count, size, start, comment = END.unpack_from(data, end)
    require(start + size == end, "its zip is cut short, or something was added to it")
    require(disk == first_disk == comment == 0 and here == count, "its zip is in several parts, or has a comment")
    return start, size, count


def _member_name(raw: bytes) -> str:
    require(MEMBER_NAME.fullmatch(raw) is not None, f"a member of its zip is called {shown(raw)[1:]}")
    return raw.decode("ascii")


def _content(data: bytes, position: int, limit: int, name: str, record: list[int]) -> tuple[bytes, int]:
    """The bytes of the member whose local header stands at a position, and where the next one stands.

    `record` is what the directory says: flags, method, time, date, CRC, packed size, size.
    """
    flags, method, _, _, crc, packed, size = record
    require(not flags & ENCRYPTED, f"{name} is encrypted; model files never are")
    require(method == zipfile.ZIP_STORED and packed == size, f"{name} is compressed; model files never are")
    require(position + LOCAL.size <= limit, f"the header of {name} runs past the end of its zip")
    mark, _, *local_record, n_name, n_extra = LOCAL.unpack_from(data, position)
    name_end = position + LOCAL.size + n_name
    first = name_end + n_extra
    same = data[position + LOCAL.size : name_end] == name.encode() and local_record == record
    require(mark == LOCAL_MARK and same, f"the header of {name} does not agree with its zip's directory")
    require(first + size <= limit, f"{name} claims {size:,} bytes, more than its zip has left")
    content = data[first : first + size]
    require(zlib.crc32(content) == crc, f"{name} is damaged: its checksum is wrong")
    return content, first + size


def _parsed(raw: bytes) -> Any:
    """The JSON, if it is written as `canonical` writes it."""
    require(len(raw) <= LARGEST_HEADER, f"its {HEADER} has {len(raw):,} bytes; at most {LARGEST_HEADER:,} are read")
    try:
        header = json.loads(raw.decode("ascii"), parse_int=_integer)
        rewritten = canonical(header)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"its {HEADER} is not the JSON that smidgen writes: {error}") from None
    require(rewritten == raw, f"its {HEADER} is not written as smidgen writes it: keys sorted, each once, no spaces")
    return header


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _reason(error: Exception) -> str:
    """What the system says, without the number and the name that it adds."""
    return (getattr(error, "strerror", None) or str(error)).lower()
