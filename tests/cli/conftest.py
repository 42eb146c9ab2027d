"""The user's own settings must not change what the tests see."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "SMIDGEN_BOARDS", "TTY_COMPATIBLE", "_SMIDGEN_COMPLETE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
