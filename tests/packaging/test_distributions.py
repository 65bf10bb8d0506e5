"""Contents and size of the sdist and the wheel."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

MEGABYTE = 1_000_000
BUILD = "from setuptools import build_meta; build_meta.build_{kind}({folder!r})"


def build(kind, sources, folder):
    """Build as `python -m build` does, with the installed packages."""
    pytest.importorskip("setuptools", minversion="77")
    pytest.importorskip("Cython")
    code = BUILD.format(kind=kind, folder=str(folder))
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=sources, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (found,) = folder.iterdir()
    return found


@pytest.mark.slow
def test_sdist_and_wheel(sources, tmp_path):
    """The wheel is built from the sdist, which must contain everything that it needs."""
    for folder in ("sdist", "wheel"):
        (tmp_path / folder).mkdir()
    sdist = build("sdist", sources, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    inside = {path.suffix for path in unpacked.rglob("*") if path.is_file()}
    assert {".py", ".pxd", ".h", ".csv", ".toml"} <= inside
    assert inside.isdisjoint({".c", ".so", ".pyd", ".pyc"})
    assert sdist.stat().st_size < MEGABYTE

    wheel = build("wheel", unpacked, tmp_path / "wheel")
    assert wheel.stat().st_size < 3 * MEGABYTE
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        compiled = [archive.read(name) for name in names if name.endswith(".so")]
    source = unpacked / "src"
    modules = {str(path.relative_to(source).as_posix()) for path in source.rglob("*.p*[yd]")}
    assert modules <= set(names)
    assert {
        "colk/_engine/simd/loops.h",
        "colk/_engine/simd/triangles.h",
        "colk/py.typed",
        "colk/data/lidar.csv",
    } <= set(names)
    assert {Path(name).suffix for name in names if name.startswith("colk/")}.isdisjoint(
        {".c", ".cpp", ".pyx", ".pyc"}
    )
    if sys.platform == "linux" and "none-any" not in wheel.name:
        assert len(compiled) > 20
        assert not any(b".debug_info" in code or b".symtab" in code for code in compiled)
