"""Settings of the site: `sphinx-build -c docs -W . build/site`, see CONTRIBUTING.md.

The source is the root of the repository, so that a link is the same on the site and on the forge.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import site_pages  # noqa: E402

import lopsided  # noqa: E402

project = "lopsided"
author = "The lopsided authors"
project_copyright = author
version = release = lopsided.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = ["**/.*", "build", "docs/_theme"]
default_role = "code"
nitpicky = False
keep_warnings = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have the types
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "returns_style")]

html_theme = "furo"
html_title = f"lopsided {release}"
html_static_path = ["_theme"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_additional_pages = {"index": "redirect.html"}
templates_path = ["_theme"]
pygments_style = "tango"
pygments_dark_style = "monokai"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#b93c07",
        "color-brand-content": "#b93c07",
        "color-brand-visited": "#8a3ffc",
    },
    "dark_css_variables": {
        "color-brand-primary": "#ff8f5a",
        "color-brand-content": "#ff8f5a",
        "color-brand-visited": "#c9a0ff",
    },
}


def setup(app):
    """Fill in the generated parts of pages."""
    app.connect("source-read", site_pages.fill)
    app.connect("autodoc-process-docstring", site_pages.escape, priority=400)
    app.connect("autodoc-process-signature", site_pages.signature)
