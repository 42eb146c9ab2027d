import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from smidgen.errors import UsageError
from smidgen.models.scaling import (
    best_candidate,
    candidate_float_inputs,
    candidate_inputs,
    feature_ranges,
    raw_type,
    raw_values,
)
from smidgen.program import Input


def inputs_of(X):
    X = np.asarray(X)
    return candidate_inputs(X, np.ones(len(X)))


def bytes_of(X, scaling):
    """docs/arithmetic.md, Input: one number at a time in Python."""
    n = scaling.n_features
    offset, shift = np.broadcast_to(scaling.offset, n), np.broadcast_to(scaling.shift, n)
    multiplier = np.broadcast_to(scaling.multiplier, n)
    result = np.zeros((len(X), n))
    for i, row in enumerate(X):
        for j, x in enumerate(row):
            if scaling.raw == "float32":
                scaled = np.floor(float(np.float32(x) - np.float32(offset[j])) * 2.0 ** (scaling.base + int(shift[j])))
            else:
                scaled = ((int(x) - int(offset[j])) * int(multiplier[j])) >> int(shift[j])
            result[i, j] = min(max(scaled, 0), 255)
    return result


@pytest.mark.parametrize(
    ("X", "raw"),
    [
        ([[0, 255]], "uint8"),
        ([[0.0, 16.0]], "uint8"),
        ([[True, False]], "uint8"),
        ([[-128, 127]], "int8"),
        ([[-1, 128]], "int16"),
        ([[256.0, 0.0]], "int16"),
        ([[-32768, 32767]], "int16"),
        ([[32768, 0]], "float32"),
        ([[0.5, 1]], "float32"),
    ],
)
def test_raw_type(X, raw):
    assert raw_type(np.array(X)) == raw


def test_quantiles_are_values_that_occur():
    X = np.arange(200.0)[:, None]
    ranges = feature_ranges(X, np.ones(200))
    assert [end.item() for end in (ranges.least, ranges.low, ranges.high, ranges.largest)] == [0, 1, 197, 199]


def test_quantiles_by_weight_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(50, 3)), rng.integers(1, 30, 50)
    by_weight, repeated = feature_ranges(X, weight), feature_ranges(np.repeat(X, weight, axis=0), np.ones(weight.sum()))
    for name in ("least", "low", "high", "largest"):
        np.testing.assert_array_equal(getattr(by_weight, name), getattr(repeated, name))


def test_a_rare_feature_keeps_its_tail():
    X = np.zeros((1000, 1))
    X[0] = 7.5
    ranges = feature_ranges(X, np.ones(1000))
    assert (ranges.low, ranges.high) == (0, 7.5)


def test_pixels_are_taken_as_they_are():
    scaling = inputs_of(np.random.default_rng(0).integers(0, 256, (100, 5)))[0]
    assert scaling.raw == "uint8"
    assert not scaling.copies


def test_small_floats_of_one_scale_share_a_shift():
    X = np.random.default_rng(0).random((300, 5)).astype(np.float32)
    scaling = inputs_of(X)[0]
    assert scaling.constants() == {}
    assert scaling.base == 8  # 0..1 becomes 0..255
    assert len(inputs_of(X)) > 1


def test_features_that_agree_leave_one_candidate():
    X = np.repeat(np.random.default_rng(0).random((300, 1)), 5, axis=1).astype(np.float32)
    assert len(inputs_of(X)) == 1


def test_candidates_grow_dearer():
    X = np.random.default_rng(0).integers(-5, 6, (200, 6)) * 5 ** np.arange(6)
    costs = [sum(array.nbytes for array in scaling.constants().values()) for scaling in inputs_of(X)]
    assert costs == sorted(set(costs))
    assert costs == [0, 3, 15, 21]  # nothing; nibbles; int16 offsets too; multipliers too


