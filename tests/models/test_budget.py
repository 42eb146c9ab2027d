import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smidgen.errors import BudgetError
from smidgen.models.budget import largest_that_fits, parse_budget


@pytest.mark.parametrize(
    ("budget", "n_bytes"),
    [
        (None, None),
        (1500, 1500),
        (np.int64(7), 7),
        (2048.0, 2048),
        ("512", 512),
        ("512 B", 512),
        ("2kB", 2048),
        (" 2 KB ", 2048),
        ("2KiB", 2048),
        ("1.5kB", 1536),
        ("0.3 kB", 307),
        ("2,048 bytes", 2048),
        ("1MB", 1024 * 1024),
    ],
)
def test_parse(budget, n_bytes):
    parsed = parse_budget(budget)
    assert parsed == n_bytes
    assert parsed is None or type(parsed) is int


@pytest.mark.parametrize(
    "budget",
    [
        "",
        "kB",
        "2 GBit",
        "-2kB",
        "two",
        "1e3",
        "1.5",
        "0.2 B",
        "2 kB 3",
        "9" * 400,
        "9" * 5000,
        True,
        [1],
        1.5,
        float("nan"),
    ],
)
def test_what_is_no_number_of_bytes(budget):
    with pytest.raises(BudgetError, match="is not a number of bytes: write"):
        parse_budget(budget)


@pytest.mark.parametrize("budget", [0, -5, "0 kB", "0.0001 kB"])
def test_no_byte_at_all(budget):
    with pytest.raises(BudgetError, match="leaves no byte"):
        parse_budget(budget)


@given(
    start=st.integers(0, 20),
    steps=st.lists(st.integers(0, 3), min_size=1, max_size=30),
    budget=st.integers(0, 60),
    least=st.integers(1, 5),
)
def test_largest_equals_trying_all(start, steps, budget, least):
    prices = dict(enumerate(start + np.cumsum(steps), start=least))
    asked = []

    def n_bytes_of(count):
        asked.append(count)
        return prices[count]

    fitting = [count for count, price in prices.items() if price <= budget]
    assert largest_that_fits(n_bytes_of, budget, least, max(prices)) == max(fitting, default=None)
    assert max(asked) <= 2 * max(fitting, default=least)
