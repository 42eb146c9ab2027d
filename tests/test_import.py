"""What `import smidgen` costs and gives: no scikit-learn, no numba, every public name where it is said to be."""

import subprocess
import sys

import pytest

import smidgen

# the import system's own view, in a Python that has seen nothing else
HEAVY = "import sys, smidgen; print([name for name in ('numba', 'sklearn', 'scipy', 'pandas') if name in sys.modules])"


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def test_import_loads_nothing_heavy():
    assert python("-c", HEAVY) == "[]"


@pytest.mark.parametrize("name", smidgen.__all__)
def test_every_public_name_is_there(name):
    assert getattr(smidgen, name) is not None
    assert name in dir(smidgen)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = smidgen.no_such_name


def test_the_command_knows_the_version():
    command = "import sys; from smidgen.cli.main import run; sys.argv = ['smidgen', '--version']; sys.exit(run())"
    assert smidgen.__version__ in python("-c", command)
