"""The C header does not misuse memory or arithmetic, in any of its three forms."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import colk

HERE = Path(__file__).parent
SOURCES = Path(colk.__file__).parent
COMPILER = shutil.which("gcc") or shutil.which("clang")
FLAGS = [
    *("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"),
    *("-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
]


def run(source, program, *options):
    """Compile and run; the text of what was found wrong."""
    command = [COMPILER, *FLAGS, *options, f"-I{SOURCES}", str(source), "-lm", "-o", str(program)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    found = subprocess.run([program], capture_output=True, text=True, check=False)
    return found.stdout + found.stderr if found.returncode else ""


@pytest.fixture(scope="module")
def sanitizers(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    command = [COMPILER, "-fsanitize=address,undefined", "probe.c", "-o", "probe"]
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("needs the address and undefined-behaviour sanitizers")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["", "COLK_PLAIN", "COLK_SCALAR"])
@pytest.mark.usefixtures("sanitizers")
def test_header(form, tmp_path):
    """For the machine at hand, for any machine of its kind, and without vectors."""
    options = [f"-D{form}"] if form else []
    assert run(HERE / "sanitize.c", tmp_path / "lanes", *options) == ""


@pytest.mark.slow
@pytest.mark.usefixtures("sanitizers")
def test_a_write_beyond_the_end_is_reported(tmp_path):
    source = tmp_path / "beyond.c"
    source.write_text(
        '#include <stdlib.h>\n#include "lanes.h"\n'
        "int main(void) { double *x = calloc(4, sizeof *x); scale(x, 2.0, 5); free(x); }\n"
    )
    assert "heap-buffer-overflow" in run(source, tmp_path / "beyond", "-Wno-unused-function")


def test_every_function_is_run():
    """All that compiled modules can call."""
    declared = re.findall(r'_\w+ "(\w+)"\(', (SOURCES / "lanes.pxd").read_text())
    driver = (HERE / "sanitize.c").read_text()
    assert len(declared) > 10
    assert [name for name in declared if not re.search(rf"\b{name}\b[,(]", driver)] == []
