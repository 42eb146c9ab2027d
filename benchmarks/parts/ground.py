"""The ground: what importing costs, how fast interpreter and readers are, and the longest tests in full."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.harness import PACKAGE, Case, Config, Part, Result, imports, interleaved, module_path

ROOT = Path(__file__).resolve().parents[2]
MOST_MILLISECONDS = 60
LEAST_ROWS_PER_SECOND = 50_000


def import_time(config: Config) -> Result:
    """Wall time of a fresh Python that imports something of smidgen over one that imports NumPy, in turns."""

    def python(statement: str) -> None:
        subprocess.run([sys.executable, "-c", statement], check=True)

    smidgen, numpy = (1000 * seconds for seconds in interleaved(
        lambda: python(config["import"]), lambda: python("import numpy"), repeats=config["repeats"]
    ))  # fmt: skip
    more = smidgen - numpy
    return {"ms": smidgen, "numpy ms": numpy, "more ms": more, "met": more < MOST_MILLISECONDS}


def interpreter_speed(config: Config) -> Result:
    """Rows a second through the integer Program of a digits model, raw pixels to labels."""
    from sklearn.datasets import load_digits

    from smidgen import PrototypeClassifier, to_program

    X, y = load_digits(return_X_y=True)
    program = to_program(PrototypeClassifier(budget=config["budget"], random_state=0).fit(X, y))
    rows = np.tile(X.astype(np.uint8), (config["rows"] // len(X) + 1, 1))[: config["rows"]]
    (seconds,) = interleaved(lambda: program.run(rows))
    speed = len(rows) / seconds
    return {"rows a second": speed, "met": speed >= LEAST_ROWS_PER_SECOND}


def reading_speed(config: Config) -> Result:
    """Megabytes a second of a CSV file, and pandas' time for the same file in turns."""
    from smidgen.data import read_table

    random = np.random.default_rng(0)
    values = random.integers(0, 256, size=(config["rows"], config["columns"])).astype(object)
    frame = pd.DataFrame(values, columns=[f"f{index}" for index in range(config["columns"])])
    frame["label"] = random.choice(["rest", "walk", "run"], size=len(frame))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        megabytes = path.stat().st_size / 1e6
        ours, theirs = interleaved(
            lambda: read_table(path, target="label"), lambda: pd.read_csv(path), repeats=config["repeats"]
        )
    return {"MB": megabytes, "MB a second": megabytes / ours, "pandas' time over ours": theirs / ours}


def thorough_tests() -> list[str]:
    """The tests marked `thorough`: a small number of cases in `make test`, the full number here."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "--no-header", "-m", "thorough", "tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if "::" in line]


def imports_from(package: str, path: Path) -> list[str]:
    """What a file imports from a package."""
    return [name for name in imports(path.stem, path) if name.split(".")[0] == package]


def files_of(test: str) -> tuple[Path, ...]:
    """A test's file and the files of tests/ that it imports."""
    path = ROOT / test.partition("::")[0]
    helpers = {module_path(name.rpartition(".")[0], ROOT) for name in imports_from("tests", path)}
    return (path, *sorted(helper for helper in helpers if helper))


def thorough(config: Config) -> Result:
    """One `thorough` test with its full number of cases (the fixture `how_many` in conftest.py gives it)."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-s", config["test"]]
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "SMIDGEN_THOROUGH": "1"}, check=False
    )
    found = re.search(r"^\W*cases: (\d+)", done.stdout, flags=re.MULTILINE)
    if done.returncode or not found:
        raise AssertionError(done.stdout[-4000:])
    return {"cases": int(found[1]), "seconds": time.perf_counter() - began}


def cases() -> Iterator[Case]:
    for statement, modules in (
        ("import smidgen", ("smidgen",)),
        ("from smidgen import load_program", ("smidgen", "smidgen.program")),
    ):
        config = {"import": statement, "repeats": 15}
        yield Case("Import time, at most 60 ms more than NumPy's", config, import_time, modules)
    yield Case(
        "The interpreter on digits, at least 50,000 rows a second",
        {"model": "prototypes", "budget": "1kB", "rows": 50_000},
        interpreter_speed,
        ("smidgen.PrototypeClassifier", "smidgen.to_program"),
    )
    yield Case(
        "Reading CSV",
        {"rows": 50_000, "columns": 64, "repeats": 3},
        reading_speed,
        ("smidgen.data",),
    )
    for test in thorough_tests():
        files = files_of(test)
        modules = tuple(sorted({name for file in files for name in imports_from(PACKAGE, file)}))
        yield Case("Tests with their full number of cases", {"test": test}, thorough, modules, also=files)


GROUND = Part(
    "ground", "The promises of the ground: import time, the interpreter's speed, readers, and tests in full.", cases
)
