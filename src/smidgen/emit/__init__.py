"""Program → C99, and an Arduino library around it. Knows the Program and nothing of estimators or boards.

`names` says what a model may be called, `text` writes numbers, `rows` puts constants in order of use, `steps` makes C
of each step, `plan` knows who writes where, and `c` puts it together with the hand-written `routines` of runtime/.
`arduino` packs a library.
"""

from smidgen.emit.arduino import write_arduino_library
from smidgen.emit.c import c_files, write_c

__all__ = ["c_files", "write_arduino_library", "write_c"]
