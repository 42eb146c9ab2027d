"""What `read_table` does before any reader sees a byte: finding the file, and its format."""

import gzip
import io
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from smidgen.data import read_table
from smidgen.errors import DataError, UsageError


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "hello")
    return out.getvalue()


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return out.getvalue()


def test_no_such_file(write, refusal, tmp_path):
    write("a\n1\n", "gestures.csv")
    assert refusal(tmp_path / "gesturs.csv") == "there is no file FILE, did you mean 'gestures.csv'"
    assert refusal(tmp_path / "zzz.csv") == "there is no file FILE"
    assert refusal(tmp_path / "nowhere" / "x.csv").startswith("there is no file FILE, nor a folder ")


def test_a_directory(refusal, tmp_path):
    assert refusal(tmp_path) == "FILE is a directory, give the file in it that holds the table"


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
@pytest.mark.parametrize("name", ["rows.csv", "rows.libsvm", "rows"])
def test_an_empty_file(write, refusal, content, name):
    assert refusal(write(content, name)) == "FILE is empty"


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"\x7fELF\0\1\2", "rows.csv", "FILE is a binary file of no known format (CSV, TSV and other delimited text"),
        (b"a,b\n1,\0\n", "rows.csv", "FILE is a binary file of no known format ("),
        ("a,b\n1,2\n".encode("utf-16"), "rows.csv", "FILE is not UTF-8 but UTF-16, save it again as UTF-8"),
        (zipped("[Content_Types].xml"), "rows.csv", "FILE is an Excel workbook, save its sheet as CSV"),
        (zipped("rows.csv"), "rows.zip", "FILE is a zip file but no NPZ file, unpack it first ("),
        (b"PK\3\4 and no more", "rows.npz", "FILE is a damaged zip or NPZ file, fetch or save it again"),
        (b"no zip", "rows.npz", "FILE is damaged, or not the NPZ file its name says"),
        (b"no parquet", "rows.parquet", "FILE is damaged, or not the Parquet file its name says"),
        (b"PAR1 and no more", "rows.parquet", "FILE is a damaged Parquet file, fetch or save it again"),
        (npy(), "rows.npy", "FILE holds a single NumPy array, save X and y together with numpy.savez instead"),
        (
            gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9],
            "rows.csv.gz",
            "FILE is a damaged gzip file, fetch or pack it again",
        ),
        (b"\x1f\x8b junk", "rows.csv.gz", "FILE is a damaged gzip file, fetch or pack it again"),
    ],
)
def test_files_of_no_use(write, refusal, content, name, says):
    assert refusal(write(content, name)).startswith(says)


@pytest.mark.parametrize("name", ["rows.csv", "rows.npz", "rows", "rows.npz.gz"])
def test_the_first_bytes_are_believed_before_the_name(write, name):
    content = npz(X=np.ones((2, 3)), y=np.array([0, 1]))
    table = read_table(write(gzip.compress(content) if name.endswith("gz") else content, name))
    assert table.X.shape == (2, 3)


@pytest.mark.parametrize("name", ["rows.txt", "rows", "a9a", "rows.svm", "rows.libsvm", "rows.svmlight"])
def test_libsvm_text_is_known_by_name_or_content(write, name):
    assert read_table(write("# made by hand\n-1 3:1 7:0.5\n", name)).X.shape == (1, 7)
    assert read_table(write(gzip.compress(b"-1 3:1 7:0.5\n"), f"{name}.gz")).X.shape == (1, 7)


@pytest.mark.parametrize("text", ["t,x\n1:2,3\n", "1 2,5\n3 4,5\n"])
def test_other_text_is_delimited(write, text):
    assert isinstance(read_table(write(text, "rows.txt"), 0).X, np.ndarray)


def test_a_csv_is_taken_at_its_word(write, refusal):
    assert "is text in a column of numbers" in refusal(write("1 1:2\n2 1:3\n", "rows.csv"), header=False)


def test_part_is_for_npz_files(write):
    with pytest.raises(UsageError, match="NPZ"):
        read_table(write("a\n1\n"), part="train")


def test_a_file_that_may_not_be_read(write, refusal, monkeypatch):
    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert refusal(write("a\n1\n")) == "FILE cannot be read: Permission denied"


def parquet_bytes() -> bytes:
    out = io.BytesIO()
    words = pa.array(["x", "y", "z"])
    parquet.write_table(pa.table({"a": [1.0, 2, 3], "t": words, "d": words.dictionary_encode()}), out)
    return out.getvalue()


WHOLE = {
    "rows.csv": b'a,b,t\n1,2.5,x\n"3",-4e1,"y ""q"""\n5,,z\n',
    "rows.txt": b"1;2,5;x\n3;4;y\n",
    "rows.libsvm": b"1 1:2 3:4.5\n-1 2:1 # c\n",
    "rows.npz": npz(X=np.arange(12.0).reshape(3, 4), y=np.array([1, 2, 3])),
    "rows.parquet": parquet_bytes(),
}
SIGNS = b',;\n\r"\t |.:01ax-+e#?'


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content with one to three bytes changed, added or taken out, or cut short."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(out) + 1)
        what = rng.randrange(5)
        if what == 0:
            out[i : i + 1] = bytes([rng.randrange(256)])
        elif what == 1:
            out[i : i + 1] = bytes([rng.choice(SIGNS)])
        elif what == 2:
            out[i:i] = bytes([rng.choice(SIGNS)])
        elif what == 3:
            del out[i : i + rng.randint(1, 8)]
        else:
            del out[i:]
    return bytes(out)


@pytest.mark.parametrize("name", WHOLE)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path, name):
    rng, path = random.Random(0), tmp_path / name
    sentences = []
    for _ in range(300):
        path.write_bytes(damaged(WHOLE[name], rng))
        target = None if name in ("rows.npz", "rows.libsvm") else rng.choice([None, "t", -1, "2"])
        try:
            read_table(path, target, missing="keep", header=rng.choice([None, True, False]))
        except DataError as error:
            sentences.append(str(error))
    assert len(sentences) > 30
    assert all(str(path) in sentence and "\n" not in sentence for sentence in sentences)


def test_a_name_that_no_file_can_have():
    with pytest.raises(DataError, match="cannot be read"):
        read_table("a\0b.csv")


def test_importing_the_room_loads_no_heavy_library():
    code = "import sys, smidgen.data; print([m for m in ('sklearn', 'scipy', 'pyarrow', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
