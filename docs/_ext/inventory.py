"""List the public modules of the package, and find the module that a public name comes from."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

import colk

# Public modules inside packages.
PARTS = {"colk.tabular": ("reading",)}


def public_modules() -> list[str]:
    """Return the names of all public modules: `colk`, the modules that it lists, their parts."""
    home = Path(colk.__file__).parent
    listed = {
        name for name in dir(colk) if (home / name).is_dir() or (home / f"{name}.py").exists()
    }
    top = {f"colk.{name}" for name in listed | {"data"}}
    parts = {f"{name}.{part}" for name, each in PARTS.items() for part in each}
    return ["colk", *sorted(top | parts)]


def names_in(module: ModuleType) -> list[str]:
    """Return the public names of a module."""
    return list(module.__all__)


def needs_docstring(thing: Any) -> bool:
    """Return whether a thing is a class or a function; data and type aliases have no docstring."""
    return callable(thing) and get_origin(thing) is None


def undocumented(module: ModuleType) -> list[str]:
    """Return the public names without a docstring, and the module itself if it has none."""
    bare = [] if (module.__doc__ or "").strip() else [module.__name__]
    for name in names_in(module):
        thing = getattr(module, name)
        if needs_docstring(thing) and not (thing.__doc__ or "").strip():
            bare.append(f"{module.__name__}.{name}")
    return bare


def home_of(name: str) -> str:
    """Return the public module that defines a name of `colk`."""
    for each in public_modules()[1:]:
        module = import_module(each)
        if name in names_in(module) and getattr(module, name) is getattr(colk, name):
            return each
    raise LookupError(f"colk.{name} is in no public module")
