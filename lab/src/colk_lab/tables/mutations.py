"""Change formulas of the engine one at a time; a test must notice each change.

    python -m colk_lab.tables mutations [--only TEXT]

A copy of the package without compiled modules is imported once. For each mutant of `mutants.py` a
fork replaces the code of the changed functions, and runs the tests of their file, the most telling
ones first, until one fails. A mutant survives if all of them pass; the command then exits with
status 1. Mutants that cannot change any result are marked in `mutants.py` with the reason; for
these a failing test is an error.
"""

import argparse
import importlib
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from colk_lab.tables.mutants import MUTANTS, TESTS, Mutant
from colk_lab.tables.output import ROOT

# Seconds of processor time after which the tests of a mutant count as failed: a loop may not end.
MOST_SECONDS = 300

# C code does not warn of overflows; NumPy does.
OPTIONS = (
    "-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT),
    "-m", "not slow and not compiled",
    "-W", "ignore::colk.errors.UncompiledWarning",
    "-W", "ignore:overflow encountered:RuntimeWarning",
    "-W", "ignore:invalid value encountered:RuntimeWarning",
)  # fmt: skip


def copy_sources(folder: Path) -> None:
    """Copy the package without compiled modules, and import it from there."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(ROOT / "src" / "colk", folder / "colk", ignore=ignored)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    # The laboratory may have imported the compiled package.
    for name in [name for name in sys.modules if name.partition(".")[0] == "colk"]:
        del sys.modules[name]
    found = importlib.import_module("colk._engine.stream").__file__
    assert Path(str(found)).is_relative_to(folder), found


# -- a mutant ------------------------------------------------------------------------------------


def apply(mutant: Mutant) -> None:
    """Replace the code of the functions of a module by that of the mutant."""
    name = "colk." + mutant.file.removesuffix(".py").replace("/", ".")
    module = importlib.import_module(name)
    path = Path(str(module.__file__))
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.original) != 1:
        raise SystemExit(f"{mutant.file} must contain this once: {mutant.original}")
    changed = source.replace(mutant.original, mutant.changed)
    codes = {code.co_qualname: code for code in nested_codes(compile(changed, path, "exec"))}
    for function in functions(module):
        function.__code__ = codes[function.__qualname__]


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield all code objects in a code object."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from nested_codes(part)


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions and methods that a module defines by name."""
    for value in vars(module).values():
        inside = vars(value).values() if isinstance(value, type) else [value]
        for function in inside:
            plain = getattr(function, "__func__", getattr(function, "fget", function))
            is_here = isinstance(plain, FunctionType) and plain.__module__ == module.__name__
            if is_here and plain.__name__ != "<lambda>":
                yield plain


# -- its tests -----------------------------------------------------------------------------------


class Mutations:
    """A plugin of pytest that runs tests once for every mutant, each time in a fork."""

    def __init__(self, mutants: list[Mutant]) -> None:
        self.mutants, self.wrong = mutants, 0
        self.failed = ""  # the test that failed in this process

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed:
            self.failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Test the package without a mutant, then every mutant."""
        if session.testsfailed:
            raise SystemExit("some tests cannot be imported")
        if failure := self.first_failure(None, session.items):
            raise SystemExit(f"{failure} fails without a mutant")
        for mutant in self.mutants:
            start = time.perf_counter()
            tests = [
                item
                for name in TESTS[mutant.file]
                for item in session.items
                if item.nodeid.startswith(name)
            ]
            failure = self.first_failure(mutant, tests)
            self.wrong += bool(failure) == bool(mutant.equivalent)
            print(f"{time.perf_counter() - start:5.1f} s  {mutant.file}: {mutant.original.strip()}")
            print(f"         became {mutant.changed.strip() or 'nothing'}")
            print(f"         {verdict(mutant, failure)}", flush=True)
        return True

    def first_failure(self, mutant: Mutant | None, tests: list[Any]) -> str:
        """Run tests in a fork until one fails; return its name, or nothing."""
        end, start = os.pipe()
        child = os.fork()
        if child == 0:
            self.run(mutant, tests, start)
        os.close(start)
        with os.fdopen(end) as answer:
            failed = answer.read()
        _, status = os.waitpid(child, 0)
        return failed or ("no end" if status != 0 else "")

    def run(self, mutant: Mutant | None, tests: list[Any], answer: int) -> None:
        """Body of the fork: write the name of the first test that fails, and end."""
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        try:
            if mutant is not None:
                apply(mutant)
            for item in tests:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if self.failed:
                    os.write(answer, self.failed.encode())
                    break
        except BaseException as error:
            os.write(answer, repr(error).encode())
        os._exit(0)


def verdict(mutant: Mutant, failure: str) -> str:
    """Return the outcome of a mutant, in capitals if it is not the expected one."""
    if mutant.equivalent:
        return f"KILLED by {failure}" if failure else f"equivalent: {mutant.equivalent}"
    return f"killed by {failure}" if failure else "SURVIVES"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="mutants whose file or text contains this")
    wanted = parser.parse_args().only
    chosen = [mutant for mutant in MUTANTS if wanted in mutant.file + mutant.original]
    for mutant in chosen:
        if (ROOT / "src" / "colk" / mutant.file).read_text("utf-8").count(mutant.original) != 1:
            raise SystemExit(f"{mutant.file} must contain this once: {mutant.original}")
    tests = dict.fromkeys(name for mutant in chosen for name in TESTS[mutant.file])
    plugin = Mutations(chosen)
    with tempfile.TemporaryDirectory() as name:
        copy_sources(Path(name))
        os.chdir(ROOT)
        code = pytest.main([*OPTIONS, *tests], plugins=[plugin])
    print(f"{len(chosen)} mutants, {plugin.wrong} with the wrong result")
    return int(plugin.wrong > 0 or code != 0)


if __name__ == "__main__":
    sys.exit(main())
