"""The laboratory uses the public names of colk only."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "colk_lab"
# Files that measure a part that is not public.
MEASURED = {"river_gaps": ["colk._encoding.gaps.FEWEST_ROWS", "colk._encoding.gaps.GapFiller"]}


def used(text):
    """Yield every name of colk that a source imports, with its modules."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == "colk")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "colk":
            yield from (f"{node.module}.{each.name}" for each in node.names)


def private(name):
    """Whether a part of a name begins with one underscore."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_names_are_public(path):
    assert [name for name in used(path.read_text("utf-8")) if private(name)] == (
        MEASURED.get(path.stem, [])
    )


def test_a_private_name_is_noticed():
    text = "import colk._engine\nfrom colk._x import y\nfrom colk.rl import _z, rollout\n"
    assert [private(name) for name in used(text)] == [True, True, True, False]
