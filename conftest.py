"""What holds for every test and doctest, those of src/ too.

Where `CI` is set, a skipped test is a failure; `thorough` tests run few cases here and all of them in `make bench`.

On a laptop a missing toolchain or data set skips the tests that need it; in CI it must not pass unnoticed.
An expected failure (xfail) is no skip. Works under pytest-xdist, whose controller sees every worker's reports.
"""

import os
from collections.abc import Callable

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # SciPy looks at it once; scikit-learn skips its array API check without


class NoSkips:
    """Collects the skips of a session and fails it if there are any."""

    def __init__(self) -> None:
        self.skips: list[str] = []

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            # a skip's longrepr is (file, line, reason)
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skips.append(f"{report.nodeid}: {reason}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.skips and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.skips:
            terminalreporter.section("skipped, which is a failure where CI is set", red=True)
            for skip in self.skips:
                terminalreporter.line(skip)


def pytest_configure(config: pytest.Config) -> None:
    # xdist's workers only report to the controller; it is the controller's session that must fail
    if os.environ.get("CI") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NoSkips(), "smidgen-no-skips")


@pytest.fixture
def how_many() -> Callable[[int, int], int]:
    """`how_many(few, full)`: the cases of a test marked `thorough`, few in `make test`, full in `make bench`."""

    def choose(few: int, full: int) -> int:
        if not os.environ.get("SMIDGEN_THOROUGH"):
            return few
        print(f"cases: {full}")  # noqa: T201  benchmarks/parts/ground.py reads it
        return full

    return choose
