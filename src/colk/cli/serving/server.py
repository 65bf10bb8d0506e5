"""Run an application in the main thread until Ctrl-C, or in another thread."""

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from colk._extras import needed_for

with needed_for("serving a model", extra="serve"):
    import uvicorn

__all__ = ["LOOPBACK_NAMES", "is_loopback", "listening", "running", "serve"]

# Host names of a server that listens on this machine only.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

# Seconds that the server waits for open requests when it ends.
_FAREWELL = 5
# Largest number of connections at a time.
_CONNECTIONS = 200


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 means a free port.

    Parameters
    ----------
    host : str
        Address or name.
    port : int
        Port.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise OSError(f"{host} is not an address of this machine") from error
    family, kind, protocol, _, address = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)  # clients may connect before the server accepts
    except OSError as error:
        made.close()
        raise OSError(f"{host}:{port} cannot be used: {error.strerror}") from error
    return made


class _Server(uvicorn.Server):
    """A server that does not handle signals; the caller handles them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _make(app: Any) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            lifespan="off",
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_FAREWELL,
            server_header=False,
        )
    )


def serve(app: Any, at: socket.socket, stopping: Callable[[], None]) -> None:
    """Answer requests until Ctrl-C or SIGTERM.

    Parameters
    ----------
    app : ASGI application
        The application.
    at : socket
        The listening socket.
    stopping : callable
        Called when the server is asked to stop, before open requests end.
    """
    server = _make(app)

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True
        stopping()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[at])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        at.close()


@contextmanager
def running(app: Any, at: socket.socket, stopping: Callable[[], None]) -> Iterator[None]:
    """Answer requests in another thread while the context is open.

    Parameters
    ----------
    app, at, stopping
        As for `serve`.
    """
    server = _make(app)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [at]}, name="colk server", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        stopping()
        thread.join(_FAREWELL + 1)
        at.close()
