"""The interpreter against the slow transcription of docs/arithmetic.md, on random Programs, extremes included."""

import math

import numpy as np
import pytest

from smidgen.program import Decide, Distance, GroupReduce, Input, Linear, Matrix, Program
from tests.program.random_programs import FAMILIES, random_float_program, random_program, random_rows
from tests.program.reference import Reference, run

SEED = 20


def compare(seed: int, n_programs: int, n_rows: int, family: str | None = None) -> int:
    """How many cases (one Program, one row) were compared; an AssertionError names the seed of one that differs."""
    for number in range(n_programs):
        rng = np.random.default_rng([seed, number])
        program = random_program(rng, family or FAMILIES[number % len(FAMILIES)])
        rows = random_rows(rng, program, n_rows)
        result = program.run(rows)
        reference = Reference(program)
        for row, scores, prediction in zip(rows, result.scores, result.prediction, strict=True):
            expected_scores, expected = reference.run(row.tolist())
            assert scores.tolist() == expected_scores, (seed, number)
            assert prediction.tolist() == expected, (seed, number)
    return n_programs * n_rows


def compare_float(seed: int, n_programs: int, n_rows: int) -> int:
    """The same for float32 Programs: scores to 1e-9 of the values' order, labels wherever no near-tie excuses them."""
    n_compared = 0
    for number in range(n_programs):
        rng = np.random.default_rng([seed, number])
        program = random_float_program(rng, FAMILIES[number % len(FAMILIES)])
        rows = random_rows(rng, program, n_rows)
        result, near = program.run(rows), program.near_ties(rows)
        reference = Reference(program)
        for row in np.flatnonzero(~near):
            scores, prediction = reference.run(rows[row].tolist())
            np.testing.assert_allclose(result.scores[row], scores, rtol=1e-9, atol=1e-9, err_msg=f"{seed}, {number}")
            if program.task == "regression":
                assert result.prediction[row].tolist() == result.scores[row].tolist()
            else:
                assert result.prediction[row].tolist() == prediction, (seed, number)
            n_compared += 1
    return n_compared


