"""Read the signatures of compiled classes from the sources; compiled classes have none."""

import ast
import copy
import inspect
import sys
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


@cache
def classes_of(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes that a module defines, by name."""
    path = Path(str(sys.modules[module].__file__))
    source = path.with_name(path.name.split(".")[0] + ".py")
    if not source.exists():
        return {}
    body = ast.parse(source.read_text("utf-8")).body
    return {node.name: node for node in body if isinstance(node, ast.ClassDef)}


def method_of(owner: type, name: str) -> ast.FunctionDef | None:
    """Find the definition of a method in the sources of a class or of its bases."""
    for each in owner.__mro__:
        if not each.__module__.startswith("colk"):
            continue
        found = classes_of(each.__module__).get(each.__name__)
        for node in found.body if found else ():
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
    return None


def written(function: ast.FunctionDef) -> str:
    """Return the arguments of a method, without `self` and without types."""
    arguments = copy.deepcopy(function.args)
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        each.annotation = None
    for several in (arguments.vararg, arguments.kwarg):
        if several is not None:
            several.annotation = None
    arguments.args = [each for each in arguments.args if each.arg != "self"]
    return f"({ast.unparse(arguments)})"


def has_signature(thing: Any) -> bool:
    """Return whether `inspect` finds the signature of a class."""
    try:
        inspect.signature(thing)
    except (TypeError, ValueError):
        return False
    return True


def signature_of(thing: Any) -> str:
    """Return the arguments of a compiled class; empty if `inspect` finds them."""
    if not inspect.isclass(thing) or has_signature(thing):
        return ""
    function = method_of(thing, "__init__")
    return written(function) if function else ""


def skip(app: Sphinx, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Skip members that a class inherits from other packages."""
    owner = getattr(thing, "__objclass__", None) or getattr(thing, "fget", None) or thing
    module = getattr(owner, "__module__", None) or ""
    foreign = bool(module) and not module.startswith("colk")
    return True if foreign or name.endswith(("_request", "_routing")) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register `skip`."""
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
