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


def only_ours(_app, _what, _name, obj, skip, _options):
    """Leave out what scikit-learn's and Python's own classes hand down: their pages have it, with their links."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", obj)
    # a method of a class written in C names its class and no module
    module = getattr(getattr(function, "__objclass__", function), "__module__", None)
    return skip if module is None or module.split(".")[0] == "smidgen" else True


def escape_trailing_underscores(_app, _what, _name, _obj, _options, lines):
    """Keep `classes_` from being read as a link: numpydoc leaves names in its type column bare."""
    for index, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[index] = re.sub(r"(?<![`\w.])([a-z]\w*)_(?=[\s,):]|$)", r"\1\\_", line)


def setup(app):
    app.connect("autodoc-skip-member", only_ours)
    app.connect("autodoc-process-docstring", escape_trailing_underscores)
