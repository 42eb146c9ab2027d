"""Runs the benchmarks: all parts, or those named. `make bench`, `make bench PART=ground`.

Without a name the tests that need torch or a GPU are run first; `make test` leaves them out.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.harness import page, run_part  # noqa: E402
from benchmarks.parts.ground import GROUND  # noqa: E402
from benchmarks.parts.protonn import PROTONN  # noqa: E402
from benchmarks.parts.prototypes import PROTOTYPES  # noqa: E402

PARTS = (GROUND, PROTOTYPES, PROTONN)
RESULTS = ROOT / "benchmarks" / "results"
NOTHING_TO_RUN = 5


def accelerated_tests() -> bool:
    """Run the tests that need torch or a GPU, where there are any."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-m", "torch or gpu"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode in {0, NOTHING_TO_RUN}


def main(names: list[str]) -> int:
    """Run the parts of these names, all of them without one; 1 where a row failed or a promise was not kept."""
    unknown = set(names) - {part.name for part in PARTS}
    if unknown:
        print(f"there is no part {', '.join(sorted(unknown))}; parts: {', '.join(part.name for part in PARTS)}")
        return 2
    good = bool(names) or accelerated_tests()
    for part in PARTS:
        if not names or part.name in names:
            try:
                good &= run_part(part, RESULTS, say=lambda line: print(line, flush=True))
            finally:  # a stopped run shows what it has
                (RESULTS / "README.md").write_text(page(RESULTS))
    print("results are in benchmarks/results/")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
