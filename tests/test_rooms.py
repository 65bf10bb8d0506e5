"""The floor plan: few names at the top, no room reaches into the privates of another."""

import ast
from pathlib import Path

import pytest

import colk

FOLDER = Path(colk.__file__).parent
SOURCES = sorted(FOLDER.rglob("*.py"))
LAB = Path(__file__).parents[1] / "lab" / "src" / "colk_lab"
# Public attributes of named tuples, whose names begin with an underscore.
OFFERED = {"_asdict", "_fields", "_make", "_replace"}
LONGEST_FILE = 400


def room_of(path):
    """The folder or module at the top level that a source belongs to."""
    return path.relative_to(FOLDER).parts[0].removesuffix(".py")


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_definitions(tree):
    """Private names that a module defines: functions, classes, constants and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and is_private(node.name):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def is_own(value):
    """Whether an attribute belongs to `self`, `cls` or `super()`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("super", "type")
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def reaches(tree, own):
    """Lines where a private name of another object is used that this room does not define."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value):
            if node.attr not in own | OFFERED:
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("colk"):
            for name in node.names:
                if is_private(name.name) and name.name not in own and not room_exists(name.name):
                    yield node.lineno, name.name


def room_exists(name):
    return (FOLDER / name).is_dir() or (FOLDER / f"{name}.py").exists()


def accesses():
    """Every access across rooms, as file:line name."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    own = {}
    for path, tree in trees.items():
        own.setdefault(room_of(path), set()).update(private_definitions(tree))
    ours = set().union(*own.values())  # other packages have privates as well
    return [
        f"{path.relative_to(FOLDER)}:{line} {name}"
        for path, tree in trees.items()
        for line, name in reaches(tree, own[room_of(path)])
        if name in ours
    ]


def test_no_room_reaches_into_the_privates_of_another():
    assert accesses() == []


@pytest.mark.parametrize("path", [*SOURCES, *sorted(LAB.rglob("*.py"))], ids=str)
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


def test_the_top_level_has_few_names():
    names = {room_of(path) for path in SOURCES}
    public = {name for name in names if not name.startswith("_")}
    assert len(public) <= 25, sorted(public)
