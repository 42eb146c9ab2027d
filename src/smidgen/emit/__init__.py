"""Program → C99, and an Arduino library around it. Knows the Program and nothing of estimators or boards.

`names` says what a model may be called, `text` writes numbers, `rows` puts constants in order of use, `steps` makes C of
each step, `plan` and `c` put it together from the hand-written routines in runtime/, `arduino` packs the library.
"""

from smidgen.emit.c import c_files, write_c

__all__ = ["c_files", "write_c"]
