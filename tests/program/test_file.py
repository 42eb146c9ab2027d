"""The `.smg` file: what is written can be read, for ever; what is wrong is refused in a sentence, at no cost."""

import json
import os
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from smidgen.errors import ModelFileError, SmidgenError
from smidgen.program import Decide, Input, Linear, Matrix, Program, file, load_program
from tests.program.file_programs import file_programs, rows_for
from tests.program.malformed import ARRAYS, HEADERS, MALFORMED, ZIPS
from tests.program.mutations import mutate_and_load
from tests.program.zips import HEADER, edit_text, rezip, unzip

PROGRAMS = file_programs()
GOLDEN = Path(__file__).parent / "golden"
ANSWERS = json.loads((GOLDEN / "answers.json").read_text())

SLACK = 3 << 20
"""Loading may take so many bytes (vectors of 65,535 numbers, which no file needs to justify) and 20 times the file."""


# There and back.


@pytest.mark.parametrize("name", PROGRAMS)
def test_save_and_load(name, tmp_path):
    program = PROGRAMS[name]
    program.save(tmp_path / "first.smg")
    again = load_program(tmp_path / "first.smg")
    again.save(tmp_path / "second.smg")
    X = rows_for(program, 50)
    assert again.hash == program.hash
    assert (tmp_path / "first.smg").read_bytes() == (tmp_path / "second.smg").read_bytes()
    assert (again.classes, again.feature_names) == (program.classes, program.feature_names)
    assert [type(each) for each in again.classes or ()] == [type(each) for each in program.classes or ()]
    np.testing.assert_array_equal(again.scores(X), program.scores(X))
    np.testing.assert_array_equal(again.predict(X), program.predict(X))
    assert again.cost() == program.cost()


def test_equal_programs_are_equal_files(tmp_path):
    for number, program in enumerate((PROGRAMS["amm"], file_programs()["amm"])):
        program.save(tmp_path / f"{number}.smg")
    assert (tmp_path / "0.smg").read_bytes() == (tmp_path / "1.smg").read_bytes()


def test_the_hash_and_the_bytes_are_the_same_in_another_process(tmp_path):
    """Neither hash seeds nor the clock get into a file."""
    code = (
        "import sys; from tests.program.file_programs import file_programs; "
        "program = file_programs()['hamming']; program.save(sys.argv[1]); print(program.hash)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", code, str(tmp_path / "other.smg")]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    PROGRAMS["hamming"].save(tmp_path / "ours.smg")
    assert done.stdout.strip() == PROGRAMS["hamming"].hash
    assert (tmp_path / "other.smg").read_bytes() == (tmp_path / "ours.smg").read_bytes()


def test_any_zip_tool_reads_it(tmp_path):
    """The constants are there as the board will hold them: their sizes are the model's bytes."""
    PROGRAMS["protonn"].save(tmp_path / "model.smg")
    with zipfile.ZipFile(tmp_path / "model.smg") as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        sizes = [info.file_size for info in archive.infolist()]
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert json.loads(archive.read(HEADER))["version"] == 1
    assert names == [HEADER, *sorted(names[1:])]
    assert sum(sizes[1:]) == PROGRAMS["protonn"].cost().model_bytes


def test_the_zip_is_not_part_of_the_hash(tmp_path):
    """The same members in another order, with another date, by another tool: the same Program."""
    PROGRAMS["hamming"].save(tmp_path / "model.smg")
    members = unzip((tmp_path / "model.smg").read_bytes())
    (tmp_path / "other.smg").write_bytes(rezip(dict(reversed(members.items()))))
    assert (tmp_path / "other.smg").read_bytes() != (tmp_path / "model.smg").read_bytes()
    assert load_program(tmp_path / "other.smg").hash == PROGRAMS["hamming"].hash


