"""The C header has no memory or arithmetic errors, at any vector width."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import colk

HERE = Path(__file__).parent
SOURCES = Path(colk.__file__).parent / "_engine" / "simd"
COMPILER = shutil.which("gcc") or shutil.which("clang")
FLAGS = [
    *("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"),
    *("-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
]
# Numbers of a vector, how many vectors stand side by side, and a level of x86-64 that has such
# vectors, with the flag of machines that have it: without it compilers make do with narrower ones.
WIDTHS = [
    (1, 1, "", ""),
    (2, 1, "", ""),
    (4, 1, "", ""),
    (4, 2, "x86-64-v3", "avx2"),
    (8, 1, "x86-64-v4", "avx512f"),
]


def flags_of_the_machine():
    """Features of the processor, as the system reports them."""
    try:
        return Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return []


def run(source, program, *options):
    """Compile and run; return the reported errors."""
    command = [COMPILER, *FLAGS, *options, f"-I{SOURCES}", str(source), "-lm", "-o", str(program)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    found = subprocess.run([program], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return ""
    return found.stdout + found.stderr + f"ended with {found.returncode}"


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
@pytest.mark.parametrize(("width", "beside", "level", "needed"), WIDTHS)
@pytest.mark.usefixtures("sanitizers")
def test_header(width, beside, level, needed, tmp_path):
    """Every width of the body, from one number at a time to AVX-512."""
    options = [f"-DCOLK_WIDTH={width}", f"-DBESIDE={beside}"]
    if needed in flags_of_the_machine():
        options.append(f"-march={level}")
    assert run(HERE / "sanitize.c", tmp_path / "lanes", *options) == ""


@pytest.mark.slow
@pytest.mark.usefixtures("sanitizers")
def test_a_write_beyond_the_end_is_reported(tmp_path):
    source = tmp_path / "beyond.c"
    source.write_text(
        '#include <stdlib.h>\n#include "loops.h"\n'
        "int main(void) { double *x = calloc(4, sizeof *x); scale(x, 2.0, 5); free(x); }\n"
    )
    found = run(source, tmp_path / "beyond", "-DCOLK_WIDTH=4", "-Wno-unused-function")
    assert "heap-buffer-overflow" in found or "insufficient space" in found


def test_every_function_is_run():
    """All functions that compiled modules can call."""
    declared = re.findall(r"\bCHOOSE\((\w\w+)\)", (SOURCES / "loops.h").read_text())
    driver = (HERE / "sanitize.c").read_text()
    assert len(declared) > 10
    assert [name for name in declared if not re.search(rf"\b{name}\b[,(]", driver)] == []
