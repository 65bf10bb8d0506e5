"""Connect to the workers: an executor, a Dask client, a scheduler's address, a local cluster."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from colk._extras import needed_for

__all__ = ["connected"]

# Seconds to wait for a scheduler.
_PATIENCE = 10


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """Return a context with an executor or a Dask client; it closes a client that it opened.

    Parameters
    ----------
    client : Executor, distributed.Client, str or None
        An executor, a client, or the address of a scheduler. None: the current client of this
        process, or a local cluster of processes if there is none.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as pool, connected(pool) as engine:
    ...     engine is pool
    True
    """
    if isinstance(client, Executor):
        yield client
        return
    with needed_for("a Dask cluster", extra="dask"):
        import distributed
    open_client: Any = distributed.Client
    if client is None:
        try:
            client = open_client.current()
        except ValueError:
            with open_client(processes=True, threads_per_worker=1) as opened:
                yield opened
            return
    if isinstance(client, str):
        try:
            opened = open_client(client, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise ConnectionError(
                f"no Dask scheduler answers at {client!r} within {_PATIENCE} seconds: start one "
                "with `dask scheduler`, or check the address"
            ) from error
        with opened:
            yield opened
        return
    if not isinstance(client, distributed.Client):
        raise TypeError(
            "client must be a distributed.Client, the address of a scheduler, an executor of "
            f"concurrent.futures or None, got {type(client).__name__}"
        )
    yield client
