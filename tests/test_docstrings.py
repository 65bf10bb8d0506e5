"""Run the examples of all docstrings, and check that every public name has one.

Docstrings are read from the sources, because compiled classes keep only some of the docstrings of
their methods and properties, and none of the methods that only C code can call.
"""

import ast
import doctest
import sys
from importlib import import_module
from pathlib import Path

import pytest

import colk

sys.path.append(str(Path(__file__).parents[1] / "docs" / "_ext"))

from inventory import names_in, needs_docstring, public_modules

FOLDER = Path(colk.__file__).parent
LAB = Path(__file__).parents[1] / "lab" / "src" / "colk_lab"
SOURCES = sorted([*FOLDER.rglob("*.py"), *LAB.rglob("*.py")])
# Packages that only the extras install.
EXTRAS = {"gymnasium", "matplotlib", "pandas", "pyarrow", "rich", "river"}


def module_name(path):
    home = LAB if path.is_relative_to(LAB) else FOLDER
    parts = path.relative_to(home.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def docstrings(node, name=""):
    """Yield the name, docstring and line of a module and of everything that it defines."""
    text = ast.get_docstring(node)
    if text is not None:
        yield name, text, node.body[0].lineno - 1
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from docstrings(child, f"{name}.{child.name}".lstrip("."))


def examples():
    for path in SOURCES:
        for name, text, line in docstrings(ast.parse(path.read_text(encoding="utf-8"))):
            if ">>>" in text:
                module = module_name(path)
                yield pytest.param(path, module, text, line, id=f"{module}:{name}")


def imported(name):
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] in EXTRAS:
            pytest.skip(f"needs {error.name}")
        raise


@pytest.mark.parametrize(("path", "module", "text", "line"), list(examples()))
def test_examples(path, module, text, line, pytestconfig):
    """Run one example with the doctest options that pytest uses for README."""
    flags = sum(
        doctest.OPTIONFLAGS_BY_NAME[flag] for flag in pytestconfig.getini("doctest_optionflags")
    )
    # Classes that an example defines must not belong to the module.
    names = {**vars(imported(module)), "__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(text, names, module, str(path), line)
    report = []
    doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


def test_none_is_lost():
    """The tests above run every `>>>` line of the sources."""
    found = sum(text.count(">>> ") for *_, text, _ in (param.values for param in examples()))
    assert found == sum(path.read_text(encoding="utf-8").count(">>> ") for path in SOURCES)


@pytest.mark.parametrize("name", [name for name in public_modules() if name != "colk.data"])
def test_public_names_have_an_example(name):
    """Every class and function has an example that `help` shows, also in the compiled build."""
    module = imported(name)
    public = {each: getattr(module, each) for each in names_in(module)}
    without = [
        each
        for each, thing in public.items()
        if needs_docstring(thing) and ">>>" not in (thing.__doc__ or "")
    ]
    assert without == []
