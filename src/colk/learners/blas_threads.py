"""Limit the threads of BLAS for small problems."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

__all__ = ["BLAS_WINDOW", "few_blas_threads"]

# Steps on fewer samples than this do not call BLAS.
BLAS_WINDOW = 8
# With fewer atoms than this one thread is faster, because waking a second one takes longer.
_THREADS_FROM = 256


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def few_blas_threads(n_atoms: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if there are few atoms."""
    if n_atoms >= _THREADS_FROM:
        return nullcontext()
    limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limited
