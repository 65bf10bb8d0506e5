import asyncio

import httpx
import pytest
from serving_cases import Process, stream_model

import colk


@pytest.fixture
def start():
    started = []

    def begin(*arguments, **variables):
        started.append(Process(*arguments, **variables))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "m.colk"
    colk.save(stream_model(), path)
    return path


@pytest.fixture
def client():
    """Answers of an application, without a server."""

    def ask(app, method, path, **options):
        async def send():
            transport = httpx.ASGITransport(app)
            base = options.pop("base_url", "http://localhost")
            async with httpx.AsyncClient(transport=transport, base_url=base) as made:
                return await made.request(method, path, **options)

        return asyncio.run(send())

    return ask
