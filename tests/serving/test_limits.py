"""Clients that are slow, or too many, do not shut others out."""

import socket
import time
from contextlib import ExitStack

import httpx
import pytest
from serving_cases import rows, stream_model, wait_for

from colk.cli.serving import LiveFeed, Service, make_app
from colk.cli.serving import app as application
from colk.cli.serving import server as serving


@pytest.fixture
def address():
    service, feed = Service(stream_model(50), learns=True), LiveFeed()
    at = serving.listening("127.0.0.1", 0)
    with serving.running(make_app(feed, "Model of y", service), at, feed.close):
        yield at.getsockname()


def is_closed(connection):
    connection.settimeout(5.0)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_slow_heads_shut_nobody_out(address):
    slow = []
    for _ in range(250):
        slow.append(socket.create_connection(address))
        slow[-1].sendall(b"GET /health HTTP/1.1\r\nHost: ")
    began = time.monotonic()
    for _ in range(5):
        url = f"http://127.0.0.1:{address[1]}/health"
        assert httpx.get(url, timeout=5.0).status_code == 200
    assert time.monotonic() - began < 5.0
    assert is_closed(slow[0])
    for connection in slow:
        connection.close()


def test_half_bodies_shut_nobody_out(address):
    head = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with ExitStack() as stack:
        half = []
        for _ in range(250):
            half.append(stack.enter_context(socket.create_connection(address)))
            half[-1].sendall(head + b"Content-Length: 1000\r\n\r\n{")
        for _ in range(5):
            url = f"http://127.0.0.1:{address[1]}/predict"
            assert httpx.post(url, json={"rows": rows(1)}, timeout=5.0).status_code == 200
        assert is_closed(half[0])


@pytest.mark.parametrize("path", ["/", "/learn"])
def test_a_body_that_is_not_http_writes_nothing(address, path, capfd):
    head = b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for _ in range(20):
        with socket.create_connection(address) as wrong:
            wrong.sendall(
                b"POST " + path.encode() + head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
            )
            assert is_closed(wrong)
    url = f"http://127.0.0.1:{address[1]}/health"
    assert httpx.get(url, timeout=5.0).status_code == 200
    assert capfd.readouterr().err == ""


def test_a_head_that_does_not_end_is_closed(address, monkeypatch):
    monkeypatch.setattr(serving, "_SLOWEST_HEAD", 0.3)
    url = f"http://127.0.0.1:{address[1]}"
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for before in (b"", whole):
        with socket.create_connection(address) as slow:
            slow.sendall(before)
            answer = b""
            while before and b"ok" not in answer:
                answer += slow.recv(10_000)
            slow.sendall(b"GET /hea")
            assert is_closed(slow)
    with httpx.Client(base_url=url) as client:  # its connection lives on between two requests
        for _ in range(3):
            assert client.get("/health").status_code == 200
            time.sleep(0.2)


def test_a_body_that_does_not_end_is_refused(address, monkeypatch):
    monkeypatch.setattr(application, "_SLOWEST_BODY", 0.3)
    head = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(address) as slow:
        slow.sendall(head + b"Content-Length: 100\r\n\r\n{")
        slow.settimeout(5.0)
        assert b" 408 " in slow.recv(10_000)


def test_bodies_that_wait_take_bounded_memory(address, monkeypatch):
    monkeypatch.setattr(application, "_MOST_WAITING", 1_000_000)
    head = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    url = f"http://127.0.0.1:{address[1]}/learn"
    with socket.create_connection(address) as slow:
        slow.sendall(head + b"Content-Length: 1500000\r\n\r\n" + 999_000 * b" ")

        def is_full():
            return httpx.post(url, json={"rows": rows(30)}).status_code == 503

        wait_for(is_full)
    wait_for(lambda: not is_full())
