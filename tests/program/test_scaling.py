import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.program import Input
from smidgen.program.input import RAW_LIMITS
from smidgen.program.scaling import affine_input, byte_steps, raw_type_of


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), raw=st.sampled_from(["uint8", "int8", "int16", "float32"]), n=st.integers(1, 6))
def test_an_affine_input_is_the_plain_formula(seed, raw, n):
    rng = np.random.default_rng(seed)
    least, largest = RAW_LIMITS.get(raw, (-1e4, 1e4))
    span = (largest - least) * rng.uniform(0.2, 1, n)
    low = least + rng.uniform(0, 1, n) * (largest - least - span)
    scaling = affine_input(raw, low, 255 / span)
    rows = low + span * rng.uniform(-0.2, 1.2, (40, n))
    rows = np.clip(np.rint(rows), least, largest) if raw in RAW_LIMITS else rows.astype(np.float32)
    start = np.clip(np.floor(low), least, largest) if raw in RAW_LIMITS else low
    ideal = np.clip((rows - start) * 255 / span, 0, 255)
    # 0.2 % of the factor to round the multiplier, and the floor
    assert np.abs(scaling.run(rows) - ideal).max() <= 255 * 0.004 + 1.01


def test_powers_of_two_need_no_multiplier():
    for factor in (0.5, 0.25, 1.0):
        assert affine_input("int16", np.zeros(3), np.full(3, factor)).multiplier == 1
        assert affine_input("float32", np.zeros(3), np.full(3, factor)).multiplier == 1
    assert affine_input("int16", np.zeros(2), np.array([2.0, 1.0])).run([[3, 3]]).tolist() == [[6, 3]]
    assert not affine_input("uint8", np.zeros(3), np.ones(3)).copies


@pytest.mark.parametrize("raw", ["uint8", "int8", "int16", "float32"])
def test_a_factor_of_0_leaves_a_feature_out(raw):
    scaling = affine_input(raw, np.zeros(3), np.array([1.0, 0.0, 0.3]))
    ends = RAW_LIMITS.get(raw, (-3e38, 3e38))
    rows = np.array([[1, end, 1] for end in (*ends, 0)])
    assert not scaling.run(rows)[:, 1].any()
    assert scaling.run(rows)[0, 0] == 1


def test_factors_over_22_octaves_are_kept_apart():
    """16 exponents are nibbles; seven more are the multiplier's."""
    factors = 2.0 ** -np.arange(0, 22)
    scaling = affine_input("float32", np.zeros(22), factors)
    np.testing.assert_array_equal(scaling.run((100.5 / factors)[None, :])[0], np.full(22, 100))


@pytest.mark.parametrize(
    "scaling",
    [
        Input("int16", 2, offset=-7, shift=np.array([0, 3], np.uint8)),
        Input("int8", 2, multiplier=np.array([5, 255], np.uint8), shift=np.array([1, 9], np.uint8)),
        Input("uint8", 2),
    ],
)
def test_byte_steps_by_brute_force(scaling):
    start, step, width = byte_steps(scaling)
    low, high = RAW_LIMITS[scaling.raw]
    raw = np.arange(low, high + 1)
    seen = scaling.run(np.column_stack([raw, raw]))
    for feature in range(2):
        for byte in np.unique(seen[:, feature])[1:-1]:
            held = raw[seen[:, feature] == byte]
            first = start[feature] + byte * step[feature]
            assert first - 1e-9 <= held.min()
            assert held.max() <= first + width[feature] + 1e-9
            assert held.min() - 1 < first
            assert held.max() + 1 > first + width[feature]


def test_raw_type_of_the_ends():
    assert [raw_type_of(*ends) for ends in ((0, 255), (-128, 127), (-1, 128), (0, 32_767), (0, 32_768))] == [
        "uint8", "int8", "int16", "int16", "float32"
    ]  # fmt: skip
