"""Copies of the repository that the tests build and install."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ["src", "setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"]


@pytest.fixture
def sources(tmp_path):
    """The sources of a package, without compiled files."""
    if not (ROOT / "src").is_dir():
        pytest.skip("needs the sources")
    copy = tmp_path / "sources"
    copy.mkdir()
    unwanted = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.egg-info")
    for part in PARTS:
        path = ROOT / part
        if path.is_dir():
            shutil.copytree(path, copy / part, ignore=unwanted)
        else:
            shutil.copy(path, copy / part)
    return copy
