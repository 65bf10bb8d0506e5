"""The public names of the package: modules, what they list, and where a name lives."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import colk


def public_modules() -> list[str]:
    """Modules that a user may import: colk itself and those that it lists."""
    home = Path(colk.__file__).parent
    listed = [
        name for name in dir(colk) if (home / name).is_dir() or (home / f"{name}.py").exists()
    ]
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
    raise LookupError(f"colk.{name} is in no public module")
