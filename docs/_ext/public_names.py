"""A page for every public name, made of the modules' `__all__`; one without a docstring is an error."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

import colk

FOLDER = Path(__file__).parents[1] / "api"


def public_modules() -> list[str]:
    """Modules that a user may import: colk itself and those that it lists."""
    home = Path(colk.__file__).parent
    listed = [name for name in dir(colk) if (home / name).is_dir() or (home / f"{name}.py").exists()]
    return ["colk", *(f"colk.{name}" for name in sorted({*listed, "data"}))]


def undocumented(module: ModuleType) -> list[str]:
    """Public names of a module that have no docstring, and the module if it has none."""
    bare = [] if (module.__doc__ or "").strip() else [module.__name__]
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) and not (thing.__doc__ or "").strip():
            bare.append(f"{module.__name__}.{name}")
    return bare


def home_of(name: str) -> str:
    """The public module that a name of the package itself comes from."""
    for each in public_modules()[1:]:
        module = import_module(each)
        if name in module.__all__ and getattr(module, name) is getattr(colk, name):
            return each
    raise ExtensionError(f"colk.{name} is in no public module")


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
