"""Boards as TOML, and the compilers and simulators that this machine has for them."""
