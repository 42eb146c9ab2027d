"""The demonstration against scikit-learn's nearest centroids, and places it cannot write to."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from smidgen.data import load_dataset
from smidgen.errors import ModelFileError, UsageError
from smidgen.jobs.demo import nearest_centroids, run_demo
from smidgen.program import load_program


def test_two_classes_by_hand() -> None:
    # means (0, 4) and (14, 9); (7, 6) is 49 + 4 from the first, 49 + 9 from the second; (7, 6.5) would be the middle
    program = nearest_centroids(np.array([[0, 3], [0, 5], [14, 9]]), np.array([3, 3, 7]))
    assert program.predict([[7, 6], [7, 7], [16, 16], [0, 0]]).tolist() == [3, 7, 7, 3]
    assert program.scores([[7, 6]]).tolist() == [[49 + 4, 49 + 9]]
    assert program.cost().model_bytes == 2 + 2  # two points of two nibbles, two counts


def test_a_mean_of_16_is_stored_as_15() -> None:
    program = nearest_centroids(np.array([[16], [0]]), np.array([0, 1]))
    assert program.scores([[16]]).tolist() == [[1, 256]]


@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_")  # pixels that are always dark
def test_the_digits_answer_as_scikit_learns_with_rounded_means() -> None:
    digits = load_dataset("digits")
    reference = NearestCentroid().fit(digits.X_train, digits.y_train)
    exact = reference.predict(digits.X_test.astype(float))
    reference.centroids_ = np.minimum(np.rint(reference.centroids_), 15)
    program = nearest_centroids(digits.X_train, digits.y_train)
    difference = digits.X_test.astype(np.int64)[:, None, :] - reference.centroids_.astype(np.int64)[None]
    assert np.array_equal(program.scores(digits.X_test), (difference**2).sum(axis=2))
    result = run_demo()
    assert result.accuracy == np.mean((difference**2).sum(axis=2).argmin(axis=1) == digits.y_test)
    assert abs(result.accuracy - np.mean(exact == digits.y_test)) < 0.01  # nibbles cost little here
    assert (result.model_bytes, result.rows, result.mismatches, result.file) == (10 * 32 + 10, 450, 0, None)
    assert result.ram_bytes >= 64  # the raw pixels


def test_the_same_twice_and_nothing_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert run_demo() == run_demo()
    assert list(tmp_path.iterdir()) == []


def test_the_kept_file_is_the_program(tmp_path: Path) -> None:
    file = tmp_path / "digits.smg"
    assert run_demo(file).file == str(file)
    digits = load_dataset("digits")
    kept = load_program(file)
    assert kept.hash == nearest_centroids(digits.X_train, digits.y_train).hash
    assert [path.name for path in tmp_path.iterdir()] == ["digits.smg"]


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
