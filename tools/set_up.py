"""Makes the virtual environment that every make target runs in: pinned packages, smidgen itself in editable form.

Run by the Makefile with the user's own Python, so it uses the standard library alone and must at least parse on an
old Python, to say in one sentence that it is one. Quiet when all goes well; pip's own words when it does not.

    python3 tools/set_up.py --key            what this set-up depends on besides files: Python's version, this folder
    python3 tools/set_up.py FOLDER STAMP     make or renew the environment FOLDER, then the empty file STAMP
    python3 tools/set_up.py FOLDER STAMP X   add the extra X to an environment that is there, then make STAMP
"""

import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

OLDEST = (3, 11)
PINS = ("-c", "constraints.txt")


def key():
    """Python's version and a short name of this folder: a moved or copied clone must not run its original's code."""
    return "{}.{}-{:08x}".format(*sys.version_info[:2], zlib.crc32(os.fsencode(Path.cwd())))


def refuse_what_cannot_work():
    """Stop with one sentence where Python is too old or Debian keeps venv in a package of its own."""
    here = "{}.{}".format(*sys.version_info[:2])
    if sys.version_info < OLDEST:
        sys.exit(
            f"smidgen needs Python {OLDEST[0]}.{OLDEST[1]} or later and {sys.executable} is {here}: "
            "name a newer one, as in `make test PYTHON=python3.12`"
        )
    try:
        import ensurepip  # noqa: F401, PLC0415
        import venv  # noqa: F401, PLC0415
    except ImportError:
        sys.exit(
            f"{sys.executable} has no venv module: on Debian and Ubuntu, run `apt install python{here}-venv` as root"
        )


def run(*command):
    """Run a command in silence; when it fails, show what it said (without pip's harmless notes) and stop."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if not ("Location" in line and "is ignored" in line)]
        sys.exit("\n".join([*said, f"set-up failed at: {' '.join(map(str, command))}"]))


def main(folder, stamp, extra=None):
    """Make or renew the environment in `folder`, or add an extra to it."""
    refuse_what_cannot_work()
    began = time.monotonic()
    what = f"{extra} in {folder} (once; a few minutes)" if extra else f"{folder} (once; about a minute)"
    print(f"setting up {what} ...", flush=True)
    if not stamp.exists() and extra is None:
        # --clear: whatever lies there was made by another Python, in another place, or half
        run(sys.executable, "-m", "venv", "--clear", str(folder))
    pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", *PINS)
    # first what builds smidgen, pinned like everything else, hence no isolated (and unpinned) build below
    run(*pip, "hatchling", "editables")
    run(*pip, "--no-build-isolation", "--editable", f".[{extra or 'dev'}]")
    stamp.touch()
    print(f"setting up {extra or folder} took {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--key"]:
        print(key())
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
