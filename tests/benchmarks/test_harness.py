"""Rows are measured once: a stopped run goes on, and only what a row ran can void it."""

import json
import time

import pytest

from benchmarks import harness
from benchmarks.harness import Case, Part, closure, interleaved, key, meaning, page, run_part, shown


@pytest.fixture
def source(tmp_path):
    """A package of four modules: `model` imports `step`, which imports `sums`; `other` stands alone."""
    root = tmp_path / "src"
    files = {
        "__init__.py": '_HOMES: dict[str, str] = {"Model": "smidgen.models.model"}\n',
        "errors.py": "class Wrong(Exception):\n    pass\n",
        "models/__init__.py": "",
        "models/model.py": "from smidgen.program.step import run\nfrom smidgen.errors import Wrong\n",
        "program/__init__.py": "",
        "program/step.py": "import numpy\n\ndef run():\n    from . import sums\n    return sums.add(1, 2)\n",
        "program/sums.py": "def add(a, b):\n    return a + b\n",
        "other.py": "LIMIT = 3\n",
    }
    for name, text in files.items():
        (root / "smidgen" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "smidgen" / name).write_text(text)
    yield root
    harness._meaning_of.cache_clear()


def measured(config):
    return {"double": 2 * config["n"]}


def case(n=1, modules=("smidgen.models.model",), measure=measured, **options):
    return Case("doubles", {"n": n}, measure, modules, **options)


def key_now(one, source):
    # within one process a file is read once; here it changes under the reader's feet
    harness._meaning_of.cache_clear()
    return key(one, source)


def edit(source, name, text):
    (source / "smidgen" / name).write_text(text)


def test_a_row_depends_on_all_that_its_modules_import(source):
    assert set(closure(["smidgen.models.model"], source=source)) == {
        "smidgen.models.model",
        "smidgen.program.step",
        "smidgen.program.sums",
    }


def test_a_public_name_leads_to_its_module(source):
    assert closure(["smidgen.Model"], source=source) == closure(["smidgen.models.model"], source=source)


def test_the_key_changes_with_what_the_row_ran(source):
    before = key_now(case(), source)
    edit(source, "program/sums.py", "def add(a, b):\n    return a - b\n")
    assert key_now(case(), source) != before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other.py", "LIMIT = 4\n"),
        ("errors.py", "class Wrong(ValueError):\n    pass\n"),
        (
            "program/sums.py",
            '"""Adds."""\n\ndef add(a,\n        b):  # two\n    """Add."""\n    return (a + b)\n',
        ),
    ],
    ids=["an unrelated module", "the wording of errors", "comments, docstrings and layout"],
)
def test_the_key_outlives_an_unrelated_change(source, name, text):
    before = key_now(case(), source)
    edit(source, name, text)
    assert key_now(case(), source) == before


def test_the_key_outlives_a_change_in_what_is_declared_apart(source):
    one = case(apart_from=("smidgen.program.sums",))
    before = key_now(one, source)
    edit(source, "program/sums.py", "def add(a, b):\n    return a - b\n")
    assert key_now(one, source) == before


def test_the_key_changes_with_configuration_and_measure(source):
    def otherwise(config):
        return {"double": config["n"] << 1}

    keys = [key(one, source) for one in (case(1), case(2), case(1, measure=otherwise))]
    assert len(set(keys)) == 3


def test_a_module_that_is_not_there_is_named(source):
    with pytest.raises(ValueError, match=r"not there: smidgen\.nowhere"):
        key(case(modules=("smidgen.nowhere",)), source)


def test_meaning_keeps_what_runs():
    assert meaning('def f():\n    """Doc."""\n    return "text"  # why\n') == "def f():\n    return 'text'"
    assert meaning('class A:\n    """Only a docstring."""\n') == "class A:\n    pass"


class Counted:
    """A part of three cases that counts what is measured and can be stopped at one of them."""

    def __init__(self, stop_at=None):
        self.calls, self.stop_at = [], stop_at

    def measure(self, config):
        if config["n"] == self.stop_at:
            raise KeyboardInterrupt
        self.calls.append(config["n"])
        return {"double": 2 * config["n"], "met": config["n"] < 3}

    def part(self, numbers=(1, 2, 3)):
        return Part("count", "Doubles.", lambda: [case(n, measure=self.measure) for n in numbers])


