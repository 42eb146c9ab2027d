"""For every test: scikit-learn's checks with array API dispatch are run, not skipped."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # SciPy looks at it once, when it is first imported
