"""How Sphinx makes the site; `python docs/site/build.py` calls it."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

import docstrings
import driftbandit
import formulas
import reference

project = "driftbandit"
author = copyright = "The driftbandit authors"
version = release = driftbandit.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # code with "…" in it, which is meant
highlight_language = "none"
pygments_style, pygments_dark_style = "friendly", "github-dark"

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"
viewcode_line_numbers = True

html_theme = "furo"
html_title = f"driftbandit {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = html_logo = "static/waves.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0068a3", "color-brand-content": "#0068a3"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e6", "color-brand-content": "#6cb8e6"},
    "footer_icons": [],
    "top_of_page_buttons": [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

NAMES = {name.rpartition(".")[2]: name for name in reversed(list(reference.names()))}
"""What a word in backticks may mean."""


class Formula(Directive):
    """Lines of formulas in plain Unicode."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", formulas.block([line for line in self.content if line.strip()]), format="html")]


def formula(role, rawtext, text, line, inliner, options=None, content=None):  # docutils says what a role gets
    """A formula in the middle of a sentence."""
    return [nodes.raw("", formulas.mathematics(text), format="html")], []


def written(app, what, name, obj, options, lines):  # Sphinx says what a listener gets
    """A docstring in the way of this package, as reStructuredText."""
    try:
        lines[:] = docstrings.restructured("\n".join(lines), NAMES.get)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def setup(app: Sphinx) -> None:
    """What Sphinx calls first."""
    app.add_directive("formula", Formula)
    app.add_role("formula", formula)
    app.connect("autodoc-process-docstring", written)
