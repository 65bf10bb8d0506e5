"""A page for every public name, made of `__all__`; one without a docstring is an error."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from inventory import home_of, public_modules, undocumented
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

import colk

FOLDER = Path(__file__).parents[1] / "api"


def page(module: ModuleType) -> str:
    """Write what a module is, and the table of its names, each with a page of its own."""
    title = module.__name__
    names = [name for name in module.__all__ if name != "__version__"]
    options = "   :nosignatures:\n"
    if module is colk:  # its names live elsewhere, and have their pages there
        names = [f"~{home_of(name)}.{name}" for name in names]
    else:
        options += "   :toctree: generated\n"
    listed = "\n".join(f"   {name}" for name in names)
    return (
        f"{title}\n{'=' * len(title)}\n\n.. automodule:: {title}\n\n.. currentmodule:: {title}\n\n"
        f".. autosummary::\n{options}\n{listed}\n"
    )


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages before the sources are read."""
    modules = [import_module(name) for name in public_modules()]
    bare = [name for module in modules for name in undocumented(module)]
    if bare:
        raise ExtensionError(f"public names without a docstring: {', '.join(bare)}")
    FOLDER.mkdir(exist_ok=True)
    for module in modules:
        path, text = FOLDER / f"{module.__name__}.rst", page(module)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write pages as soon as the settings are read."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
