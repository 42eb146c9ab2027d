"""What a user gets: sdist → wheel → an empty environment in which `smidgen` works.

Takes about 20 s, nearly all of it pip unpacking the dependencies (from its cache, where it has one).
"""

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import smidgen

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "smidgen"
# one worker for all, or each would build and install for itself
pytestmark = pytest.mark.xdist_group("wheel")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the sdist and of the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The bin folder of an empty environment with the wheel and its pinned dependencies, and not the dev tools."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    pip = (sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--no-compile")
    run(*pip, "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel))
    return folder / "bin"


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = [Path(name) for name in zipfile.ZipFile(wheel).namelist()]
    packed = {name for name in names if name.parts[0] == "smidgen"}
    source = {path.relative_to(SOURCE.parent) for path in SOURCE.rglob("*") if path.is_file()}
    assert packed == {path for path in source if path.suffix != ".pyc"}
    assert {name.parts[0] for name in names} == {"smidgen", f"smidgen-{smidgen.__version__}.dist-info"}
    assert Path("smidgen/py.typed") in packed
    # DESIGN.md, Habits: data sets are never shipped
    assert not [name for name in packed if name.suffix in {".npz", ".csv", ".parquet", ".gz"}]


def test_the_wheel_carries_its_licence_and_readme(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert archive.read(metadata).decode().endswith((ROOT / "README.md").read_text())


def test_the_sdist_holds_what_it_takes_to_build_and_test(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"pyproject.toml", "constraints.txt", "Makefile", "LICENSE", "tests/test_wheel.py"} <= names


def test_the_command_works_in_an_empty_environment(installed, tmp_path):
    # nothing of the caller's environment: no data folder, no home, no PYTHONPATH
    bare = {"cwd": tmp_path, "env": {"PATH": "/usr/bin:/bin"}}
    assert smidgen.__version__ in run(str(installed / "smidgen"), "--version", **bare)
    answer = json.loads(run(str(installed / "smidgen"), "demo", "--json", **bare))
    assert {"accuracy", "model_bytes", "rows"} <= answer.keys()
    assert list(tmp_path.iterdir()) == []
