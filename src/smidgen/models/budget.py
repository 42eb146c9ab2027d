"""Byte budgets: what users write, in bytes, and the largest count of something that keeps one.

Imports nothing of the house but its errors. 1 kB is 1,024 bytes everywhere.
"""

import re
from collections.abc import Callable
from math import isfinite
from numbers import Integral, Real

from smidgen.errors import BudgetError

_BYTES_OF_UNIT = {"": 1, "b": 1, "byte": 1, "bytes": 1, "kb": 1024, "kib": 1024, "mb": 1024**2, "mib": 1024**2}
_NUMBER_AND_UNIT = re.compile(r"\s*(\d[\d_,]*(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_budget(budget: str | float | None) -> int | None:
    """Return a byte budget as a whole number of bytes.

    Parameters
    ----------
    budget : int, str or None
        Bytes, or a text like "2kB", "512 B" or "1.5 kB"; None, no budget, stays None.

    Examples
    --------
    >>> [parse_budget(budget) for budget in (1500, "512", "512 B", "2kB", "1.5 kB")]
    [1500, 512, 512, 2048, 1536]
    """
    if budget is None:
        return None
    n_bytes = _bytes_of_text(budget) if isinstance(budget, str) else budget
    if isinstance(n_bytes, bool) or not isinstance(n_bytes, (Integral, Real)) or n_bytes != n_bytes // 1:
        raise BudgetError(f"budget {budget!r} is not a number of bytes: write 2048, '2kB' or '512 B'")
    if n_bytes <= 0:
        raise BudgetError(f"budget {budget!r} leaves no byte: give at least one")
    return int(n_bytes)


def _bytes_of_text(budget: str) -> int | None:
    match = _NUMBER_AND_UNIT.fullmatch(budget)
    if match is None or match[2].lower() not in _BYTES_OF_UNIT:
        return None
    unit = _BYTES_OF_UNIT[match[2].lower()]
    n_bytes = float(re.sub("[_,]", "", match[1])) * unit
    whole = isfinite(n_bytes) and (unit > 1 or n_bytes.is_integer())  # part of a kB is a number of bytes, rounded down
    return int(n_bytes) if whole else None


def largest_that_fits(n_bytes_of: Callable[[int], int], budget: int, least: int, most: int) -> int | None:
    """Return the largest count in least .. most whose bytes keep the budget, or None where not even `least` does.

    Parameters
    ----------
    n_bytes_of : callable, count → bytes
        Never falls as the count grows; never asked for more than twice what fits.

    Examples
    --------
    >>> largest_that_fits(lambda count: 10 + 7 * count, budget=100, least=1, most=50)
    12
    """
    if n_bytes_of(least) > budget:
        return None
    fits, too_many = least, most + 1
    while too_many - fits > 1:
        middle = min(2 * fits, (fits + too_many) // 2)
        if n_bytes_of(middle) <= budget:
            fits = middle
        else:
            too_many = middle
    return fits
