"""The site: Markdown (MyST), furo, API pages from the docstrings. Built by `make docs`; every warning is an error."""

import re

import smidgen

project = "smidgen"
author = "smidgen developers"
project_copyright = "2026, smidgen developers"
release = version = smidgen.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"smidgen {version}"

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
napoleon_google_docstring = False
napoleon_use_ivar = True
# the docstrings name the types, in words
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def skip_what_sklearn_adds(_app, _what, name, _obj, skip, _options):
    """Leave out `set_fit_request` and its like, which scikit-learn writes into every estimator, with its own links."""
    return True if re.fullmatch(r"set_\w+_request", name) else skip


def setup(app):
    app.connect("autodoc-skip-member", skip_what_sklearn_adds)
