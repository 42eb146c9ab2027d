"""Adam, for one flat array of parameters with a learning rate for each.

Written against the Array API; updates in place, reads nothing back. Imports nothing of the house but `core.arrays`.
"""

from dataclasses import dataclass, field

from smidgen.core.arrays import Array, namespace_of

BETAS = (0.9, 0.99)
EPSILON = 1e-8


@dataclass
class Adam:
    """Adam's two averages, and how many steps they have seen.

    Examples
    --------
    >>> import numpy as np
    >>> theta, adam = np.array([1.0, -1.0]), Adam(np.array([0.1, 0.1]))
    >>> adam.update(theta, np.array([3.0, -0.5]), schedule=1.0)
    >>> theta
    array([ 0.9, -0.9])
    """

    rates: Array  # (P,)
    mean: Array = field(init=False)
    mean_square: Array = field(init=False)
    n_updates: int = 0

    def __post_init__(self) -> None:
        xp = namespace_of(self.rates)
        self.mean, self.mean_square = xp.zeros_like(self.rates), xp.zeros_like(self.rates)

    def update(self, theta: Array, gradient: Array, schedule: float) -> None:
        """Take one step from `theta`, in place, at `schedule` times each parameter's rate."""
        xp = namespace_of(theta)
        self.n_updates += 1
        first, second = BETAS
        self.mean *= first
        self.mean += (1 - first) * gradient
        self.mean_square *= second
        self.mean_square += (1 - second) * gradient * gradient
        correction = schedule / (1 - first**self.n_updates)
        root = xp.sqrt(self.mean_square) / (1 - second**self.n_updates) ** 0.5
        theta -= self.rates * (correction * self.mean) / (root + EPSILON)

    def copy(self) -> "Adam":
        """Return a copy that shares no array."""
        xp = namespace_of(self.rates)
        other = Adam(xp.asarray(self.rates, copy=True))
        other.mean, other.mean_square = (xp.asarray(part, copy=True) for part in (self.mean, self.mean_square))
        other.n_updates = self.n_updates
        return other

    def restrict(self, index: Array) -> None:
        """Forget all parameters but some."""
        xp = namespace_of(self.rates)
        self.rates, self.mean, self.mean_square = (
            xp.take(part, index) for part in (self.rates, self.mean, self.mean_square)
        )
