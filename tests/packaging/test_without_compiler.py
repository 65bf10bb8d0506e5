"""Without a C compiler the package installs uncompiled and warns."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

SUITE = Path(__file__).with_name("small_suite.py")
IGNORED = "ignore::colk.errors.UncompiledWarning"


@pytest.fixture
def python(sources, tmp_path):
    """An interpreter of a fresh environment with an uncompiled package.

    Its dependencies come from the environment of the tests.
    """
    pytest.importorskip("setuptools", minversion="77")
    venv.create(tmp_path / "venv", with_pip=False)
    folder = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    found = folder / ("python.exe" if os.name == "nt" else "python")
    packages = run(found, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout
    Path(packages.strip(), "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--disable-pip-version-check"]
    hidden = {"PATH": str(folder), "CC": "/nonexistent/cc"}
    run(sys.executable, "-m", "pip", f"--python={found}", "install", *options, sources, **hidden)
    return found


def run(*command, **environment):
    """Run a command outside of the sources, and wait for its end."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "COLK_PURE")}
    found = subprocess.run(
        [str(part) for part in command],
        env={**inherited, **environment},
        cwd=Path(sys.prefix),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found


@pytest.mark.slow
def test_the_package_works_and_says_that_it_is_slow(python):
    silent = run(python, "-c", "import colk; print(colk.__file__)")
    assert str(python.parents[1]) in silent.stdout
    assert silent.stderr == ""
    loud = run(
        python,
        "-c",
        "import colk._engine.stream; print(colk._engine.stream.__file__, colk.learners)",
    )
    assert "stream.py " in loud.stdout
    (line,) = loud.stderr.splitlines()
    assert "UncompiledWarning: colk runs uncompiled" in line
    assert "C compiler" in line

    needs = "from importlib.metadata import requires; print(requires('colk'))"
    assert "'cython>=3.2'" in run(python, "-c", needs).stdout
    passed = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", IGNORED, SUITE)
    assert " passed" in passed.stdout
