import array_api_strict
import numpy as np
import pytest

from smidgen.core.arrays import namespace_of


def test_namespaces():
    assert namespace_of(np.zeros(2), np.ones(3)).asarray([1]).tolist() == [1]
    assert namespace_of(array_api_strict.zeros(2)) is array_api_strict


def test_mixed_namespaces_are_refused():
    with pytest.raises(TypeError):
        namespace_of(np.zeros(2), array_api_strict.zeros(2))
