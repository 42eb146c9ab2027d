"""The ground: what importing costs, how fast the interpreter and the readers are, and the long form of the longest tests."""

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

from benchmarks.harness import Case, Config, Part, Result, interleaved

ROOT = Path(__file__).resolve().parents[2]
MOST_MILLISECONDS = 60
LEAST_ROWS_PER_SECOND = 50_000


def import_time(config: Config) -> Result:
    """Wall time of a fresh Python that imports smidgen over one that imports NumPy, in turns."""

    def importing(name: str) -> None:
        subprocess.run([sys.executable, "-c", f"import {name}"], check=True)

    smidgen, numpy = (1000 * seconds for seconds in interleaved(
        lambda: importing("smidgen"), lambda: importing("numpy"), repeats=config["repeats"]
    ))  # fmt: skip
    more = smidgen - numpy
    return {"smidgen ms": smidgen, "numpy ms": numpy, "more ms": more, "met": more < MOST_MILLISECONDS}


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
    from smidgen.data.table import read_table

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


def thorough(config: Config) -> Result:
    """One `thorough` test with its full number of cases (the fixture `how_many` in conftest.py gives it)."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-m", "thorough", config["test"]]
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "SMIDGEN_THOROUGH": "1"}, check=False
    )
    passed = done.returncode == 0 and re.search(r"\b1 passed", done.stdout) is not None
    if not passed:
        raise AssertionError(done.stdout[-4000:])
    return {"passed": True, "in seconds": time.perf_counter() - began}


def cases() -> Iterator[Case]:
    yield Case("Import time over NumPy's, at most 60 ms more", {"repeats": 15}, import_time, ("smidgen",))
    yield Case(
        "The interpreter on digits, at least 50,000 rows a second",
        {"model": "prototypes", "budget": "1kB", "rows": 50_000},
        interpreter_speed,
        ("smidgen.models.prototypes",),
    )
    yield Case(
        "Reading CSV",
        {"rows": 50_000, "columns": 64, "repeats": 3},
        reading_speed,
        ("smidgen.data.table",),
    )
    for test in thorough_tests():
        yield Case("Tests with their full number of cases", {"test": test}, thorough, ("smidgen.program",))


GROUND = Part(
    "ground", "The promises of the ground: import time, the interpreter's speed, readers, and tests in full.", cases
)
