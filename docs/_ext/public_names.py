"""Write an API page for every public name in `__all__`. A name without a docstring is an error."""

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

from inventory import (
    PARTS,
    home_of,
    names_in,
    needs_docstring,
    public_modules,
    undocumented,
)
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

import colk

FOLDER = Path(__file__).parents[1] / "api"
# The names that most programs import, and their pages.
FIRST = {
    "colk.COLKRegressor": "colk.estimators.COLKRegressor",
    "colk.COLKClassifier": "colk.estimators.COLKClassifier",
    "colk.COLKQuantileRegressor": "colk.estimators.COLKQuantileRegressor",
    "colk.ConformalRegressor": "colk.conformal.ConformalRegressor",
    "colk.river.COLKRegressor": "colk.river.COLKRegressor",
    "colk.tabular.TableModel": "colk.tabular.TableModel",
    "colk.COLK": "colk.learners.COLK",
    "colk.KernelExpansion": "colk.rkhs.KernelExpansion",
}


def title(text: str) -> str:
    """Return a heading in reStructuredText."""
    return f"{text}\n{'=' * len(text)}\n\n"


def page_of_module(module: ModuleType) -> str:
    """Return the page of a module: its docstring, and a table of its names with links."""
    names = [name for name in names_in(module) if name != "__version__"]
    options = "   :nosignatures:\n"
    if module is colk:  # other modules define its names and have their pages
        names = [f"~{home_of(name).removeprefix('colk.')}.{name}" for name in names]
    else:
        options += "   :toctree: generated\n"
    name = module.__name__
    head = f"{title(name)}.. automodule:: {name}\n\n.. currentmodule:: {name}\n\n"
    parts = list(PARTS.get(name, ()))
    return head + table(names, options) + table(parts, "   :nosignatures:\n")


def table(names: list[str], options: str) -> str:
    """Return a summary of names, one line each; nothing if there are none."""
    listed = "\n".join(f"   {name}" for name in names)
    return f".. autosummary::\n{options}\n{listed}\n\n" if names else ""


def page_of_name(module: ModuleType, name: str) -> str:
    """Return the page of a class with its members, of a function, or of a constant."""
    thing = getattr(module, name)
    head = f"{title(name)}.. currentmodule:: {module.__name__}\n\n"
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
        members = "" if kind == "exception" else "   :members:\n   :inherited-members:\n"
        return f"{head}.. auto{kind}:: {name}\n{members}"
    kind = "function" if needs_docstring(thing) else "module" if inspect.ismodule(thing) else "data"
    full = f"{module.__name__}.{name}" if kind == "module" else name
    return f"{head}.. auto{kind}:: {full}\n"


def first_names() -> str:
    """Return the table of the names in `FIRST`, with the first lines of their docstrings."""
    lines = [".. list-table::", "   :widths: auto", ""]
    for imported, page in FIRST.items():
        module, _, name = imported.rpartition(".")
        summary = inspect.getdoc(getattr(import_module(module), name)).partition("\n")[0]
        lines += [f"   * - :py:class:`{imported} <{page}>`", f"     - {summary}"]
    return "\n".join(lines) + "\n\n"


def page_of_modules(modules: list[ModuleType]) -> str:
    """Return the page of the names that people need first, and of all modules."""
    names = [module.__name__ for module in modules]
    listed = "\n".join(f"   {name}" for name in names)
    return (
        f"{title('API')}The classes that most programs need, under the names that they import:\n\n"
        f"{first_names()}Every public name has a page. These are the modules:\n\n"
        f".. autosummary::\n   :nosignatures:\n\n{listed}\n\n"
        f".. toctree::\n   :hidden:\n\n{listed}\n"
    )


def write_pages(app: Sphinx, config: Config) -> None:
    """Write all pages before Sphinx reads its sources, and delete pages of removed names."""
    modules = [import_module(name) for name in public_modules()]
    bare = [name for module in modules for name in undocumented(module)]
    if bare:
        raise ExtensionError(f"public names without a docstring: {', '.join(bare)}")
    pages = {FOLDER / f"{module.__name__}.rst": page_of_module(module) for module in modules}
    pages[FOLDER / "index.rst"] = page_of_modules(modules)
    for module in modules[1:]:
        for name in names_in(module):
            path = FOLDER / "generated" / f"{module.__name__}.{name}.rst"
            pages[path] = page_of_name(module, name)
    (FOLDER / "generated").mkdir(parents=True, exist_ok=True)
    for path in {*FOLDER.rglob("*.rst")} - set(pages):
        path.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Run `write_pages` when the configuration is loaded."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
