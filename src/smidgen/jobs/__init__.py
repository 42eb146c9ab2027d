"""Whole jobs that a command (or a script) runs in one call. Nothing here prints. May import all but cli."""
