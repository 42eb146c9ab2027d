"""Boards as TOML (`board`), the compilers and simulators of this machine (`tools`), what is missing (`doctor`).

May import the errors; neither scikit-learn nor numba.
"""
