"""The .pxd files that tools/declarations.py makes from annotations."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "declarations.py"
SHAPES = '''
"""A module."""
import math
from pack.base import Base, double
from pack import base

FAR: float = 1.0
FIRST, *REST = range(3)  # cdef Py_ssize_t
NAMES: list[str] = []


class Shape(Base):  # final
    """A class."""

    kind: ClassVar[int] = 1
    size: Readonly[int]
    rows: Matrix
    left: Public[float]
    base: "Base | None"
    names: list[str]
    other: Path

    def area(self, x: ConstVector, scale: float = 1.0) -> float:  # cdef
        total, count = 0.0, 0
        for i in range(count):
            total += x[i]
        side: float = x[0]
        a, b = x[0], count  # type: float, int
        scale = 2.0
        for other in x:
            last = other
            last = 1.0
        return total

    # cdef inline noexcept
    def place(self, row: int, found: bool) -> int:
        return 0

    def status(self) -> int:  # cdef gil
        return 0

    def show(self, x: Any) -> bool:  # cpdef except -2
        return True

    def pair(self) -> tuple[float, int]:  # cdef final
        return 0.0, 1

    def take(self, base: Base, g: Pointer) -> None:  # cpdef nogil
        done = False

    def python(self, x: float) -> float:
        return x


class Names(NamedTuple):
    a: int


def found(word: Word) -> int:  # cdef Py_ssize_t
    return 0
'''
EXPECTED = """# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport maths as math
from pack cimport base
from pack.base cimport Base
from pack.base cimport double

cdef double FAR
cdef Py_ssize_t FIRST, REST

@cython.final
cdef class Shape(Base):
    cdef readonly Py_ssize_t size
    cdef double[:, ::1] rows
    cdef public double left
    cdef Base base
    cdef list names
    cdef object other
    @cython.locals(a="double", b="Py_ssize_t", i="Py_ssize_t", side="double", total="double")
    cdef double area(self, const double[::1] x, double scale=*) except? -1.5e300 nogil
    cdef inline Py_ssize_t place(self, Py_ssize_t row, bint found) noexcept nogil
    cdef int status(self) except -1
    cpdef bint show(self, x) except -2
    @cython.final
    cdef (double, Py_ssize_t) pair(self) noexcept nogil
    @cython.locals(done="bint")
    cpdef void take(self, Base base, double* g) noexcept nogil

cdef Py_ssize_t found(unsigned long long word) except -1 nogil
"""


def script():
    if not SCRIPT.exists():
        pytest.skip("this is not a checkout")
    spec = importlib.util.spec_from_file_location("declarations", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def declarations(tmp_path, monkeypatch):
    """The script, with a package of two modules of which it makes the second."""
    module = script()
    monkeypatch.setattr(module, "SOURCE", tmp_path)
    # The script looks for the modules of colk only.
    (tmp_path / "colk").mkdir()
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "base.pxd").write_text(
        "cdef class Base:\n    pass\ncdef double double(x)\n"
    )
    (tmp_path / "pack" / "shapes.py").write_text(SHAPES)
    return module


def test_no_declaration_is_stale(capsys):
    assert script().main(["--check"]) == 0, capsys.readouterr().out


def test_annotations_become_declarations(declarations):
    assert declarations.generate(declarations.SOURCE / "pack" / "shapes.py") == EXPECTED


def test_a_stale_file_is_found_and_written_again(declarations, capsys):
    source, made = (declarations.SOURCE / "colk" / f"shapes.{end}" for end in ("py", "pxd"))
    source.write_text(SHAPES)
    made.write_text(declarations.HEADER + "\n")
    assert declarations.main(["--check"]) == 1
    assert declarations.main([]) == 0
    assert declarations.main(["--check"]) == 0
    source.write_text(SHAPES.replace("left: Public", "left: Readonly"))
    capsys.readouterr()
    assert declarations.main(["--check"]) == 1
    assert capsys.readouterr().out == "colk/shapes.pxd\n"


def test_a_file_without_the_header_is_kept(declarations, capsys):
    source, kept = (declarations.SOURCE / "colk" / f"shapes.{end}" for end in ("py", "pxd"))
    source.write_text(SHAPES)
    kept.write_text("cdef class Shape:\n    pass\n")
    assert declarations.main([]) == 0
    assert kept.read_text() == "cdef class Shape:\n    pass\n"
    assert declarations.main(["--list"]) == 0
    assert capsys.readouterr().out == "colk/shapes.pxd\n"
