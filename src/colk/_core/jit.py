"""Compile once, load ever after: Numba's cache made safe, and calls of user functions.

Numba keys its cache on the file that holds a function, not on the files that it calls into, and
refuses to import at all where no cache can be written. Here the cache lives in a folder named by
a hash of the whole core, so that no stale code can be loaded, and where there is no place to
write, functions are compiled in memory.
"""

import gc
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import cgutils, config, event, types
from numba.core.types import Tuple  # type: ignore[attr-defined]  # numba.core is typed in part
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

__all__ = [
    "Unit",
    "apart",
    "bits_of",
    "call_at",
    "call_trmm",
    "data_of",
    "few_turns",
    "float_of",
    "inner",
    "jit",
    "matrix_at",
    "merged",
    "piece",
    "stepper",
    "strict",
    "unit",
    "vector_at",
]

Function = TypeVar("Function", bound=Callable[..., Any])

# Reassociation lets sums vectorise. NaN and inf stay what they are: a finiteness check inside
# `fastmath=True` code would be compiled away.
_FLAGS = {"reassoc", "contract", "arcp", "nsz"}


def _core_digest() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _candidate_roots() -> list[Path]:
    """Folders that may hold the cache, best first."""
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR)]
    roots = []
    if "XDG_CACHE_HOME" in os.environ:
        roots.append(Path(os.environ["XDG_CACHE_HOME"]))
    home = os.path.expanduser("~")  # Path.home() raises where there is no home
    if os.path.isabs(home):
        roots.append(Path(home) / ".cache")
    return roots


def _find_cache_directory() -> str | None:
    name = f"{_core_digest()}-numba{numba.__version__}-py{sys.version_info[0]}{sys.version_info[1]}"
    for root in _candidate_roots():
        folder = root / "colk" / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return str(folder)
        except OSError:
            continue
    return None


_CACHE_DIRECTORY = _find_cache_directory()


def jit(function: Function) -> Function:
    """Compile an entry point: callable from Python, and it may allocate."""
    return _compile(function)


def stepper(function: Function) -> Function:
    """Compile an entry point that allocates nothing, without reference counts on its arrays."""
    return _compile(function, _nrt=False)


def inner(function: Function) -> Function:
    """Compile what only compiled code calls: no way in from Python, no reference counts."""
    return _compile(function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def merged(function: Function) -> Function:
    """Compile like `inner`, into each caller: for loops over arrays, which are long arguments."""
    return _compile(
        function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True
    )


def strict(function: Function) -> Function:
    """Compile like `inner`, without reassociation: for sums whose order is the point."""
    return _compile(
        function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"}
    )


def piece(function: Function) -> Function:
    """Compile a few lines into each of their callers, and never on their own."""
    return _compile(function, _nrt=False, inline="always")


class Unit:
    """A function that compiled code calls by its address, `call_at(unit.address, (...))`.

    Numba puts a copy of all that a function calls into it, and optimises the copy anew. What is
    large and called by many is a unit: compiled once, when its address is first asked for.

    Parameters
    ----------
    function : callable
        It takes whole numbers, addresses among them, and reals, and returns a real.
    signature : str
        As Numba writes it.
    """

    def __init__(self, function: Callable[..., float], signature: str) -> None:
        self.function = function
        self.signature = signature

    @cached_property
    def address(self) -> int:
        """Where the machine code is."""
        options: Any = {"fastmath": _FLAGS, "error_model": "numpy", "_nrt": False}
        with _undisturbed():
            self._compiled: Any = _cached(numba.cfunc, self.signature, **options)(self.function)
        return int(self._compiled.address)


def unit(signature: str) -> Callable[[Callable[..., float]], Unit]:
    """Make a function a `Unit`."""
    return lambda function: Unit(function, signature)


def _compile(function: Function, **options: Any) -> Function:
    options = {"nogil": True, "fastmath": _FLAGS, "error_model": "numpy"} | options
    return cast(Function, _cached(numba.njit, **options)(function))


def _cached(decorator: Callable[..., Any], *signature: str, **options: Any) -> Callable[..., Any]:
    """Return Numba's decorator with the cache on, wherever it can be written."""

    def decorate(function: Callable[..., Any]) -> Any:
        if _CACHE_DIRECTORY is None:
            return decorator(*signature, **options)(function)
        saved = config.CACHE_DIR
        config.CACHE_DIR = _CACHE_DIRECTORY
        try:
            return decorator(*signature, cache=True, **options)(function)
        except RuntimeError:  # Numba found no locator for the cache
            return decorator(*signature, **options)(function)
        finally:
            config.CACHE_DIR = saved

    return decorate


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Compile without looking for garbage: what a compiler makes lives on, and there is a lot."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class _CompileListener(event.Listener):
    """Say once, before the first wait, why there is one; and let it be undisturbed."""

    said = False

    def __init__(self) -> None:
        self._under_way: list[AbstractContextManager[None]] = []

    def on_start(self, event: Any) -> None:
        if not event.data["dispatcher"].py_func.__module__.startswith("colk."):
            return
        if not self.said:
            self.said = True
            where = (
                "kept for later runs" if _CACHE_DIRECTORY else "in memory: no cache can be written"
            )
            print(f"colk: compiling its core, once ({where}) ...", file=sys.stderr, flush=True)
        self._under_way.append(_undisturbed())
        self._under_way[-1].__enter__()

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.startswith("colk."):
            self._under_way.pop().__exit__(None, None, None)


event.register("numba:compile", _CompileListener())


@intrinsic
def bits_of(typingctx: Any, value: Any) -> Any:
    """The 64 bits of a float64 as an int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def float_of(typingctx: Any, bits: Any) -> Any:
    """The float64 that has these 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def call_at(typingctx: Any, function: Any, arguments: Any) -> Any:
    """Call the function at an address with a tuple of numbers; it returns a real.

    Addresses are passed as the whole numbers that they are.
    """
    kinds = [types.float64 if kind == types.float64 else types.int64 for kind in arguments]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[1])
        kind = ir.FunctionType(ir.DoubleType(), [value.type for value in values])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)

    return types.float64(types.int64, Tuple(kinds)), codegen


