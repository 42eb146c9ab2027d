import threading

import pytest
import sklearn.cluster  # noqa: F401  (loads an OpenMP runtime)
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from smidgen.core.threads import one_thread


def counts(user_api):
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == user_api}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(limits=2):
        if counts("blas") != {2} or counts("openmp") != {2}:
            pytest.skip("the BLAS or OpenMP here cannot be held to two threads")
        yield


def all_counts():
    return counts("blas"), counts("openmp")


def test_holds_and_restores():
    with one_thread():
        assert all_counts() == ({1}, {1})
    assert all_counts() == ({2}, {2})


def test_nested():
    with one_thread():
        with one_thread():
            pass
        assert all_counts() == ({1}, {1})
    assert all_counts() == ({2}, {2})


def test_restores_after_an_error():
    with pytest.raises(RuntimeError, match="inside"), one_thread():
        raise RuntimeError("inside")
    assert all_counts() == ({2}, {2})


def test_as_a_decorator_again_and_again():
    @one_thread()
    def fit():
        return all_counts()

    for _ in range(2):
        assert fit() == ({1}, {1})
        assert all_counts() == ({2}, {2})


def test_concurrent_fits_share_one_limit_and_the_last_restores():
    first_is_in, second_is_in, first_is_out = threading.Event(), threading.Event(), threading.Event()
    seen = {}

    def first():
        with one_thread():
            first_is_in.set()
            assert second_is_in.wait(10)
        first_is_out.set()

    def second():
        assert first_is_in.wait(10)
        with ThreadpoolController().select(user_api="openmp").limit(limits=2), one_thread():
            second_is_in.set()
            assert first_is_out.wait(10)
            seen["first left"] = all_counts()

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert seen["first left"] == ({1}, {1})
    assert all_counts() == ({2}, {2})


def test_another_thread_is_held_after_the_main_one_was():
    with one_thread():
        pass
    seen = []

    def fit():
        with one_thread():
            seen.append(all_counts())

    thread = threading.Thread(target=fit)
    thread.start()
    thread.join(10)
    assert seen == [({1}, {1})]
