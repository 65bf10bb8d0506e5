"""The examples of all docstrings run; public names have one.

Docstrings are read from the sources: compiled classes keep those of their methods and properties
only in part, and none of those that only C code can call.
"""

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

import colk

FOLDER = Path(colk.__file__).parent
# What the extras install, and nothing else needs.
EXTRAS = {"gymnasium", "matplotlib", "pandas", "pyarrow", "rich", "river"}
MODULES = [
    f"colk.{name}"
    for name in dir(colk)
    if (FOLDER / name).is_dir() or (FOLDER / f"{name}.py").exists()
]


def module_name(path):
    parts = path.relative_to(FOLDER.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def docstrings(node, name=""):
    """Names and docstrings of a module and of all that it defines, with the line they begin in."""
    text = ast.get_docstring(node)
    if text is not None:
        yield name, text, node.body[0].lineno - 1
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from docstrings(child, f"{name}.{child.name}".lstrip("."))


def examples():
    for path in sorted(FOLDER.rglob("*.py")):
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
    """With the options that pytest has for README."""
    flags = sum(
        doctest.OPTIONFLAGS_BY_NAME[flag] for flag in pytestconfig.getini("doctest_optionflags")
    )
    # Classes that an example defines are a user's, not the module's.
    names = {**vars(imported(module)), "__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(text, names, module, str(path), line)
    report = []
    doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


def test_none_is_lost():
    """As many examples are run as the sources have lines that begin one."""
    found = sum(text.count(">>> ") for *_, text, _ in (param.values for param in examples()))
    assert found == sum(
        path.read_text(encoding="utf-8").count(">>> ") for path in FOLDER.rglob("*.py")
    )


@pytest.mark.parametrize("name", ["colk", *MODULES])
def test_public_names_have_an_example(name):
    """Classes and functions; also where they are compiled, for `help` to show it."""
    module = imported(name)
    public = {each: getattr(module, each) for each in module.__all__}
    without = [
        each
        for each, thing in public.items()
        if callable(thing) and ">>>" not in (thing.__doc__ or "")
    ]
    assert without == []
