"""The one seam for random numbers: the Array API standard has none, so each backend draws its own.

`generator` gives an object with the same four methods whatever the backend. The same seed gives the same numbers on
one backend; two backends give different ones. Imports nothing of the house but `core.arrays`; torch is imported only
where the arrays are torch's.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import array_api_compat
import numpy as np

from smidgen.core.arrays import Array, Namespace, namespace_of

Shape = int | tuple[int, ...]


class Generator(Protocol):
    """What `generator` returns: float32 and int64 arrays on the backend and device that were asked for."""

    def uniform(self, shape: Shape) -> Array:
        """Draw float32 numbers from [0, 1)."""

    def normal(self, shape: Shape) -> Array:
        """Draw float32 numbers from N(0, 1)."""

    def integers(self, high: int, shape: Shape) -> Array:
        """Draw int64 numbers from 0 .. high - 1."""

    def permutation(self, n: int) -> Array:
        """Draw an order of 0 .. n - 1, as int64."""


def generator(like: Array | Namespace, seed: int, device: Any = None) -> Generator:
    """Return a seeded source of random arrays.

    Parameters
    ----------
    like : array or namespace
        The backend (and, for an array, the device) of what is drawn.
    seed : int
    device : optional
        Where the numbers shall lie; by default where `like` lies.

    Examples
    --------
    >>> import numpy as np
    >>> draw = generator(np, seed=0)
    >>> draw.integers(10, shape=(2, 3)).shape
    (2, 3)
    >>> sorted(int(i) for i in draw.permutation(4))
    [0, 1, 2, 3]
    """
    is_array = array_api_compat.is_array_api_obj(like)
    xp = namespace_of(like) if is_array else like
    device = array_api_compat.device(like) if is_array and device is None else device
    if array_api_compat.is_torch_namespace(xp) or getattr(xp, "__name__", "") == "torch":
        return _torch_generator(seed, device)
    return _NumpyGenerator(xp, device, np.random.Generator(np.random.PCG64(seed)))


@dataclass(frozen=True)
class _NumpyGenerator:
    """NumPy draws; another namespace than NumPy's gets a copy."""

    xp: Namespace
    device: Any
    source: np.random.Generator

    def uniform(self, shape: Shape) -> Array:
        return self._hand_over(self.source.random(shape, dtype=np.float32))

    def normal(self, shape: Shape) -> Array:
        return self._hand_over(self.source.standard_normal(shape, dtype=np.float32))

    def integers(self, high: int, shape: Shape) -> Array:
        return self._hand_over(self.source.integers(high, size=shape, dtype=np.int64))

    def permutation(self, n: int) -> Array:
        return self._hand_over(self.source.permutation(n).astype(np.int64, copy=False))

    def _hand_over(self, drawn: np.ndarray) -> Array:
        return self.xp.asarray(drawn, device=self.device)


def _torch_generator(seed: int, device: Any) -> "Generator":
    import torch  # noqa: PLC0415  (an optional dependency, wanted only by those who hold its arrays)

    device = torch.device("cpu" if device is None else device)
    return _TorchGenerator(torch, device, torch.Generator(device).manual_seed(seed))


@dataclass(frozen=True)
class _TorchGenerator:
    """Torch draws, on the device itself."""

    torch: Any
    device: Any
    source: Any

    def uniform(self, shape: Shape) -> Array:
        return self.torch.rand(shape, generator=self.source, device=self.device, dtype=self.torch.float32)

    def normal(self, shape: Shape) -> Array:
        return self.torch.randn(shape, generator=self.source, device=self.device, dtype=self.torch.float32)

    def integers(self, high: int, shape: Shape) -> Array:
        size = (shape,) if isinstance(shape, int) else shape
        return self.torch.randint(high, size, generator=self.source, device=self.device)

    def permutation(self, n: int) -> Array:
        return self.torch.randperm(n, generator=self.source, device=self.device)
