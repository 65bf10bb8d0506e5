"""The reference imports nothing of the engine, and asks terms for no formula but a kernel's own."""

import ast
from pathlib import Path

import pytest

import colk.reference

FILES = sorted(Path(colk.reference.__file__).parent.glob("*.py"))


def imported(source):
    """Names of modules that a file imports, at whatever depth."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_of_the_engine_is_imported(path):
    names = set(imported(path.read_text()))
    ours = {name for name in names if name.split(".")[0] == "colk"}
    assert all(
        name.startswith("colk.reference.") or name == "colk._validation.Array" for name in ours
    )
    others = {name.split(".")[0] for name in names - ours}
    assert others <= {"collections", "dataclasses", "math", "numpy", "typing"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_formula_is_asked_of_a_term(path):
    """It calls no method of a term; users' functions and `kernel.formula` are the exceptions.

    A kernel's formula is an expression that `test_kernel_twins.py` checks in high precision.
    """
    called = {
        f"{node.func.value.id}.{node.func.attr}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    }
    terms = {"kernel", "loss", "risk", "tracker", "averaging", "rate"}
    users = {"loss.value_function", "loss.slope_function"}
    users |= {"risk.disutility_at", "risk.disutility_slope_at"}
    assert {name for name in called if name.split(".")[0] in terms} <= users
