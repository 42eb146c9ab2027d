"""What a model may be called in C."""

import re

import pytest

from smidgen.emit.names import LONGEST, checked_name
from smidgen.errors import UsageError

BAD = (
    "int",
    "class",
    "9x",
    "a-b",
    "_Reserved",
    "a__b",
    "",
    "naïve",
    "stdint",
    "a b",
    "x" * (LONGEST + 1),
    None,
    7,
    "x\n",
)


@pytest.mark.parametrize("name", ["model", "m0", "Gestures_2", "x" * LONGEST])
def test_a_plain_word_is_taken(name):
    assert checked_name(name) == name


@pytest.mark.parametrize("name", BAD)
def test_any_other_is_refused_in_one_sentence(name):
    with pytest.raises(
        UsageError, match=f"^{re.escape(repr(name))} cannot be the name of a model in C: [^.]*$"
    ) as refused:
        checked_name(name)
    assert "\n" not in str(refused.value)
