"""The site builds without a warning, its code runs, its picture is its script's, and the map of the house is true."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.test_readme import run_examples

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# console blocks would have to be run as README's are: the pages have none
SHOWN, RUN, SPHINX = {"json", "text"}, {"python"}, {"{eval-rst}", "{image}", "{include}", "{toctree}"}


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", tmp_path / "trees"]
    done = subprocess.run([*command, DOCS, tmp_path / "html"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    api = (tmp_path / "html" / "api.html").read_text()
    assert "SmidgenError" in api
    assert "GroupReduce" in api


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    languages = set(re.findall(r"^```(\S+)", page.read_text(), flags=re.MULTILINE))
    assert languages <= SHOWN | RUN | SPHINX
    assert bool(run_examples(page)) == bool(languages & RUN)


@pytest.mark.parametrize(
    ("name", "n_marks"), [("prototypes", 220 + 8), ("protonn", 180 + 10), ("sparsenet", 12)], ids=str
)
def test_a_picture_is_what_its_script_draws(name, n_marks):
    drawn = ElementTree.fromstring(runpy.run_path(str(DOCS / "pictures" / f"{name}.py"))["picture"]())
    kept = ElementTree.parse(DOCS / "pictures" / f"{name}.svg").getroot()
    # rows in their colours, and as many learned marks: where these end up, another scikit-learn may round otherwise
    marks = [
        [
            (shape.tag, shape.get("fill") if shape.get("r") else "")
            for shape in root
            if shape.get("stroke") or shape.get("r")
        ]
        for root in (drawn, kept)
    ]
    assert marks[0] == marks[1]
    assert len(marks[0]) == n_marks


def test_the_map_of_the_house_names_files_that_are_there():
    """Every path in backticks in architecture.md, and every module of smidgen in architecture.md."""
    text = (DOCS / "architecture.md").read_text()
    named = set(re.findall(r"`([\w/]+\.(?:py|toml|md))`", text))
    places = (ROOT, ROOT / "src", ROOT / "src" / "smidgen", *(ROOT / "src" / "smidgen").iterdir())
    assert [name for name in sorted(named) if not any((place / name).is_file() for place in places)] == []
    modules = {path.name for path in (ROOT / "src" / "smidgen").glob("*/*.py")} - {"__init__.py"}
    assert sorted(modules - {Path(name).name for name in named}) == []
