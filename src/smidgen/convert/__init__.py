"""Estimators → Programs: `to_program`, the one public door. Stands above the estimators."""

from smidgen.convert.door import to_program

__all__ = ["to_program"]
