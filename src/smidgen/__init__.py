"""smidgen: classifiers small enough for a microcontroller, proved to fit, handed over as C.

The public names are lazy: importing the package loads neither scikit-learn nor numba.
"""

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

# public name → module that holds it; the module is imported when the name is first asked for
_HOMES: dict[str, str] = {
    "Certificate": "smidgen.boards.certificate",
    "Program": "smidgen.program",
    "ProtoNNClassifier": "smidgen.models.protonn",
    "ProtoNNRegressor": "smidgen.models.protonn",
    "PrototypeClassifier": "smidgen.models.prototypes",
    "SmidgenError": "smidgen.errors",
    "SparseNetClassifier": "smidgen.models.sparsenet",
    "SparseNetRegressor": "smidgen.models.sparsenet",
    "load_dataset": "smidgen.data",
    "load_program": "smidgen.program",
    "precision_at_k": "smidgen.core.metrics",
    "quantise": "smidgen.program",
    "read_table": "smidgen.data",
    "to_program": "smidgen.convert",
    "verify": "smidgen.boards.verify",
    "write_arduino_library": "smidgen.emit",
    "write_c": "smidgen.emit",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'smidgen' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
