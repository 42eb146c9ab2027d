import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.models.support import Columns, fill_room, shrinking, spread_out, strongest
from smidgen.program import Matrix

drawn = st.tuples(st.integers(1, 8), st.integers(1, 40), st.integers(0, 1000))


def magnitudes(shape):
    rows, columns, seed = shape
    return np.abs(np.random.default_rng(seed).normal(size=(rows, columns)))


def all_of(strength):
    return Columns(np.arange(strength.shape[1]), strength.shape[1])


def by_sorting(strength, n_entries, least_a_row):
    """The oracle: each row's best first, then the best of all."""
    rows, columns = strength.shape
    first = [(r, int(c)) for r in range(rows) for c in np.argsort(-strength[r])[:least_a_row]]
    rest = sorted(np.ndindex(rows, columns), key=lambda at: -strength[at])
    kept = first + [at for at in rest if at not in first][: max(0, n_entries - len(first))]
    mask = np.zeros((rows, columns), bool)
    mask[tuple(np.array(kept).T)] = True
    return mask


@settings(max_examples=50, deadline=None)
@given(shape=drawn, share=st.floats(0, 1), least=st.integers(1, 3))
def test_strongest_keeps_each_row_s_best_first(shape, share, least):
    strength = magnitudes(shape)
    n_entries = max(round(share * strength.size), len(strength) * min(least, strength.shape[1]))
    np.testing.assert_array_equal(strongest(strength, n_entries, least), by_sorting(strength, n_entries, least))


@settings(max_examples=50, deadline=None)
@given(shape=drawn, n_bytes=st.integers(0, 400), weight_format=st.sampled_from(["int4", "int8", "float32"]))
def test_fills_a_room_to_the_byte(shape, n_bytes, weight_format):
    strength = magnitudes(shape)
    kept = fill_room(strength, all_of(strength), n_bytes, weight_format, 2)
    taken = Matrix.pack(kept.astype(np.int8), weight_format).n_bytes
    n_kept, least = int(kept.sum()), len(strength) * min(2, strength.shape[1])
    np.testing.assert_array_equal(kept, by_sorting(strength, n_kept, 2))
    assert taken <= n_bytes or n_kept == least
    if n_kept < strength.size and taken <= n_bytes:
        one_more = by_sorting(strength, n_kept + 1, 2)
        assert Matrix.pack(one_more.astype(np.int8), weight_format).n_bytes > n_bytes


def test_all_stay_where_there_is_room():
    strength = magnitudes((3, 5, 0))
    assert fill_room(strength, all_of(strength), 9, "int4", 2).all()
    assert not fill_room(strength, all_of(strength), 8, "int4", 2).all()


def test_gaps_over_features_left_out_are_paid_for():
    """Bytes are those of the stored matrix, of all features, whatever few of them are still trained."""
    strength, columns = magnitudes((4, 6, 0)), Columns(np.arange(6) * 100, 600)
    for n_bytes in (30, 40, 60, 80):
        kept = fill_room(strength, columns, n_bytes, "int4", 2)
        stored = spread_out(kept, columns)
        assert stored.shape == (4, 600)
        np.testing.assert_array_equal(stored[:, ::100], kept)
        assert Matrix.pack(stored, "int4").n_bytes <= max(
            n_bytes, Matrix.pack(spread_out(by_sorting(strength, 8, 2), columns), "int4").n_bytes
        )


def test_shrinks_steeply_at_first():
    sizes = [shrinking(1000, 100, progress) for progress in np.linspace(0, 1, 11)]
    assert sizes[0] == 1000
    assert sizes[-1] == 100
    steps = np.diff(sizes)
    assert (steps <= 0).all()
    assert (np.diff(steps) >= 0).all()
    assert sizes[5] == pytest.approx(100 + 900 / 8, abs=1)
