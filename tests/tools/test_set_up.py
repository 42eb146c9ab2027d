"""Set-up says in one sentence what it cannot work with, and shows pip's own words when pip fails."""

import sys

import pytest

from tools import set_up


def test_an_old_python_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    with pytest.raises(SystemExit, match=r"^smidgen needs Python 3\.11 or later and .* is 3\.10: name a newer one"):
        set_up.refuse_what_cannot_work()


def test_debian_without_venv_is_told_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ensurepip", None)  # which is what makes an import fail
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    with pytest.raises(SystemExit, match=rf"has no venv module: .*`apt install python{here}-venv` as root$"):
        set_up.refuse_what_cannot_work()


def test_this_python_is_accepted():
    set_up.refuse_what_cannot_work()


def test_a_copied_clone_gets_a_set_up_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "copy").mkdir()
    monkeypatch.chdir(tmp_path)
    here = set_up.key()
    monkeypatch.chdir(tmp_path / "copy")
    assert set_up.key() != here
    assert set_up.key() == set_up.key()


def test_a_failure_shows_what_was_said_but_for_harmless_notes(capsys):
    said = "WARNING: Location 'x' is ignored: it is neither a file nor a directory.\nERROR: no such package"
    with pytest.raises(SystemExit) as stopped:
        set_up.run(sys.executable, "-c", f"import sys; print({said!r}); sys.exit(1)")
    assert str(stopped.value).startswith("ERROR: no such package\nset-up failed at: ")
    assert capsys.readouterr().out == ""


def test_a_success_is_silent(capfd):
    set_up.run(sys.executable, "-c", "print('Successfully installed everything')")
    assert capfd.readouterr() == ("", "")
