"""Shared by the tests of smidgen.data: files written by hand, and what every error sentence must be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from smidgen.data import read_table
from smidgen.errors import DataError


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write text (UTF-8, line ends as given) or bytes under a name, hand back the path."""

    def write(content: str | bytes, name: str = "rows.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def refusal() -> Callable[..., str]:
    """The sentence with which a table is refused; it names the file, stands on one line and does not ramble."""

    def refusal(path: Path, target: str | int | None = None, **options: object) -> str:
        with pytest.raises(DataError) as caught:
            read_table(path, target, **options)  # type: ignore[arg-type]
        sentence = str(caught.value)
        assert str(path) in sentence
        assert "\n" not in sentence
        assert ". " not in sentence.replace(str(path), "")
        assert len(sentence.replace(str(path), "")) < 300
        return sentence.replace(str(path), "FILE")

    return refusal
