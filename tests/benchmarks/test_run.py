"""What `make bench` would run: every row can be keyed, and the committed page is that of the committed results."""

from benchmarks.harness import key, page
from benchmarks.run import PARTS, RESULTS, main


def test_the_committed_page_shows_the_committed_results():
    assert (RESULTS / "README.md").read_text() == page(RESULTS)


def test_every_row_names_modules_that_are_there_and_no_two_are_the_same():
    keys = [key(case) for part in PARTS for case in part.cases()]
    assert keys
    assert len(set(keys)) == len(keys)


def test_parts_have_names_of_their_own_and_results_belong_to_one():
    names = [part.name for part in PARTS]
    assert len(set(names)) == len(names)
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(names)


def test_an_unknown_part_is_named(capsys):
    assert main(["attic"]) == 2
    assert "there is no part attic; parts: ground, prototypes" in capsys.readouterr().out
