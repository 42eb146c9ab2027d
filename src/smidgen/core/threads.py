"""One thread for BLAS and OpenMP while a model is fitted, so that the same seed gives the same bytes.

A library's pool of threads mostly belongs to the whole process, so its limit is counted: the first fit to come in
takes it, nested and concurrent fits share it, the last one out restores what was there. OpenMP keeps a number for each
thread, so each thread that fits takes and restores its own. Imports threadpoolctl and nothing of the house.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import ThreadpoolController

Library = Any  # a threadpoolctl library controller


@dataclass
class _CountedLimit:
    """A limit to one thread, taken by the first holder and given back by the last, for the libraries it concerns."""

    concerns: Callable[[Library], bool]
    holders: int = 0
    before: list[tuple[Library, int]] = field(default_factory=list)

    def take(self) -> None:
        self.holders += 1
        if self.holders == 1:
            libraries = filter(self.concerns, ThreadpoolController().lib_controllers)
            for library in libraries:
                self.before.append((library, library.num_threads))
                _set_num_threads(library, 1)

    def give_back(self) -> None:
        self.holders -= 1
        while self.holders == 0 and self.before:
            _set_num_threads(*self.before.pop())


def _set_num_threads(library: Library, n: int) -> None:
    """Set it whichever thread set it last: threadpoolctl lets one thread own OpenBLAS, but here the count decides."""
    disown = getattr(library, "clear_controlling_thread", lambda **_: None)
    disown(force=True)
    library.set_num_threads(n)
    disown(force=True)


def _keeps_a_number_for_each_thread(library: Library) -> bool:
    return library.user_api == "openmp" or (
        library.internal_api == "openblas" and getattr(library, "threading_layer", "") == "openmp"
    )


class _OfThisThread(threading.local):
    def __init__(self) -> None:
        self.limit = _CountedLimit(_keeps_a_number_for_each_thread)


_lock = threading.Lock()
_of_the_process = _CountedLimit(lambda library: not _keeps_a_number_for_each_thread(library))
_of_this_thread = _OfThisThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread, as a context manager or as a decorator.

    Libraries that are loaded only later are not held: import what a fit needs at the top of its file.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    >>> @one_thread()
    ... def fit(X):
    ...     return X
    """
    with _lock:
        _of_the_process.take()
        _of_this_thread.limit.take()
    try:
        yield
    finally:
        with _lock:
            _of_this_thread.limit.give_back()
            _of_the_process.give_back()
