"""The demonstration: what it reports is what its file does, and places it cannot write to."""

from pathlib import Path

import numpy as np
import pytest

from smidgen.data import load_dataset
from smidgen.errors import ModelFileError, ToolError, UsageError
from smidgen.jobs import demo
from smidgen.jobs.demo import run_demo
from smidgen.models.protonn import ProtoNNClassifier
from smidgen.program import load_program


def test_the_result_is_what_the_kept_file_does(tmp_path: Path) -> None:
    file = tmp_path / "digits.smg"
    result = run_demo(file)
    kept, digits = load_program(file), load_dataset("digits")
    right = sum(int(answer == truth) for answer, truth in zip(kept.predict(digits.X_test), digits.y_test, strict=True))
    assert (result.accuracy, result.rows) == (right / 450, 450)
    assert result.accuracy > 0.96  # 1,000 bytes of nearest prototypes reach 0.956
    assert result.model_bytes == kept.cost().model_bytes <= 600
    assert result.mismatches == 0
    assert result.certificate is not None
    assert result.certificate.board == "uno"
    assert result.certificate.model == kept.hash
    assert result.certificate.accuracy == result.accuracy
    assert result.missing == ""
    assert result.file == str(file)
    assert [path.name for path in tmp_path.iterdir()] == ["digits.smg"]


def test_the_same_twice_and_nothing_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    first = run_demo()
    assert first == run_demo()
    assert first.file is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_answers_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    truthful = ProtoNNClassifier.predict

    def contrary(self: ProtoNNClassifier, X: np.ndarray) -> np.ndarray:
        answers = truthful(self, X)
        answers[:7] = (answers[:7] + 1) % 10
        return answers

    monkeypatch.setattr(ProtoNNClassifier, "predict", contrary)
    assert run_demo().mismatches == 7


def test_without_the_uno_this_computer_and_without_a_compiler_none(monkeypatch: pytest.MonkeyPatch) -> None:
    truthful, asked = demo.verify, []

    def without(*boards: str) -> None:
        def verify(*args: object, board: str, **options: object) -> object:
            asked.append(board)
            if board in boards:
                raise ToolError(f"{board} lacks a tool")
            return truthful(*args, board=board, **options)

        monkeypatch.setattr(demo, "verify", verify)

    without("uno")
    result = run_demo()
    assert result.certificate is not None
    assert (result.certificate.board, result.missing) == ("host", "uno lacks a tool")
    without("uno", "host")
    result = run_demo()
    assert (result.certificate, result.missing, result.mismatches) == (None, "uno lacks a tool", 0)
    assert asked == ["uno", "host"] * 2


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
        run_demo(tmp_path)
    with pytest.raises(UsageError, match=r"there is no folder '.*nowhere' to put 'digits\.smg' into"):
        run_demo(tmp_path / "nowhere" / "digits.smg")
    (tmp_path / "text").write_text("")
    with pytest.raises(UsageError, match=r"there is no folder '.*text'"):
        run_demo(tmp_path / "text" / "digits.smg")
    with pytest.raises(ModelFileError, match=r"cannot write .*xxx: file name too long"):
        run_demo(tmp_path / ("x" * 300))
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
