import pytest

from smidgen.core.threads import one_thread


@pytest.fixture(autouse=True)
def _one_thread():
    """scikit-learn's solvers take turns badly when several tests run at once."""
    with one_thread():
        yield