@pytest.mark.parametrize("name", ANSWERS)
def test_golden_files_load_for_ever(name, tmp_path):
    """Never write these files anew: they are what users have. A new format version adds files of its own."""
    golden, program = ANSWERS[name], load_program(GOLDEN / f"{name}.smg")
    assert program.hash == golden["hash"]
    assert program.cost().model_bytes == golden["model_bytes"]
    result = program.run(golden["rows"])
    np.testing.assert_array_equal(result.prediction, golden["prediction"])
    tolerance = 1e-9 if program.arithmetic == "float32" else 0  # BLAS may sum floats in any order
    np.testing.assert_allclose(result.scores, golden["scores"], rtol=tolerance, atol=0)
    program.save(tmp_path / "again.smg")
    assert (tmp_path / "again.smg").read_bytes() == (GOLDEN / f"{name}.smg").read_bytes()


def test_every_golden_file_has_its_answers():
    assert {path.stem for path in GOLDEN.glob("*.smg")} == set(ANSWERS)


# Writing, or not at all.


def assert_not_saved(path, says):
    with pytest.raises(ModelFileError, match=says) as caught:
        PROGRAMS["amm"].save(path)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, SmidgenError)


def test_a_folder_that_is_not_there(tmp_path):
    assert_not_saved(tmp_path / "no" / "model.smg", r"cannot write .*model\.smg: no such file or directory")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    assert_not_saved(tmp_path / "file" / "model.smg", "not a directory")


def test_a_directory_in_the_way(tmp_path):
    (tmp_path / "model.smg").mkdir()
    assert_not_saved(tmp_path / "model.smg", "cannot write .*directory")
    assert [path.name for path in tmp_path.iterdir()] == ["model.smg"]


