"""The narrow waist: a Program is a short list of typed steps with one integer meaning. NumPy only.

Read in this order: `checks` (one sentence a failure), `signal` (what flows between steps), `arith` (what the integers
mean), `storage` (matrices as bytes); the five steps `input`, `linear`, `distance`, `group`, `decide`; then `program`
(the list itself), `document` (a Program as JSON and arrays) and `file` (those as a zip). `scaling`
(which Inputs suit known ranges), `rounding` (float steps to integer ones) and `quantise` make integers of float32.
"""

from smidgen.program.decide import Decide
from smidgen.program.distance import Distance, Gaussian
from smidgen.program.group import GroupReduce
from smidgen.program.input import Input
from smidgen.program.linear import Linear, Rescale
from smidgen.program.program import Cost, Program, Result, load_program
from smidgen.program.quantise import Quantised, quantise
from smidgen.program.storage import Matrix

__all__ = [
    "Cost",
    "Decide",
    "Distance",
    "Gaussian",
    "GroupReduce",
    "Input",
    "Linear",
    "Matrix",
    "Program",
    "Quantised",
    "Rescale",
    "Result",
    "load_program",
    "quantise",
]
