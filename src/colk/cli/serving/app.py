"""The HTTP application: predictions, learning, an OpenAPI description, and a page to watch."""

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any

from colk._extras import needed_for
from colk.cli.pages.render import render
from colk.cli.serving.feed import LiveFeed
from colk.cli.serving.openapi import describe
from colk.cli.serving.service import RequestError, Service

with needed_for("serving a model", extra="serve"):
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

__all__ = ["LARGEST_BODY", "make_app"]

# Size of the largest request in bytes.
LARGEST_BODY = 4_000_000
# Seconds between two keep-alive messages to a page that watches, and between two states.
_PATIENCE = 5.0
_PAUSE = 0.2
# Largest number of pages that watch at a time.
_MOST_WATCHERS = 20

# The page loads no resources, and runs only the script with the nonce.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'nonce-{nonce}'"
)


def make_app(
    feed: LiveFeed,
    title: str,
    service: Service | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] | None = None,
) -> "Starlette":
    """Return an ASGI application.

    Parameters
    ----------
    feed : LiveFeed
        The state that the page at / shows.
    title : str
        Title of the page.
    service : Service, optional
        Answers /predict and /learn. Default: there is only the page.
    token : str, optional
        The token that requests must send as `Authorization: Bearer TOKEN`. Default: none.
    hosts : tuple of str, optional
        Host names that requests may use. Default: any. Without them, a page of another site could
        reach a server on this machine under a host name of its own (DNS rebinding).
    """
    app = Starlette(
        routes=_routes(feed, title, service, token is not None),
        exception_handlers={RequestError: _refused, HTTPException: _refused, 500: _failed},
    )
    app.add_middleware(_Gate, token=token, hosts=hosts)
    return app


def _routes(feed: LiveFeed, title: str, service: Service | None, needs_token: bool) -> list[Route]:
    watchers: list[int] = []

    async def page(request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        text = render("watch", title=title, nonce=nonce)
        headers = {"Content-Security-Policy": _POLICY.format(nonce=nonce)}
        return HTMLResponse(text, headers=headers)

    async def events(request: Request) -> Response:
        if len(watchers) >= _MOST_WATCHERS:
            raise HTTPException(503, "too many pages watch this stream")
        stream = _events(feed, request, watchers)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    routes = [Route("/", page), Route("/events", events), Route("/health", health)]
    if service is None:
        return routes
    answering = service

    async def openapi(request: Request) -> Response:
        return JSONResponse(describe(answering, needs_token))

    async def model(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(answering.state))

    routes += [Route("/openapi.json", openapi), Route("/model", model)]
    routes.append(Route("/predict", _posted(answering.predict), methods=["POST"]))
    if answering.learns:
        routes.append(Route("/learn", _posted(answering.learn), methods=["POST"]))
    return routes


def _posted(answer: Callable[[Any], dict[str, Any]]) -> Callable[[Request], Any]:
    """Return an endpoint that reads JSON and answers with JSON."""

    async def endpoint(request: Request) -> Response:
        asked = _parsed(await _body(request))
        return JSONResponse(await run_in_threadpool(answer, asked))

    return endpoint


async def _body(request: Request) -> bytes:
    """Return the body of a request; raise if its type is not JSON, or if it is too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError("the body must be JSON, with the content type application/json", 415)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise RequestError(f"the body is longer than {LARGEST_BODY:,} bytes", 413)
        parts.append(part)
    return b"".join(parts)


def _parsed(body: bytes) -> Any:
    def refuse(text: str) -> float:
        raise ValueError(text)

    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not JSON", 400) from error


async def _events(feed: LiveFeed, request: Request, watchers: list[int]) -> AsyncIterator[str]:
    """Yield the states of a stream as server-sent events, until the client or server stops."""
    number = 0
    watchers.append(1)
    try:
        yield "retry: 1000\n\n"
        while not feed.is_closed and not await request.is_disconnected():
            found = await run_in_threadpool(feed.after, number, _PATIENCE)
            if found is None:
                yield ": still here\n\n"
                continue
            number, state = found
            yield f"data: {state}\n\n"
            await asyncio.sleep(_PAUSE)
    finally:
        watchers.pop()


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, RequestError) else 500
    message, headers = str(error), None
    if isinstance(error, HTTPException):
        status, message, headers = error.status_code, str(error.detail).lower(), error.headers
    return JSONResponse({"error": message}, status, headers=headers)


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the server failed; see its log for the reason"}, 500)


class _Gate:
    """Middleware that checks the host name and the token of requests."""

    def __init__(self, app: Any, token: str | None, hosts: tuple[str, ...] | None) -> None:
        self._app, self._token, self._hosts = app, token, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, headers: dict[bytes, bytes]) -> Response | None:
        name = headers.get(b"host", b"").decode("latin-1").rpartition(":")
        host = name[0] if name[1] and not name[2].endswith("]") else name[2]
        if self._hosts is not None and host.strip("[]").lower() not in self._hosts:
            return JSONResponse({"error": "the server does not accept this host name"}, 421)
        if self._token is None:
            return None
        given = headers.get(b"authorization", b"").decode("latin-1")
        if hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            return None
        headers_out = {"WWW-Authenticate": "Bearer"}
        return JSONResponse({"error": "the request needs a token"}, 401, headers=headers_out)
