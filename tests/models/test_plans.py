import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.errors import BudgetError
from smidgen.models.plans import (
    LEAST_ENTRIES,
    dense_bytes,
    entries_within,
    expected_bytes,
    most_bytes,
    plan_protonn,
    plan_sparsenet,
    protonn_width,
)
from smidgen.program import Matrix

FORMATS = ("int4", "int8", "float32")
some_format = st.sampled_from(FORMATS)
thorough = settings(max_examples=60, deadline=None)
PLANNERS = {
    "protonn": (plan_protonn, ("projection", "prototypes", "labels"), "width"),
    "sparsenet": (plan_sparsenet, ("projection", "outputs"), "n_hidden"),
}
every_planner = pytest.mark.parametrize("planner", PLANNERS)


def plan(planner, budget, n_features, n_outputs, weight_format="int4", **sizes):
    plan_of, names, _ = PLANNERS[planner]
    return plan_of(budget, n_features, n_outputs, dict.fromkeys(names, weight_format), **sizes)


def stored(draw, n_entries, rows, columns, weight_format):
    """A matrix with so many entries at random places, as the Program stores it."""
    values = np.zeros(rows * columns)
    values[draw.permutation(rows * columns)[:n_entries]] = 3
    return Matrix.pack(values.reshape(rows, columns), weight_format)


shapes = st.tuples(st.integers(1, 30), st.integers(4, 400), st.floats(0, 1), st.integers(0, 1000))


@thorough
@given(shape=shapes, weight_format=some_format)
def test_the_bound_holds_wherever_the_entries_are(shape, weight_format):
    rows, columns, density, seed = shape
    n_entries = round(density * rows * columns)
    bound = most_bytes(n_entries, rows, columns, weight_format)
    assert stored(np.random.default_rng(seed), n_entries, rows, columns, weight_format).n_bytes <= bound
    for place in (slice(None, n_entries), slice(rows * columns - n_entries, None)):  # all at one end
        values = np.zeros(rows * columns)
        values[place] = 3
        assert Matrix.pack(values.reshape(rows, columns), weight_format).n_bytes <= bound


@thorough
@given(shape=shapes, weight_format=some_format)
def test_scattered_entries_take_about_what_is_expected(shape, weight_format):
    rows, columns, density, seed = shape
    n_entries = max(4 * rows, round(density * rows * columns))
    n_bytes = stored(np.random.default_rng(seed), n_entries, rows, columns, weight_format).n_bytes
    expected = expected_bytes(n_entries, rows, columns, weight_format)
    assert expected == pytest.approx(n_bytes, rel=0.2, abs=3 * rows + 10)


@thorough
@given(rows=st.integers(1, 40), columns=st.integers(1, 300), n_bytes=st.integers(1, 5000), weight_format=some_format)
def test_entries_within_a_room(rows, columns, n_bytes, weight_format):
    n = entries_within(n_bytes, rows, columns, weight_format)
    least = rows * min(LEAST_ENTRIES, columns)
    assert least <= n <= rows * columns
    assert n == least or expected_bytes(n, rows, columns, weight_format) <= n_bytes
    if n < rows * columns and dense_bytes(rows, columns, weight_format) > n_bytes:
        assert math.ceil(expected_bytes(n + 1, rows, columns, weight_format)) > n_bytes or n == least


@every_planner
@thorough
@given(
    budget=st.integers(1, 20_000),
    n_features=st.integers(1, 900),
    n_outputs=st.integers(1, 40),
    weight_format=some_format,
    input_bytes=st.integers(0, 200),
)
def test_never_more_than_the_budget_and_a_refusal_names_what_works(
    planner, budget, n_features, n_outputs, weight_format, input_bytes
):
    try:
        found = plan(planner, budget, n_features, n_outputs, weight_format, input_bytes=input_bytes)
    except BudgetError as refusal:
        least = int(str(refusal).split()[-1])
        assert least > budget
        assert plan(planner, least, n_features, n_outputs, weight_format, input_bytes=input_bytes).n_bytes <= least
        with pytest.raises(BudgetError):
            plan(planner, least - 1, n_features, n_outputs, weight_format, input_bytes=input_bytes)
        return
    assert found.n_bytes <= budget
    assert found.projection_bytes >= 1
    assert found.n_entries >= getattr(found, PLANNERS[planner][2]) * min(LEAST_ENTRIES, n_features)


