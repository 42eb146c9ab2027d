"""What a model may be called in C: its name prefixes every other name, and names the files. Imports the errors."""

import re

from smidgen.errors import UsageError

LONGEST = 40

C_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
"""
CPP_KEYWORDS = """
    alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield
    compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export false friend
    main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast
    requires static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t
    xor xor_eq
"""
HEADERS = """
    Arduino assert complex ctype errno fenv float inttypes iso646 limits locale math pins_arduino setjmp signal stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
"""
TAKEN = {
    **dict.fromkeys(C_KEYWORDS.split(), "a word of C"),
    **dict.fromkeys(CPP_KEYWORDS.split(), "a word of C++"),
    **dict.fromkeys(HEADERS.split(), "the name of a system header"),
}


def checked_name(name: object) -> str:
    """The name itself, if C, C++ and a file system can take it; a `UsageError` that says why not otherwise.

    >>> checked_name("gestures")
    'gestures'
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        why = "it must be letters, digits and underscores, and not begin with a digit"
    elif name in TAKEN:
        why = f"it is {TAKEN[name]}"
    elif name.startswith("_") or "__" in name:
        why = "C and C++ reserve names that begin with an underscore or hold two in a row"
    elif len(name) > LONGEST:
        why = f"it has {len(name)} letters; {LONGEST} are enough"
    else:
        return name
    raise UsageError(f"{name!r} cannot be the name of a model in C: {why}")
