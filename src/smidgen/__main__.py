"""`python -m smidgen` is `smidgen`. Imports cli alone."""

import sys

from smidgen.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