def spread_out(kind, seed):
    """Rows of one kind of trouble."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 8))
    if kind == "units":
        X = (X + 100 * rng.choice([-1, 1], 8)) * 10.0 ** rng.uniform(-3, 3, 8)
    elif kind == "int16":
        X = np.rint(X * 2.0 ** rng.integers(1, 13, 8) + rng.integers(-3000, 3000, 8)).clip(-32768, 32767)
    elif kind == "indicators":
        X = np.rint(np.abs(X) * np.array([1, 1, 1, 1, 1, 300, 5000, 1]))
    elif kind == "tiny":
        X = X * 1e-30
    elif kind == "huge":
        X = X * 1e36
    return X.astype(np.float32)


@pytest.mark.parametrize("kind", ["plain", "units", "int16", "indicators", "tiny", "huge"])
@pytest.mark.parametrize("seed", range(3))
def test_the_dearest_input_keeps_every_feature(kind, seed):
    X = spread_out(kind, seed)
    scaling = inputs_of(X)[-1]
    values = scaling.run(X)
    np.testing.assert_array_equal(values[:50], bytes_of(X[:50], scaling))
    assert ((values == 0) | (values == 255)).mean(axis=0).max() < (0.7 if kind == "indicators" else 0.05)
    if kind != "units":  # 20 octaves do not fit 16 exponents: the finest features lose some of their bits there
        top = np.sort(values, axis=0)[-5]
        assert top.min() >= 127
    for column, coded in zip(X.T, values.T, strict=True):
        assert np.corrcoef(column.astype(np.float64), coded)[0, 1] > 0.9


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    exponent=st.integers(-40, 36),
    whole=st.booleans(),
    n=st.integers(1, 12),
    d=st.integers(1, 5),
)
def test_any_table_gives_sound_inputs(seed, exponent, whole, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** (exponent / 10 if whole else exponent)
    X[:, rng.random(d) < 0.3] = 5.0
    X = (np.rint(X) if whole else X).astype(np.float32)
    for scaling in inputs_of(X):
        values = scaling.run(X)
        np.testing.assert_array_equal(values, bytes_of(X, scaling))
        assert np.isfinite(raw_values(scaling, values)).all()


@pytest.mark.parametrize("value", [0.0, 7.0, -300.0, 0.25, 1e-30, -1e30])
def test_constant_features_go_unheard(value):
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32) * (1 if value % 1 else 1000)
    X = X if value % 1 else np.rint(X)
    X[:, 1] = value
    for scaling in inputs_of(X)[1:]:
        assert len(set(scaling.run(X)[:, 1])) == 1
    assert len(inputs_of(np.full((5, 1), value, np.float32))) == 1


def test_constant_features_need_no_room():
    X = np.random.default_rng(0).random((300, 3)).astype(np.float32)
    X[:, 1] = 1e6
    scaling = inputs_of(X)[0]
    assert scaling.base == 8
    restored = raw_values(scaling, scaling.run(X), X.min(axis=0), X.max(axis=0))
    np.testing.assert_allclose(restored, X, atol=0.5 / 256 + 1e-6)


def test_raw_values_undo_the_input():
    X = spread_out("units", 0)
    scaling = inputs_of(X)[-1]
    values = scaling.run(X)
    inside = (values > 0) & (values < 255)
    step = np.ldexp(1.0, -(scaling.base + scaling.shift.astype(int)))
    error = np.abs(raw_values(scaling, values) - X)
    assert (error <= 0.51 * step)[inside].all()  # half a step; a hundredth for float32


@pytest.mark.parametrize("kind", ["int16", "indicators"])
def test_raw_values_undo_integer_inputs(kind):
    X = spread_out(kind, 1)
    for scaling in inputs_of(X):
        values = scaling.run(X)
        again = scaling.run(np.rint(raw_values(scaling, values)))
        np.testing.assert_allclose(again, values, atol=1)


def test_trusted_range():
    X = np.array([[0, 16], [3, 4]])
    (scaling,) = candidate_inputs(X, np.ones(2), trusted_range=(0, 16))
    assert scaling.trusted_range == (0, 16)
    assert not scaling.copies
    with pytest.raises(UsageError, match=r"trusted_range is 0..15, but the training rows are uint8 numbers in 0..16"):
        candidate_inputs(X, np.ones(2), trusted_range=(0, 15))
    with pytest.raises(UsageError, match="float32"):
        candidate_inputs(X / 2 + 0.25, np.ones(2), trusted_range=(0, 16))


def test_float_inputs():
    X = np.random.default_rng(0).normal(size=(500, 3)) * [1, 1000, 0] + [0, 50, 4]
    plain, standardised = candidate_float_inputs(X.astype(np.float32), np.ones(500))
    np.testing.assert_array_equal(plain.run(X), X.astype(np.float32))
    np.testing.assert_allclose(standardised.run(X).std(axis=0), [1, 1, 0], rtol=1e-5)
    restored = raw_values(standardised, standardised.run(X))
    np.testing.assert_allclose(restored[:, :2], X[:, :2].astype(np.float32), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_rows_whose_squares_leave_float32_are_always_scaled(scale):
    X = (np.random.default_rng(0).normal(size=(50, 2)) * scale).astype(np.float32)
    (standardised,) = candidate_float_inputs(X, np.ones(50))
    np.testing.assert_allclose(standardised.run(X).std(axis=0), 1, rtol=1e-4)


def test_best_candidate():
    accuracy = {"a": 0.85, "b": 0.87, "c": 0.9}
    assert best_candidate(["a", "b", "c"], accuracy.get, n_rows=100) == "b"  # a standard error is 0.03
    assert best_candidate(["a", "b", "c"], accuracy.get, n_rows=10_000) == "c"
    assert best_candidate(["a", "b"], {"a": 1.0, "b": 1.0}.get, n_rows=9) == "a"
    assert best_candidate([Input("uint8", 1)], None, n_rows=1).raw == "uint8"  # one alone is not tried


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), whole=st.booleans(), share=st.sampled_from([0.0, 0.1, 0.7, 1.0]))
def test_sparse_rows_are_scaled_as_dense_ones(seed, whole, share):
    rng = np.random.default_rng(seed)
    X = rng.integers(-300, 300, (40, 5)) * rng.choice([0, 1, 1, 50], 5) * (rng.random((40, 5)) < share)
    X = X.astype(np.int16) if whole else (X * 0.37).astype(np.float32)
    weight = rng.integers(1, 4, 40).astype(float)
    of_zeros = sparse.csr_array(X)
    assert raw_type(of_zeros) == raw_type(X)
    for tail in (0.0, 0.05, 0.3):
        ours, theirs = feature_ranges(of_zeros, weight, tail), feature_ranges(X, weight, tail)
        for name in ("least", "low", "high", "largest"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for choose in (candidate_inputs, candidate_float_inputs):
        for ours, theirs in zip(choose(of_zeros, weight), choose(X, weight), strict=True):
            np.testing.assert_allclose(ours.run(X), theirs.run(X), rtol=1e-6)


def test_a_table_is_looked_at_in_blocks(monkeypatch):
    monkeypatch.setattr("smidgen.models.scaling.BLOCK_VALUES", 7)
    X = np.arange(60.0).reshape(20, 3)
    assert raw_type(X) == "uint8"
    for row in (0, 1, 2, 19):
        X[row, 2] += 0.5
        assert raw_type(X) == "float32"
        X[row, 2] -= 0.5
    assert raw_type(np.zeros((1, 100))) == "uint8"