@intrinsic
def data_of(typingctx: Any, array: Any) -> Any:
    """Address of the first entry of an array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(array)(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), codegen


def _array_at(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """Build an array of reals, in rows, over memory that someone else owns."""
    size = context.get_constant(types.intp, 8)
    strides = [size] if len(shape) == 1 else [builder.mul(size, shape[1]), size]
    array = context.make_array(kind)(context, builder)
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


@intrinsic
def vector_at(typingctx: Any, address: Any, size: Any) -> Any:
    """Return the vector of `size` reals at an address."""
    kind = types.Array(types.float64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array_at(context, builder, kind, args[0], [args[1]])

    return kind(types.int64, types.int64), codegen


@intrinsic
def matrix_at(typingctx: Any, address: Any, rows: Any, columns: Any) -> Any:
    """Return the matrix of reals at an address."""
    kind = types.Array(types.float64, 2, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array_at(context, builder, kind, args[0], list(args[1:]))

    return kind(types.int64, types.int64, types.int64), codegen


@intrinsic
def apart(typingctx: Any) -> Any:
    """Say that the arrays that this function is given share no memory: no loop need check."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for argument in builder.function.args:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def few_turns(typingctx: Any) -> Any:
    """Say that the loops of this function turn a few times: there vectors would only cost."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for attribute in ("noimplicitfloat", "optsize"):
            builder.function.attributes.add(attribute)
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def call_trmm(
    typingctx: Any,
    function: Any,
    transposed: Any,
    rows: Any,
    columns: Any,
    triangle: Any,
    stride: Any,
    panel: Any,
) -> Any:
    """Call BLAS dtrmm at `function`: panel ← op(U) panel for an upper triangle of column order.

    `triangle` and `panel` are addresses of matrices whose columns are `stride` numbers apart.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function, transposed, rows, columns, triangle, stride, panel = args

        def slot(value: Any) -> Any:
            return cgutils.alloca_once_value(builder, value)

        def character(letter: str) -> Any:
            return ir.Constant(ir.IntType(8), ord(letter))

        def whole(value: Any) -> Any:
            return slot(builder.trunc(value, ir.IntType(32)))

        operation = builder.select(
            builder.icmp_signed("!=", transposed, transposed.type(0)),
            character("T"),
            character("N"),
        )
        real = ir.DoubleType().as_pointer()
        matrix, block = builder.inttoptr(triangle, real), builder.inttoptr(panel, real)
        arguments = [slot(character("L")), slot(character("U")), slot(operation)]
        arguments += [slot(character("N")), whole(rows), whole(columns)]
        arguments += [slot(ir.Constant(ir.DoubleType(), 1.0)), matrix, whole(stride)]
        arguments += [block, whole(stride)]
        kinds = [argument.type for argument in arguments]
        pointer = ir.FunctionType(ir.VoidType(), kinds).as_pointer()
        builder.call(builder.inttoptr(function, pointer), arguments)
        return context.get_dummy_value()

    return types.none(*[types.int64] * 7), codegen
