import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from smidgen.core.threshold import keep_largest, keep_largest_per_row
from smidgen.errors import UsageError

# few distinct magnitudes, so that ties are the rule; both signs; 1-D to 3-D
arrays = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int8]),
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=7),
    elements=st.integers(-3, 3),
)


def largest_by_sorting(values, k):
    """The oracle: sort (magnitude falling, index rising) in plain Python."""
    order = sorted(range(len(values)), key=lambda i: (-abs(float(values[i])), i))
    kept = np.zeros(len(values), bool)
    kept[order[:k]] = True
    return kept


def test_by_hand():
    kept, thresholded = keep_largest(np.array([1.0, -4.0, 4.0, 0.0, -4.0]), 2)
    assert kept.tolist() == [False, True, True, False, False]
    assert thresholded.tolist() == [0.0, -4.0, 4.0, 0.0, 0.0]


@settings(max_examples=80, deadline=None)
@given(values=arrays, k=st.integers(0, 40))
def test_whole_array_equals_sorting(values, k):
    kept, thresholded = keep_largest(values, k)
    expected = largest_by_sorting(values.ravel(), k).reshape(values.shape)
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(thresholded, np.where(expected, values, 0))
    assert kept.sum() == min(k, values.size)
    assert thresholded.dtype == values.dtype


@settings(max_examples=60, deadline=None)
@given(values=arrays, k=st.integers(0, 9))
def test_rows_equal_sorting_each(values, k):
    kept, thresholded = keep_largest_per_row(values, k)
    rows = values.reshape(-1, values.shape[-1])
    expected = np.array([largest_by_sorting(row, k) for row in rows]).reshape(values.shape)
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(thresholded, np.where(expected, values, 0))


@settings(max_examples=30, deadline=None)
@given(values=arrays, k=st.integers(0, 40))
@pytest.mark.parametrize("threshold", [keep_largest, keep_largest_per_row])
def test_keeps_to_the_array_api(threshold, values, k):
    strict = threshold(array_api_strict.asarray(values), k)
    for theirs, ours in zip(strict, threshold(values, k), strict=True):
        np.testing.assert_array_equal(np.asarray(theirs), ours)


def test_the_least_integer_is_the_largest_in_magnitude():
    kept, _ = keep_largest(np.array([127, -128, 127], np.int8), 1)
    assert kept.tolist() == [False, True, False]


def test_input_is_left_alone():
    values = np.array([1.0, 2.0, 3.0])
    keep_largest(values, 1)
    assert values.tolist() == [1.0, 2.0, 3.0]


def test_negative_k_is_refused():
    with pytest.raises(UsageError, match="cannot be negative"):
        keep_largest(np.ones(3), -1)