@pytest.mark.thorough
def test_the_interpreter_is_the_transcription(how_many):
    cases = how_many(10_000, 100_000)
    assert compare(SEED, n_programs=cases // 20, n_rows=20) == cases


def test_float32_programs_agree_with_plain_float64():
    assert compare_float(SEED, n_programs=140, n_rows=10) > 1_000


def test_the_random_programs_cover_what_the_page_names():
    seen: set[object] = set()
    for number in range(500):
        rng = np.random.default_rng([SEED, number])
        program = random_program(rng, FAMILIES[number % len(FAMILIES)])
        first, decide = program.input, program.decide
        seen |= {first.raw, decide.kind, first.missing is not None, "trusted" if first.trusted_range else ""}
        seen |= {"one-hot" if first.codes is not None else "", "multiplier" if np.ndim(first.multiplier) else ""}
        seen |= {"wide" if first.n_features > 255 else "", "one column" if first.n_features == 1 else ""}
        for step, incoming in zip(program.steps[1:], program.signals[:-1], strict=True):
            if isinstance(step, Linear):
                seen |= {(step.weights.format, step.weights.storage), step.accumulators(incoming).bits("a sum")}
                counts = step.weights.parts.get("counts")
                seen |= {"long rows" if counts is not None and counts.dtype == np.uint16 else ""}
            if isinstance(step, GroupReduce):
                seen |= {("floor", step.floor is not None), ("empty class", not step.counts.all())}
    expected: set[object] = {"uint8", "int8", "int16", "float32", True, "trusted", "one-hot", "multiplier", "wide"}
    expected |= {"one column", "long rows", 16, 24, 32, ("bits", "dense"), ("floor", True), ("empty class", True)}
    expected |= {"argmax", "argmin", "threshold", "labels", "best", "value"}
    expected |= {("int8", storage) for storage in ("dense", "bitmap", "gap8")}
    expected |= {("int4", storage) for storage in ("dense", "bitmap", "gap8", "gap4")}
    assert expected <= seen


def test_random_programs_decide_between_their_answers():
    undecided = 0
    for number in range(140):
        rng = np.random.default_rng([SEED, number])
        program = random_program(rng, FAMILIES[number % len(FAMILIES)])
        prediction = program.run(random_rows(rng, program, 30)).prediction
        undecided += len(np.unique(prediction, axis=0)) == 1
    assert undecided < 50  # some give one answer whatever comes in: all labels, one entry, a huge bias


def test_the_transcription_by_hand():
    """The judge is judged as well."""
    program = Program(
        (
            Input("int8", 2, offset=np.array([5, -1], np.int16), shift=np.array([0, 1], np.uint8)),
            Linear(Matrix.pack([[2, -1], [0, 3]], "int4"), np.array([1, 10], np.int16)),
            Decide("argmax"),
        )
    )
    # (7 - 5) >> 0 = 2, (6 + 1) >> 1 = 3: 2 * 2 - 3 + 1 = 2 and 3 * 3 + 10 = 19
    assert run(program, [7, 6]) == ([2, 19], 1)
    # 4 - 5 clips to 0, (-128 + 1) >> 1 to 0
    assert run(program, [4, -128]) == ([1, 10], 1)


def test_the_transcription_notices_a_broken_proof():
    class Careless(Linear):
        def accumulators(self, incoming):
            proven = super().accumulators(incoming)
            return type(proven)(proven.low + 1, proven.high - 1)

    program = Program((Input("uint8", 1), Careless(Matrix.pack([[3], [-3]], "int4")), Decide("argmax")))
    run(program, [100])
    with pytest.raises(AssertionError):
        run(program, [255])


@pytest.mark.parametrize(
    ("scores", "kind", "options", "near"),
    [
        ([1.0, 1.0 + 1e-6], "argmax", {}, True),
        ([1.0, 1.0 + 1e-3], "argmax", {}, False),
        ([1.0, 1.0 - 1e-6], "argmin", {}, True),
        ([1.0, 2.0, 2.0 + 1e-6], "argmin", {}, False),  # the tie is not for the first place
        ([1.0, 2.0, 2.0 + 1e-6], "best", {"k": 1}, True),
        ([1.0, 2.0, 2.0 + 1e-6], "best", {"k": 2}, False),  # both are on, whichever is first
        ([1.0, 2.0, 2.0], "best", {"k": 3}, False),
        ([1e-6, 5.0], "labels", {}, True),
        ([1e-3, 5.0], "labels", {}, False),
        ([-1e-7], "threshold", {}, True),
        ([0.5], "threshold", {}, False),
        ([0.0, 0.0], "value", {}, False),
    ],
)
def test_near_ties_of_scores(scores, kind, options, near):
    # the row's terms are 1 * score + (1 * 1 - 1 * 1): the sum of |terms| of each score is |score| + 2
    n = len(scores)
    weights = np.hstack([np.eye(n), np.ones((n, 1)), -np.ones((n, 1))])
    linear = Linear(Matrix.pack(weights, "float32"))
    program = Program((Input("float32", n + 2, "float32"), linear, Decide(kind, **options)))
    row = np.array([[*scores, 1.0, 1.0]])
    assert program.near_ties(row).tolist() == [near]


def test_near_ties_scale_with_the_terms_that_cancel():
    linear = Linear(Matrix.pack([[1.0, -1.0], [0.0, 0.0]], "float32"), np.array([0.0, 0.01], np.float32))
    program = Program((Input("float32", 2, "float32"), linear, Decide("argmax")))
    assert program.near_ties([[0.02, 0.0], [10_000.02, 10_000.0], [0.0, 10_000.0]]).tolist() == [False, True, False]


def test_each_label_is_measured_against_the_terms_of_its_own_class():
    weights = Matrix.pack([[1.0, -1.0], [0.5, -0.5], [1.0, 0.0]], "float32")
    steps = (Input("float32", 2, "float32"), Linear(weights), GroupReduce(np.array([2, 1], np.uint8), "max"))
    program = Program((*steps, Decide("labels")))
    # the first class cancels to 0.001 of 2, then of 2,000; the second is clear both times
    assert program.near_ties([[1.001, 1.0], [1000.001, 1000.0]]).tolist() == [False, True]
    assert program.near_ties([[0.01, 1000.0]]).tolist() == [False]


def test_a_sign_close_to_zero_is_a_near_tie_and_equal_hamming_counts_are_none():
    linear = Linear(Matrix.pack([[1.0, 0.0], [0.0, 1.0]], "float32"), np.array([-1.0, -1.0], np.float32), "sign")
    codes = Distance(Matrix.pack([[0, 1], [1, 0]], "bits"), metric="hamming")
    program = Program((Input("float32", 2, "float32"), linear, codes, Decide("argmin")))
    rows = np.array([[5.0, 5.0], [5.0, 1.000001], [5.0, -3.0]])
    assert program.near_ties(rows).tolist() == [False, True, False]
    assert program.predict(rows[:1]).tolist() == [0]  # counts 1 and 1: the tie goes to the lowest index, everywhere


def test_an_integer_program_has_no_near_ties():
    program = random_program(np.random.default_rng(SEED), "linear")
    assert not program.near_ties(random_rows(np.random.default_rng(1), program, 7)).any()


def test_float_kernels_by_hand():
    points = Distance(Matrix.pack([[0.0, 0.0], [3.0, 4.0]], "float32", "dense"), kernel=0.5)
    as_they_are = Linear(Matrix.pack(np.eye(2), "float32"))
    program = Program((Input("float32", 2, "float32"), points, as_they_are, Decide("argmax")))
    scores, prediction = run(program, [3.0, 4.0])
    assert scores == [math.exp(-12.5), 1.0]
    assert prediction == 1
    np.testing.assert_allclose(program.scores([[3.0, 4.0]]), [scores], rtol=1e-12)
