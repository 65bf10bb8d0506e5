"""The compiled modules are up to date with the sources."""

import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import colk

FOLDER = Path(colk.__file__).parent
EDITABLE = FOLDER.parent.name == "src"
DECLARES = re.compile(r"^(?:from\s+(?P<package>[\w.]+)\s+)?cimport\s+(?P<names>[\w., ]+)", re.M)


def compiled_files():
    return {
        path.with_name(path.name.split(".")[0] + ".py"): path
        for path in sorted(FOLDER.rglob(f"*{EXTENSION_SUFFIXES[0]}"))
        if not path.name.startswith("_views.")  # made with the others, of no source
    }


def declarations(path, known=None):
    """The .pxd of a source, and those that it cimports from, at whatever depth."""
    known = set() if known is None else known
    if path in known or not path.exists():
        return known
    known.add(path)
    for found in DECLARES.finditer(path.read_text(encoding="utf-8")):
        names = [name.split()[0] for name in found["names"].split(",")]
        package = found["package"]
        modules = [package, *(f"{package}.{name}" for name in names)] if package else names
        for module in modules:
            declarations(FOLDER.parent / (module.replace(".", "/") + ".pxd"), known)
    return known


def changed_since(compiled, sources):
    made = compiled.stat().st_mtime
    return sorted(path.name for path in sources if path.stat().st_mtime > made)


@pytest.mark.skipif(not EDITABLE, reason="only where the sources are edited")
def test_no_compiled_file_is_older_than_its_source():
    old = {}
    for source, compiled in compiled_files().items():
        assert source.exists(), f"remove {compiled}: its source is gone"
        shared = [*declarations(source.with_suffix(".pxd")), *FOLDER.rglob("*.h")]
        if found := changed_since(compiled, [source, *shared]):
            old[source.name] = found
    assert old == {}, 'compile again: pip install -e ".[test]"'


def test_an_older_file_is_noticed(tmp_path):
    compiled, source = tmp_path / "x.so", tmp_path / "x.py"
    source.touch()
    compiled.touch()
    assert changed_since(compiled, [source]) == []
    os.utime(compiled, (1.0, 1.0))
    assert changed_since(compiled, [source]) == ["x.py"]


def test_declarations_are_followed():
    found = {path.name for path in declarations(FOLDER / "_engine" / "gradient_step.pxd")}
    assert {"gradient_step.pxd", "stream.pxd", "dictionary.pxd", "loops.pxd", "terms.pxd"} <= found


def test_all_modules_are_compiled_or_none():
    hot = [
        path.with_suffix(".py")
        for path in FOLDER.rglob("*.pxd")
        if path.stem not in ("addresses", "blas", "lapack", "loops", "processes", "sparse_rows")
        and path.with_suffix(".py").exists()
    ]
    names = [".".join(path.relative_to(FOLDER.parent).with_suffix("").parts) for path in hot]
    kinds = {Path(import_module(name).__file__).suffix for name in names}
    assert len(names) > 20
    assert len(kinds) == 1


def test_a_compiled_package_says_nothing(capfd):
    """Nor does it need Cython or Numba."""
    if not compiled_files():
        pytest.skip("needs a compiled package")
    code = (
        "import sys; sys.modules['cython'] = sys.modules['Cython'] = sys.modules['numba'] = None; "
        "from colk import COLK; from colk.kernels import Gaussian; "
        "COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])"
    )
    path = str(FOLDER.parent)
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"], check=True
    )
    assert capfd.readouterr() == ("", "")