@every_planner
@pytest.mark.parametrize("weight_format", FORMATS)
@pytest.mark.parametrize(("n_features", "n_outputs"), [(64, 10), (784, 1), (300, 2)])
def test_the_whole_budget_is_spent(planner, weight_format, n_features, n_outputs):
    for budget in (2048, 4096, 5000):
        found = plan(planner, budget, n_features, n_outputs, weight_format)
        one_more = 200 if weight_format == "float32" else 80  # bytes of another unit or prototype
        assert budget - one_more <= found.n_bytes <= budget


@every_planner
def test_what_is_given_stays_as_given(planner):
    size = PLANNERS[planner][2]
    found = plan(planner, 4096, 100, 10, **{size: 7})
    assert getattr(found, size) == 7
    dense = plan(planner, 4096, 100, 10, density=1.0, **{size: 7})
    assert dense.n_entries == 700
    assert dense.projection_is_fixed
    sparse = plan(planner, 4096, 100, 10, density=0.1, **{size: 7})
    assert sparse.n_entries == pytest.approx(70, abs=7)
    with pytest.raises(BudgetError):
        plan(planner, 100, 100, 10, **{size: 50})


def test_protonn_by_hand():
    formats = {"projection": "int4", "prototypes": "int8", "labels": "int4"}
    found = plan_protonn(10_000, 100, 10, formats, width=8, n_prototypes=30, n_labels=2, density=1.0, input_bytes=5)
    assert (found.width, found.n_prototypes, found.n_labels) == (8, 30, 2)
    # points, labels of two entries in each of 30 columns, 16-bit biases, the table, the Input; W
    labels = most_bytes(60, 10, 30, "int4")
    assert found.largest_bias == 2**31 - 1  # 100 entries of up to 7 times a byte: past int16
    assert found.n_bytes == 30 * 8 + labels + 8 * 4 + 33 + 5 + 8 * 50
    few = plan_protonn(10_000, 100, 10, formats, width=8, n_prototypes=30, n_labels=2, density=0.1, input_bytes=5)
    assert few.largest_bias == 2**15 - 1
    assert few.bytes_but_projection == found.bytes_but_projection - 8 * 2


def test_sparsenet_by_hand():
    found = plan_sparsenet(1000, 20, 3, {"projection": "int8", "outputs": "int4"}, n_hidden=9, density=1.0)
    assert found.n_bytes == 9 * 20 + 3 * 5 + 9 * 4 + 3 * 4


def test_prototypes_stay_within_what_there_is():
    formats = dict.fromkeys(("projection", "prototypes", "labels"), "int4")
    assert plan_protonn(4096, 10, 3, formats, most_prototypes=25).n_prototypes == 25
    assert plan_protonn(400, 10, 3, formats, least_prototypes=20).n_prototypes >= 20
    with pytest.raises(BudgetError):
        plan_protonn(100, 10, 3, formats, least_prototypes=300)


@given(n_features=st.integers(1, 2000), n_outputs=st.integers(1, 300), factor=st.sampled_from([0.7, 1.0, 1.4]))
def test_widths_are_even_and_follow_the_features(n_features, n_outputs, factor):
    width = protonn_width(n_features, n_outputs, factor)
    assert width >= 1
    assert width <= math.ceil(1.5 * max(n_features, min(2 * n_features, 8)))
    assert width % 2 == 0 or width <= 3
    assert width <= (12 + n_outputs / 2) * factor + 1
