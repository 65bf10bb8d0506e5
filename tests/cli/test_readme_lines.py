"""The shell commands of README run; tests/serving runs the one that starts a server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_the_lines_run(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## From a CSV file to a page\n", 1)[1]
    lines = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1].splitlines()
    assert lines.pop() == "colk serve lidar.colk"
    assert len(lines) == 3
    data = tmp_path / "src" / "colk" / "data"
    data.mkdir(parents=True)
    shutil.copy(ROOT / "src" / "colk" / "data" / "lidar.csv", data)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path),
        "PYTHON": sys.executable,
    }
    for line in lines:
        script = f'colk() {{ "$PYTHON" -m colk "$@"; }}\n{line}'
        done = subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert "<h2>The learned function</h2>" in (tmp_path / "lidar.html").read_text()
    assert len((tmp_path / "predicted.csv").read_text().splitlines()) == 222
