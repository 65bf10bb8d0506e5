"""CONTRIBUTING and docs/develop agree with the code: their sources are those of the package.

`python tests/test_contributing.py` updates the sources in docs/develop.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from colk_lab.tables.trace_files import files_of_partial_fit

ROOT = Path(__file__).parents[1]

GUIDE = ROOT / "CONTRIBUTING.md"
PAGES = sorted((ROOT / "docs" / "develop").glob("*.md"))
PACKAGE = ROOT / "src" / "colk"
INCLUDED = re.compile(r"(<!-- source: (\S+) (\S+) -->\n```\w+\n)(.*?)(```\n)", re.DOTALL)


def source(path, name):
    """Return the source of a class or method, or an entry of a registry."""
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    if path.endswith("__init__.py"):
        return next(line.strip() + "\n" for line in lines if re.search(rf'": {name}\b', line))
    found = ast.parse(text)
    for part in name.split("."):  # a class, its method, or a variable
        found = next(
            node
            for node in found.body
            if part
            in (getattr(node, "name", None), getattr(getattr(node, "target", 0), "id", None))
        )
    return "".join(lines[found.lineno - 1 : found.end_lineno])


INCLUSIONS = [
    match.groups()[1:4] for page in PAGES for match in INCLUDED.finditer(page.read_text("utf-8"))
]


@pytest.mark.parametrize(("path", "name", "shown"), INCLUSIONS, ids=lambda value: value[:60])
def test_what_is_shown_is_the_source(path, name, shown):
    assert shown == source(path, name), "python tests/test_contributing.py updates it"


def test_every_kind_of_term_is_shown():
    shown = {path for path, _, _ in INCLUSIONS}
    for home in ("kernels", "losses", "risks", "compressors", "learners"):
        assert any(path.startswith(f"src/colk/{home}/") for path in shown)
    assert "src/colk/trackers.py" in shown


def drawings(page):
    """Return the drawings of a page."""
    return re.findall(r"```text\n(.*?)```\n", page.read_text("utf-8"), re.DOTALL)


def test_contributing_is_short():
    assert len(GUIDE.read_bytes()) <= 4096


def test_the_drawing_is_the_way_of_a_sample():
    (drawing,) = drawings(ROOT / "docs" / "develop" / "architecture.md")
    drawn = re.findall(r"[\w/]+\.py", drawing)
    assert len(drawn) == len(set(drawn)) <= 15
    assert set(drawn) == set(files_of_partial_fit())


def test_the_drawing_of_the_layers_is_the_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    (drawing,) = drawings(GUIDE)
    drawn = [line[22:] for line in drawing.splitlines()]
    assert [set(line.replace("|", " ").split()) for line in drawn] == [
        {room.strip().removeprefix("colk.") for room in re.split("[:|]", layer)} for layer in layers
    ]
    assert ["|" in line for line in drawn] == ["|" in layer for layer in layers]


@pytest.mark.parametrize("page", [ROOT / "README.md", GUIDE, *PAGES], ids=lambda page: page.stem)
def test_paths_that_are_named_exist(page):
    text = page.read_text("utf-8")
    linked = re.findall(r"\]\((docs/[\w./]+)\)", text) if page.parent == ROOT else []
    for path in linked + re.findall(r"`((?:src|tests|lab|docs|examples)/[\w./]+)`", text):
        assert (ROOT / path).exists(), path


def renew():
    """Update the sources that docs/develop includes."""
    for page in PAGES:
        text = page.read_text("utf-8")
        page.write_text(
            INCLUDED.sub(lambda found: found[1] + source(found[2], found[3]) + found[5], text),
            "utf-8",
        )


if __name__ == "__main__":
    renew()
