"""One tree of errors, each a single sentence: what is wrong, where, and what to do.

Imports nothing; every room of the house may import it.
"""


class SmidgenError(Exception):
    """The root: `except SmidgenError` catches everything that smidgen raises on purpose."""


class DataError(SmidgenError, ValueError):
    """A table, a named set or an array that cannot be used; names the file, the column and the line."""


class ProgramError(SmidgenError, ValueError):
    """A Program that cannot be: shapes that do not meet, or a number that would leave its accumulator."""


class AgreementError(SmidgenError, ValueError):
    """An integer Program that answers otherwise than its float32 original too often; says how often."""


class ModelFileError(SmidgenError, ValueError):
    """A `.smg` file that is not one, is damaged, comes from a newer smidgen, or cannot be written."""


class BudgetError(SmidgenError, ValueError):
    """A byte budget that nothing can meet (says the smallest that can be), or a model too big for its board."""


class ToolError(SmidgenError, RuntimeError):
    """A compiler, a simulator or another program that is missing or failed."""


class UsageError(SmidgenError, ValueError):
    """A command or a function called in a way that makes no sense; says which way does."""
