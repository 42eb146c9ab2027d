"""Export: what lands in the folder is what emit writes, whole, and nothing else is touched."""

from pathlib import Path

import numpy as np
import pytest

from smidgen.emit import c_files
from smidgen.errors import DataError, ModelFileError, UsageError
from smidgen.jobs import export as module
from smidgen.jobs.export import run_export
from smidgen.program import Decide, Input, Linear, Matrix, Program

PROGRAM = Program(
    (Input("uint8", 2), Linear(Matrix.pack([[1, -2], [3, 0]], "int4")), Decide("argmax")),
    classes=("rest", "wave"),
    feature_names=("ax", "ay"),
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    PROGRAM.save(tmp_path / "wave.smg")
    return tmp_path / "wave.smg"


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_c_in_a_new_folder(model: Path, tmp_path: Path) -> None:
    result = run_export(model, tmp_path / "out", name="wave")
    assert {file: (tmp_path / "out" / file).read_text() for file in result.files} == c_files(PROGRAM, "wave")
    assert names(tmp_path) == sorted(["wave.smg", *(f"out/{file}" for file in c_files(PROGRAM, "wave"))])
    assert (result.model, result.model_bytes, result.to) == (PROGRAM.hash, PROGRAM.cost().model_bytes, "c")
    assert run_export(model, tmp_path / "alone", header_only=True).files == ("model.h",)


def test_what_is_there_already_stays_or_is_replaced(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "src").mkdir(parents=True)
    (out / "notes.txt").write_text("mine")
    (out / "model.h").write_text("old")
    run_export(model, out)
    assert names(out) == sorted(["notes.txt", *c_files(PROGRAM)])
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "model.h").read_text() != "old"
    files = run_export(model, out, "arduino").files
    assert set(files) < set(names(out))


def test_an_arduino_library_with_rows_for_its_self_test(model: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("gesture,ay,ax\nwave,201,17\n")  # in another order, with the target among them
    run_export(model, tmp_path / "lib", "arduino", rows=rows, target="gesture")
    sketch = (tmp_path / "lib/examples/SelfTest/SelfTest.ino").read_text()
    assert "17, 201" in " ".join(sketch.split())


def test_a_failure_leaves_nothing(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(program, folder, name, header_only):
        Path(folder).mkdir()
        Path(folder, "model.h").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_c", half)
    with pytest.raises(UsageError, match=r"cannot write into '.*out': No space left on device"):
        run_export(model, tmp_path / "out")
    assert names(tmp_path) == ["wave.smg"]
    assert list(tmp_path.iterdir()) == [model]


def test_what_makes_no_sense(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a file; name a folder"):
        run_export(model, model)
    with pytest.raises(UsageError, match="cannot write into"):
        run_export(model, tmp_path / "nowhere" / "out")
    with pytest.raises(UsageError, match="--header-only goes with --to c"):
        run_export(model, tmp_path / "out", "arduino", header_only=True)
    with pytest.raises(UsageError, match="they go with --to arduino"):
        run_export(model, tmp_path / "out", rows=model)
    with pytest.raises(UsageError, match="for"):
        run_export(model, tmp_path / "out", name="for")
    with pytest.raises(ModelFileError):
        run_export(tmp_path / "nothing.smg", tmp_path / "out")
    (tmp_path / "rows.csv").write_text("ax,az\n1,2\n")
    with pytest.raises(DataError, match=r"rows\.csv lacks the column 'ay', which the model takes"):
        run_export(model, tmp_path / "out", "arduino", rows=tmp_path / "rows.csv")
    assert names(tmp_path) == ["rows.csv", "wave.smg"]


def test_a_program_without_names_takes_columns_as_they_come(tmp_path: Path) -> None:
    from smidgen.data import read_table
    from smidgen.jobs.verify import columns_of

    (tmp_path / "rows.csv").write_text("b,a\n1,2\n")
    table = read_table(tmp_path / "rows.csv")
    plain = Program(PROGRAM.steps)
    np.testing.assert_array_equal(columns_of(plain, table), [[1, 2]])
