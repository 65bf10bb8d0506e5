"""A user's own functions: plain Python, compiled where Numba is installed, or C by address.

All of them return: a number where one is asked for, else a tuple or an array. Arrays that they are
given are copies of their own. A `Function` is what compiled code calls. Where there is machine code
it is called without the interpreter's lock, and NaN from it means: ask the Python function, whose
answer counts, and what it raises reaches the caller. Where there is none, the Python function is
called each time.
"""

from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import Function, OfArrays, OfLoss, OfNumbers, OfPoints
from colk._engine.user_functions.pickling import reduce_functions

__all__ = [
    "Function",
    "OfArrays",
    "OfLoss",
    "OfNumbers",
    "OfPoints",
    "Signature",
    "reduce_functions",
]
