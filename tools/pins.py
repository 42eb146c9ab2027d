"""Renews constraints.txt: the newest versions that go together on every Python smidgen supports. Run by `make pins`.

The oldest Python supported decides, since the newest packages drop it first; run this with that one.
Names and versions alone are written: no index address, no hash, no file name.
"""

import json
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
HEAD = "# Pins for Python 3.11, 3.12 and 3.13 alike, renewed by `make pins`: names and versions alone.\n"
# What a later piece will bring and what bounds the pins today: numba says how new NumPy may be.
# PyTorch is held back: this release needs no gigabytes of GPU packages where a CPU build of it lies at hand.
BOUND_BY = ["numba", "torch==2.13.0"]


def resolve():
    """Name → version of everything that `.[dev]` pulls in, were it installed today in an empty environment."""
    options = ["--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    # 3.11.0: Debian's Python is 3.11.2, and some packages want 3.11.5
    options += ["--only-binary", ":all:", "--python-version", f"{OLDEST[0]}.{OLDEST[1]}.0"]
    options += ["--target", "build/nowhere"]  # which pip asks for with --python-version, and a dry run never writes
    wanted = [".[dev]", "hatchling", "editables", *BOUND_BY]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    found = (item["metadata"] for item in json.loads(done.stdout)["install"])
    # a build's mark, as in 2.13.0+cpu, is no part of a pin
    return {item["name"]: item["version"].partition("+")[0] for item in found if item["name"] != "smidgen"}


if __name__ == "__main__":
    if sys.version_info[:2] != OLDEST:
        sys.exit("make pins needs Python {}.{}: name it, as in `make pins PYTHON=python3.11`".format(*OLDEST))
    pins = sorted(resolve().items(), key=lambda pin: pin[0].lower())
    Path("constraints.txt").write_text(HEAD + "".join(f"{name}=={version}\n" for name, version in pins))
    print(f"constraints.txt holds {len(pins)} pins")
