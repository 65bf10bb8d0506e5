"""Code on the pages runs, links and pictures exist, and every public name has a docstring."""

import doctest
import gc
import re
from importlib import import_module
from pathlib import Path

import inventory
import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path for folder in (DOCS, DOCS / "guide", DOCS / "theory") for path in folder.glob("*.md")
)
# Packages that only the extras install.
EXTRAS = {"river": "river", "rl": "gymnasium"}
# Pages with a grid search, or with functions that Numba compiles.
SLOW = {"choosing", "own"}


def name_of(path):
    return path.relative_to(DOCS).as_posix()


def pages_with_code():
    for page in PAGES:
        if ">>>" in page.read_text("utf-8"):
            marks = [pytest.mark.slow] if page.stem in SLOW else []
            if page.stem == "machines":  # distributed leaves the sockets of a scheduler to Python
                warning = "ignore::pytest.PytestUnraisableExceptionWarning"
                marks.append(pytest.mark.filterwarnings(warning))
            yield pytest.param(page, marks=marks, id=name_of(page))


@pytest.mark.parametrize("page", list(pages_with_code()))
def test_code_runs(page, pytestconfig):
    text = page.read_text("utf-8")
    for extra, package in EXTRAS.items():
        if f"colk.{extra}" in text:
            pytest.importorskip(package)
    flags = sum(
        doctest.OPTIONFLAGS_BY_NAME[flag] for flag in pytestconfig.getini("doctest_optionflags")
    )
    names = {"__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    report = []
    doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=report.append)
    del test, names
    gc.collect()  # objects that the page leaves open belong to this test
    assert not report, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_exist(page):
    """Links, pictures and tables exist. The gallery makes its pictures from the examples."""
    text = page.read_text("utf-8")
    named = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^```{include} (\S+)", text, re.M)
    for target in named:
        if re.match(r"https?://|#|mailto:", target):
            continue
        picture = re.search(r"gallery/images/sphx_glr_(plot_\w+)_001\.png$", target)
        path = page.parent / target.split("#")[0]
        if picture:
            path = ROOT / "examples" / f"{picture[1]}.py"
        elif "gallery/" in target or "api/" in target:  # the build writes these pages
            continue
        assert path.exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_included_parts_exist(page):
    """A page may include a part of a file, between two texts that the file contains."""
    blocks = re.findall(r"^```{include} (\S+)\n(.*?)```", page.read_text("utf-8"), re.M | re.S)
    for target, options in blocks:
        included = (page.parent / target).read_text("utf-8")
        for text in re.findall(r"^:(?:start-after|end-before): (.*)$", options, re.M):
            assert text in included, text


@pytest.mark.parametrize("page", sorted((DOCS / "guide").glob("*.md")), ids=name_of)
def test_a_page_of_the_guide_has_a_picture(page):
    assert page.stem == "index" or "![" in page.read_text("utf-8")


def test_numbers_are_included_and_not_copied():
    """No page of the guide contains a hand-written table of decimals."""
    for page in (DOCS / "guide").glob("*.md"):
        rows = [line for line in page.read_text("utf-8").split("\n") if line.startswith("|")]
        assert not [row for row in rows if re.search(r"\|\s*[-+]?\d+\.\d+\s*\|", row)], page


@pytest.mark.parametrize("name", inventory.public_modules())
def test_public_names_have_a_docstring(name):
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        pytest.skip(f"needs {error.name}")
    assert inventory.undocumented(module) == []
    if name == "colk":
        homes = {inventory.home_of(each) for each in module.__all__ if each != "__version__"}
        assert homes <= set(inventory.public_modules())


def test_a_name_without_a_docstring_is_found():
    module = type(doctest)("bare", "A module.")
    module.__all__ = ["nothing", "something"]
    module.nothing, module.something = (lambda: None), test_a_name_without_a_docstring_is_found
    test_a_name_without_a_docstring_is_found.__doc__ = "Something."
    assert inventory.undocumented(module) == ["bare.nothing"]
