import array_api_strict
import numpy as np
import pytest

from smidgen.core.random import generator


def draws(source):
    return [source.uniform((40, 5)), source.normal((40, 5)), source.integers(7, (200,)), source.permutation(20)]


def check_what_is_drawn(uniform, normal, integers, permutation):
    assert uniform.shape == (40, 5)
    assert uniform.dtype == np.float32
    assert ((uniform >= 0) & (uniform < 1)).all()
    assert abs(uniform.mean() - 0.5) < 0.1  # 5 standard errors of 200 draws
    assert normal.dtype == np.float32
    assert abs(normal.mean()) < 0.36
    assert abs(normal.std() - 1) < 0.26
    assert integers.dtype == np.int64
    assert set(integers.tolist()) == set(range(7))
    assert permutation.dtype == np.int64
    assert permutation.tolist() != list(range(20))
    assert sorted(permutation.tolist()) == list(range(20))


def test_what_is_drawn():
    check_what_is_drawn(*draws(generator(np, seed=0)))


@pytest.mark.parametrize("like", [np, np.zeros(2)], ids=["namespace", "array"])
def test_same_seed_same_bytes(like):
    for first, second in zip(draws(generator(like, seed=3)), draws(generator(np, seed=3)), strict=True):
        assert first.tobytes() == second.tobytes()


def test_another_seed_other_numbers():
    for first, second in zip(draws(generator(np, seed=3)), draws(generator(np, seed=4)), strict=True):
        assert not np.array_equal(first, second)


def test_other_namespaces_get_the_same_numbers():
    strict = generator(array_api_strict.zeros(1), seed=5)
    for theirs, ours in zip(draws(strict), draws(generator(np, seed=5)), strict=True):
        assert isinstance(theirs, type(array_api_strict.zeros(1)))
        np.testing.assert_array_equal(np.asarray(theirs), ours)


@pytest.mark.parametrize("shape", [4, (4,), (2, 0), ()])
def test_shapes(shape):
    source = generator(np, seed=0)
    expected = (shape,) if isinstance(shape, int) else shape
    assert source.uniform(shape).shape == source.normal(shape).shape == source.integers(3, shape).shape == expected


@pytest.mark.torch
def test_torch():
    torch = pytest.importorskip("torch")
    check_what_is_drawn(*(drawn.numpy() for drawn in draws(generator(torch.zeros(2), seed=0))))
    for first, second in zip(draws(generator(torch, seed=1)), draws(generator(torch.zeros(2), seed=1)), strict=True):
        assert isinstance(first, torch.Tensor)
        assert torch.equal(first, second)
    assert generator(torch, seed=0).integers(3, 4).shape == (4,)