def rows_in(folder):
    return {
        row["config"]["n"]: row["result"]["double"] for row in json.loads((folder / "count.json").read_text())["rows"]
    }


def test_a_stopped_run_goes_on_where_it_was(source, tmp_path):
    stopped, resumed = Counted(stop_at=3), Counted()
    with pytest.raises(KeyboardInterrupt):
        run_part(stopped.part(), tmp_path, lambda _: None, source)
    assert rows_in(tmp_path) == {1: 2, 2: 4}
    run_part(resumed.part(), tmp_path, lambda _: None, source)
    assert resumed.calls == [3]
    assert rows_in(tmp_path) == {1: 2, 2: 4, 3: 6}


def test_a_changed_module_measures_its_rows_again_and_only_once(source, tmp_path):
    run_part(Counted().part(), tmp_path, lambda _: None, source)
    edit(source, "program/step.py", "def run():\n    return 4\n")
    harness._meaning_of.cache_clear()
    again = Counted()
    for _ in range(2):
        run_part(again.part(), tmp_path, lambda _: None, source)
    assert again.calls == [1, 2, 3]
    assert len(json.loads((tmp_path / "count.json").read_text())["rows"]) == 3


def test_a_row_no_longer_asked_for_leaves_at_the_end(source, tmp_path):
    run_part(Counted().part(), tmp_path, lambda _: None, source)
    run_part(Counted().part((2,)), tmp_path, lambda _: None, source)
    assert rows_in(tmp_path) == {2: 4}


def test_a_promise_not_kept_fails_the_run_each_time(source, tmp_path):
    assert run_part(Counted().part((1, 2)), tmp_path, lambda _: None, source)
    for _ in range(2):
        assert not run_part(Counted().part((1, 3)), tmp_path, lambda _: None, source)


def test_a_broken_row_costs_the_others_nothing(source, tmp_path):
    counted, said = Counted(), []

    def broken(config):
        raise RuntimeError("out of tea")

    part = Part("count", "Doubles.", lambda: [case(1, measure=broken), case(2, measure=counted.measure)])
    assert not run_part(part, tmp_path, said.append, source)
    assert rows_in(tmp_path) == {2: 4}
    assert "count: doubles: 1: RuntimeError: out of tea" in said


def test_a_row_that_this_machine_cannot_measure_is_left_out_and_no_failure(source, tmp_path):
    def lacking(config):
        raise harness.LeftOut("there is no tea here")

    run_part(Counted().part((1, 2)), tmp_path, lambda _: None, source)
    said = []
    part = Part("count", "Doubles.", lambda: [case(1, measure=lacking), case(2, measure=Counted().measure)])
    assert run_part(part, tmp_path, said.append, source)
    assert rows_in(tmp_path) == {2: 4}
    assert "count: doubles: 1: left out, there is no tea here" in said


def test_the_page_names_the_command_and_shows_every_row(source, tmp_path):
    run_part(Counted().part(), tmp_path, lambda _: None, source)
    text = page(tmp_path)
    assert "    make bench PART=count\n" in text
    assert (
        "### doubles\n\n| n | double | met |\n| --- | --- | --- |\n| 1 | 2 | yes |\n| 2 | 4 | yes |\n| 3 | 6 | no |\n"
        in text
    )


def test_numbers_are_shown_as_people_read_them():
    assert [shown(value) for value in (1234567, 1234.5, 0.012345, True, "uno")] == [
        "1,234,567",
        "1,234",
        "0.0123",
        "yes",
        "uno",
    ]


def test_interleaved_takes_turns_and_the_least_time():
    order = []

    def wait(name, seconds):
        order.append(name)
        time.sleep(seconds.pop())

    quick, slow = [0.02, 0.001, 0.02], [0.03, 0.03, 0.03]
    best = interleaved(lambda: wait("a", quick), lambda: wait("b", slow), repeats=3)
    assert order == ["a", "b"] * 3
    assert 0.001 <= best[0] < 0.02
    assert best[1] >= 0.03
