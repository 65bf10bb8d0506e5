"""Sphinx configuration. Build the site with `sphinx-build -W docs site`; no network is needed."""

import sys
import tomllib
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
mpl.use("Agg")

from colk import __version__  # noqa: E402

project = "colk"
author = "The colk developers"
copyright = "the colk developers"  # noqa: A001
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # The following are in docs/_ext.
    "mathml",
    "bars",
    "message_lists",
    "prose",
    "public_names",
    "members",
    "titles",
    "findable",
]
exclude_patterns = ["_*", "bench", "gallery/**/*.py", "gallery/**/*.ipynb", "gallery/**/*.py.md5"]
default_role = "py:obj"
nitpicky = False
smartquotes = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the order of the gallery is a function

# The copy button leaves prompts and output out.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

autosummary_generate = False  # public_names writes the pages
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"show-inheritance": True}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"stream_worker\.py",  # a script that the guide includes
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "within_subsection_order": "titles.reading_order",
    "plot_gallery": "True",
    "write_computation_times": False,  # its page would fetch scripts from elsewhere
}

html_theme = "pydata_sphinx_theme"
html_title = f"colk {release}"
html_static_path = ["_static"]
html_extra_path = ["bench"]  # the page and the table of the last published run of `colk bench`
html_css_files = ["colk.css"]
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}  # light or dark, as the browser prefers
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_sidebars = {"index": [], "when-not": []}
# Repository, issues and changelog, once pyproject.toml names them.
URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
html_theme_options = {
    "external_links": [{"name": name, "url": url} for name, url in URLS.items()],
    "logo": {"text": "colk"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
