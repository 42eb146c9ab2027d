"""Rows that are measured once: a stopped run goes on where it was, and only what a row ran can void it.

A part (`benchmarks/parts/*.py`) yields `Case`s. Each result is kept in `results/PART.json` under a key made of the
case's configuration, of the function that measures it, and of the smidgen modules it runs with all that they import.
Comments, docstrings and layout do not count, nor does the wording of errors. The file is written after every row.
"""

import ast
import hashlib
import inspect
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src"
# followed by nearly everything, part of no figure: lazy names, the version, the wording of errors
NO_ARITHMETIC = frozenset({"smidgen", "smidgen.errors"})
PACKAGE = "smidgen"

Config = Mapping[str, Any]
Result = dict[str, Any]


class LeftOut(Exception):  # noqa: N818  (no error: the run goes well without)
    """What a case's measure raises where this machine lacks what it takes, and says what that is."""


@dataclass(frozen=True)
class Case:
    """One row to be: the table it stands in, what sets it apart there, what measures it and the modules that it runs.

    `apart_from` names modules that the row does not depend on though it imports them; `also` files that it depends on.
    A result may hold `met`, whether a promise is kept: a row that says no fails the run, and stays.
    """

    table: str
    config: Config
    measure: Callable[[Config], Result]
    modules: tuple[str, ...]
    apart_from: tuple[str, ...] = ()
    also: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Part:
    """A file of results: its name, what it is about in a sentence, and its cases."""

    name: str
    about: str
    cases: Callable[[], Iterable[Case]]


# ---- what a row depends on


