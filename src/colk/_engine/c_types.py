"""Annotations from which `tools/declarations.py` makes the C declarations of compiled code."""

from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array

__all__ = [
    "Address",
    "CInt",
    "ConstIndices",
    "ConstMatrix",
    "ConstPointer",
    "ConstVector",
    "Indices",
    "Matrix",
    "Pointer",
    "Public",
    "Readonly",
    "Vector",
    "Word",
]

T = TypeVar("T")

# In C: double[::1], double[:, ::1], Py_ssize_t[::1], double*, int, unsigned long long and size_t.
Vector = Array
Matrix = Array
Indices = NDArray[np.intp]
Pointer = Array
CInt = int
Word = int
Address = int
# The same, if only read.
ConstVector = Array
ConstMatrix = Array
ConstIndices = NDArray[np.intp]
ConstPointer = Array
# Attributes that Python code sees. Without one of these it does not see them in the compiled build.
Readonly = Annotated[T, "readonly"]
Public = Annotated[T, "public"]