def test_a_name_that_no_file_can_have(tmp_path):
    assert_not_saved(tmp_path / "mo\0del.smg", "null")
    assert_not_saved(tmp_path / ("m" * 300), "too long")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_halfway_leaves_the_old_file(tmp_path, monkeypatch):
    PROGRAMS["amm"].save(tmp_path / "model.smg")
    before = (tmp_path / "model.smg").read_bytes()

    def full_disk(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    assert_not_saved(tmp_path / "model.smg", "no space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["model.smg"]
    assert (tmp_path / "model.smg").read_bytes() == before


def test_a_device_or_a_pipe_is_never_replaced(tmp_path):
    """As root, a rename over /dev/null would leave a file in its place."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.smg").symlink_to("pipe")
    for name in ("pipe", "link.smg"):
        assert_not_saved(tmp_path / name, rf"cannot write .*{name}: it is no regular file")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_link_stays_and_its_file_is_written(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "latest.smg").symlink_to(tmp_path / "models" / "today.smg")
    for program in (PROGRAMS["hamming"], PROGRAMS["protonn"]):
        program.save(tmp_path / "latest.smg")
        assert (tmp_path / "latest.smg").is_symlink()
        assert load_program(tmp_path / "models" / "today.smg").hash == program.hash
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["today.smg"]


def test_a_program_too_large_to_load_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "LARGEST_FILE", 1000)
    assert_not_saved(tmp_path / "model.smg", "more than the 1,000")
    monkeypatch.setattr(file, "LARGEST_FILE", 1 << 26)
    monkeypatch.setattr(file, "LARGEST_HEADER", 100)
    assert_not_saved(tmp_path / "model.smg", "more than the 100")
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_is_replaced_and_has_the_usual_rights(tmp_path):
    (tmp_path / "model.smg").write_text("old")
    (tmp_path / "plain").write_text("")
    (tmp_path / "model.smg").chmod(0o600)
    PROGRAMS["amm"].save(str(tmp_path / "model.smg"))
    assert load_program(tmp_path / "model.smg").hash == PROGRAMS["amm"].hash
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("model.smg", "plain")]
    assert rights[0] == rights[1]


# Reading what is no file.


def assert_not_loaded(path, says):
    with pytest.raises(ModelFileError, match=says) as caught:
        load_program(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_no_file(tmp_path):
    assert str(tmp_path / "none.smg") in assert_not_loaded(tmp_path / "none.smg", "there is no such file")
    assert_not_loaded(str(tmp_path), "it is a directory")
    assert_not_loaded(tmp_path / "mo\0del", "null")
    assert_not_loaded(tmp_path / ("m" * 300), "too long")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files here")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert_not_loaded(tmp_path / "pipe", "it is no regular file")


def test_a_huge_file_is_not_read(tmp_path):
    with (tmp_path / "huge.smg").open("wb") as stream:
        stream.truncate(file.LARGEST_FILE + 1)  # a hole: no bytes on the disk
    tracemalloc.start()
    assert_not_loaded(tmp_path / "huge.smg", "it has 67,108,865 bytes, and no model file has more than 67,108,864")
    assert tracemalloc.get_traced_memory()[1] < SLACK
    tracemalloc.stop()


# Malformed files.


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of each Program's file."""
    folder = tmp_path_factory.mktemp("sound")
    for name, program in PROGRAMS.items():
        program.save(folder / name)
    return {name: (folder / name).read_bytes() for name in PROGRAMS}


def test_there_are_enough_kinds():
    assert len(MALFORMED) == len(ZIPS) + len(HEADERS) + len(ARRAYS) >= 200


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name, sound, tmp_path, monkeypatch):
    case = MALFORMED[name]
    bad = case.edit(sound[case.program])
    assert bad != sound[case.program]
    path = tmp_path / "folder" / "bad.smg"
    path.parent.mkdir()
    path.write_bytes(bad)
    monkeypatch.chdir(path.parent)
    tracemalloc.start()
    try:
        sentence = assert_not_loaded(path, case.says)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in sentence
    assert len(sentence) - len(str(path)) < 250
    assert peak < SLACK + 20 * len(bad)
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == ["bad.smg"]  # and no canary


def test_nothing_is_written_where_a_member_points(sound, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    for name in ("../canary", str(tmp_path / "canary")):
        (tmp_path / "folder" / "bad.smg").write_bytes(rezip({**unzip(sound["amm"]), name: b"x"}))
        assert_not_loaded("bad.smg", "is called")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "bad.smg"]


def test_a_shape_that_its_bytes_do_not_justify_takes_no_memory(tmp_path):
    """2,000 x 65,535 would be 131 MB; the entries of a sparse matrix are all that loading looks at."""
    no_bytes = {"gaps": np.zeros(0, np.uint8), "values": np.zeros(0, np.int8)}
    empty = Matrix.unpack((2000, 65_535), "int8", "gap8", {"counts": np.zeros(2000, np.uint8), **no_bytes})
    Program((Input("uint8", 65_535), Linear(empty), Decide("argmax"))).save(tmp_path / "wide.smg")
    tracemalloc.start()
    program = load_program(tmp_path / "wide.smg")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert program.n_features == 65_535
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("number_format", "storage", "times"),
    [("int8", "dense", 8), ("int4", "dense", 16), ("bits", "dense", 40), ("int8", "gap8", 60), ("int4", "gap4", 100)],
)
def test_memory_grows_with_the_file_by_no_more_than_unpacking_and_proof_need(number_format, storage, times, tmp_path):
    """A byte may hold eight numbers, or stand for an entry of which row, column, value and bounds are wanted."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (1000, 1000)) * (1 if number_format == "bits" else rng.integers(-8, 8, (1000, 1000)))
    linear = Linear(Matrix.pack(values, number_format, storage))
    Program((Input("uint8", 1000), linear, Decide("argmax"))).save(tmp_path / "large.smg")
    tracemalloc.start()
    load_program(tmp_path / "large.smg")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < SLACK + times * (tmp_path / "large.smg").stat().st_size


def test_no_depth_of_nesting_is_one_frame_too_deep(sound, tmp_path):
    """Each use of the JSON stands somewhere else on the stack: where one just manages, another must not fail."""
    for depth in range(sys.getrecursionlimit() - 110, sys.getrecursionlimit()):
        nested = edit_text(lambda text, n=depth: text.replace(b'"left"', b"[" * n + b"1" + b"]" * n))(sound["protonn"])
        (tmp_path / "deep.smg").write_bytes(nested)
        assert_not_loaded(tmp_path / "deep.smg", "a list of words or numbers|not the JSON")
        (tmp_path / "deep.smg").unlink()


@pytest.mark.thorough
def test_random_mutations(tmp_path, how_many):
    n = how_many(3000, 100_000)
    outcomes = mutate_and_load(seed=n, n=n, folder=tmp_path)
    assert outcomes.total() == n
    assert outcomes["refused: its zip or JSON"] > n / 4
    assert outcomes["refused: its steps"] > n / 4
    assert outcomes["loaded"] > n / 50