def module_path(name: str, source: Path = SOURCE) -> Path | None:
    """The file of a module, or None where there is no such module (a name inside one, say)."""
    stem = source.joinpath(*name.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


def meaning(text: str) -> str:
    """Python source without comments, docstrings and layout: what a key may depend on."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def imports(name: str, path: Path) -> Iterator[str]:
    """The modules, or names in modules, that a module imports anywhere in its text; relative ones made absolute."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def homes(source: Path = SOURCE) -> dict[str, str]:
    """Where the lazy public names of `smidgen` live, read off its text: name → module."""
    path = module_path(PACKAGE, source)
    for node in ast.walk(ast.parse(path.read_text())) if path else ():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "_HOMES":
            return dict(ast.literal_eval(node.value)) if node.value else {}
    return {}


def home(name: str, source: Path = SOURCE) -> str | None:
    """The module that an imported name is, or is found in; None where it is no part of smidgen."""
    parent, _, last = name.rpartition(".")
    if module_path(name, source):
        return name
    if parent == PACKAGE:
        return homes(source).get(last)
    return parent if parent and module_path(parent, source) else None


def closure(modules: Iterable[str], apart_from: Iterable[str] = (), source: Path = SOURCE) -> dict[str, Path]:
    """The named modules and, step by step, all of smidgen that they import, but for `apart_from`."""
    found: dict[str, Path] = {}
    passed_over = NO_ARITHMETIC.union(apart_from).difference(modules)
    waiting = [home(name, source) for name in modules]
    while waiting:
        name = waiting.pop()
        path = module_path(name, source) if name else None
        if name and path and name not in found and name not in passed_over:
            found[name] = path
            wanted = (other for other in imports(name, path) if other.split(".")[0] == PACKAGE)
            waiting.extend(home(other, source) for other in wanted)
    return found


@cache
def _meaning_of(path: Path) -> str:
    return meaning(path.read_text())


def key(case: Case, source: Path = SOURCE) -> str:
    """The name under which a case's row stays valid."""
    missing = [name for name in case.modules if home(name, source) is None]
    if missing:
        raise ValueError(f"the case {dict(case.config)} names modules that are not there: {', '.join(missing)}")
    parts = [case.table, json.dumps(case.config, sort_keys=True), meaning(dedent(inspect.getsource(case.measure)))]
    for name, path in sorted(closure(case.modules, case.apart_from, source).items()):
        parts += [name, _meaning_of(path)]
    parts += [_meaning_of(path) for path in case.also]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


# ---- results


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a result file, none where there is no file yet."""
    return json.loads(path.read_text())["rows"] if path.exists() else []


def write_rows(path: Path, part: Part, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a result file in one move: a reader, or a kill, sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"part": part.name, "about": part.about, "rows": list(rows)}
    draft = path.with_suffix(".json.new")
    draft.write_text(json.dumps(document, indent=1) + "\n")
    draft.replace(path)


def machine() -> dict[str, str]:
    """What a figure was measured with: processor, Python, and the packages that do the arithmetic."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    packages = {name: version(name) for name in ("numpy", "scikit-learn")}
    processor = f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores"
    return {"processor": processor, "python": platform.python_version(), **packages}


def same_row(table: str, config: Config) -> tuple[str, str]:
    """What makes two rows the same one, measured again."""
    return table, json.dumps(config, sort_keys=True)


def measured(case: Case, wanted: str) -> dict[str, Any]:
    """The row of a case, measured now."""
    began = time.perf_counter()
    result = case.measure(case.config)
    seconds = round(time.perf_counter() - began, 2)
    config = dict(case.config)
    return {
        "table": case.table,
        "config": config,
        "key": wanted,
        "result": result,
        "seconds": seconds,
        "machine": machine(),
    }


def run_part(part: Part, folder: Path, say: Callable[[str], None], source: Path = SOURCE) -> bool:
    """Measure what has no valid row yet, row by row; True when nothing failed and every promise was kept."""
    path = folder / f"{part.name}.json"
    rows = {same_row(row["table"], row["config"]): row for row in read_rows(path)}
    cases = list(part.cases())
    good = True
    for case in cases:
        name = same_row(case.table, case.config)
        label = f"{part.name}: {case.table}: {', '.join(map(str, case.config.values()))}"
        try:
            wanted = key(case, source)
            if rows.get(name, {}).get("key") != wanted:
                say(f"{label} ...")
                rows[name] = measured(case, wanted)
                write_rows(path, part, rows.values())
        except LeftOut as reason:  # an older row would pass for one of today's modules
            rows.pop(name, None)
            say(f"{label}: left out, {reason}")
        except Exception as error:  # one broken row must not cost the others their hours
            say(f"{label}: {type(error).__name__}: {error}")
            good = False
        else:
            good &= rows[name]["result"].get("met", True)
            say(f"{label}: {', '.join(f'{k} {shown(v)}' for k, v in rows[name]['result'].items())}")
    names = (same_row(case.table, case.config) for case in cases)
    write_rows(path, part, [rows[name] for name in names if name in rows])
    return good


# ---- the page


def shown(value: Any) -> str:
    """A value as people read it: yes and no, thousands set apart, three to four digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Rows of one table as Markdown: configuration, then results, a hyphen where a row has no such value."""
    flat = [{**row["config"], **row["result"]} for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    yield "| " + " | ".join(columns) + " |"
    yield "| " + " | ".join("---" for _ in columns) + " |"
    for row in flat:
        yield "| " + " | ".join(shown(row[name]) if name in row else "-" for name in columns) + " |"


def page(folder: Path) -> str:
    """One readable page of all result files."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench` from the JSON files beside it; each part names its command.",
    ]
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        rows = document["rows"]
        lines += ["", f"## {document['part']}", "", document["about"], "", f"    make bench PART={document['part']}"]
        for title in dict.fromkeys(row["table"] for row in rows):
            lines += ["", f"### {title}", "", *table([row for row in rows if row["table"] == title])]
        machines = dict.fromkeys(", ".join(f"{k} {v}" for k, v in row["machine"].items()) for row in rows)
        lines += ["", *(f"Measured with {one}." for one in machines)]
    return "\n".join(lines) + "\n"


# ---- timing


def interleaved(*runs: Callable[[], object], repeats: int = 7) -> list[float]:
    """The least seconds of each of several runs, taken in turns, so that a busy moment falls on all of them."""
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for index, run in enumerate(runs):
            began = time.perf_counter()
            run()
            best[index] = min(best[index], time.perf_counter() - began)
    return best
