"""Run an application in the main thread until Ctrl-C, or in another thread."""

import asyncio
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
    from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["LOOPBACK_NAMES", "is_loopback", "listening", "running", "serve"]

# Host names of a server that listens on this machine only.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

# Seconds that the server waits for open requests when it ends.
_FAREWELL = 5
# Largest number of connections at a time, and seconds for the head of a request.
_CONNECTIONS = 200
_SLOWEST_HEAD = 10.0


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


class _Protocol(H11Protocol):
    """HTTP that closes connections without a request, if they are slow or if there are too many."""

    _limit: asyncio.TimerHandle | None = None

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _is_waiting(self) -> bool:
        """Whether the client has to send something before there is an answer."""
        return self._is_idle or self.cycle.more_body

    def connection_made(self, transport: Any) -> None:
        """Make room for a new connection: close the one that has waited longest for its client."""
        super().connection_made(transport)
        self._began = self.loop.time()
        connections: set[Any] = self.connections
        waiting = [each for each in connections if each is not self and each._is_waiting]
        if len(connections) >= _CONNECTIONS and waiting:
            oldest = min(waiting, key=lambda each: each._began)
            connections.discard(oldest)
            oldest.transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP; in the body of a request, there is no answer to them."""
        if self._is_idle:
            super().send_400_response(msg)
            return
        self.cycle.disconnected = True
        self.transport.abort()

    def on_response_complete(self) -> None:
        """Note the time from which the connection is idle."""
        self._began = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a head."""
        super().connection_lost(exc)
        self._stop_watching()

    def _watch(self) -> None:
        """Close the connection if the head of a request does not end in time."""
        if not self._is_idle:
            self._stop_watching()
        elif self._limit is None:
            self._limit = self.loop.call_later(_SLOWEST_HEAD, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


class _Server(uvicorn.Server):
    """A server that does not handle signals; the caller handles them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _make(app: Any) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            http=_Protocol,
            log_level="error",
            access_log=False,
            lifespan="off",
            limit_concurrency=2 * _CONNECTIONS,  # requests of closed connections end a little later
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
