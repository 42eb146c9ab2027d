"""The one line every other file here needs: which Array API namespace do these arrays belong to?

May import NumPy and array-api-compat only. Arrays are NumPy's, torch's or any other library's that follows the
standard.
"""

from typing import Any

import array_api_compat
import numpy as np

Array = Any  # an array of any library that follows the Array API standard
Namespace = Any  # the module of its functions: NumPy's, torch's, ...


def namespace_of(*arrays: Array) -> Namespace:
    """Return the Array API namespace that the arrays share.

    >>> import numpy as np
    >>> namespace_of(np.zeros(3)).__name__.split(".")[-1]
    'numpy'
    """
    if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
        return np  # which follows the standard by itself; small batches would spend much of their time on wrappers
    return array_api_compat.array_namespace(*arrays)
