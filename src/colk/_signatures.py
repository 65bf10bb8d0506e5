"""Signatures of compiled classes, read from their sources: compiled constructors have none."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from inspect import Parameter, Signature, isfunction
from pathlib import Path
from typing import Any

__all__ = ["SourceSignature"]


class SourceSignature:
    """The `__signature__` of a class whose constructor may be compiled; `inspect` reads it."""

    def __get__(self, instance: object, owner: type) -> Signature | None:
        maker = next(kind for kind in owner.__mro__ if "__init__" in vars(kind))
        if isfunction(vars(maker)["__init__"]):
            return None  # `inspect` reads Python functions itself
        return Signature() if maker is object else _read(maker)


@cache
def _read(kind: type) -> Signature | None:
    """Return the signature of the constructor in the source of a class; None without a source."""
    path = Path(str(sys.modules[kind.__module__].__file__))
    source = path.with_name(path.name.split(".")[0] + ".py")
    if not source.exists():
        return None
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    return Signature(list(_parameters(part.args)))
    return None


def _parameters(written: ast.arguments) -> Iterator[Parameter]:
    """Yield the parameters after `self`. Defaults are literals; annotations stay texts."""
    missing = [None] * (len(written.args) - len(written.defaults))
    positional = zip(written.args[1:], [*missing, *written.defaults][1:], strict=True)
    for argument, default in positional:
        yield _parameter(argument, Parameter.POSITIONAL_OR_KEYWORD, default)
    if written.vararg:
        yield _parameter(written.vararg, Parameter.VAR_POSITIONAL)
    for argument, default in zip(written.kwonlyargs, written.kw_defaults, strict=True):
        yield _parameter(argument, Parameter.KEYWORD_ONLY, default)


def _parameter(argument: ast.arg, kind: Any, default: ast.expr | None = None) -> Parameter:
    annotation = ast.unparse(argument.annotation) if argument.annotation else Parameter.empty
    value = ast.literal_eval(default) if default else Parameter.empty
    return Parameter(argument.arg, kind, default=value, annotation=annotation)
