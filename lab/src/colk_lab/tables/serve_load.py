"""Load test of a server that learns: no request is lost, and every answer is consistent.

A process of `colk serve --learn` gets requests from several clients at once: one of them sends rows
to learn, one by one, and the others ask for predictions. Each answer contains the number of rows
that the model had learned. Afterwards a second model learns the same rows in the same order, and
every answer must equal the prediction of this model after that number of rows, bit for bit.

    python -m colk_lab.tables serve_load                  10⁵ requests
    python -m colk_lab.tables serve_load --requests N --clients N
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

import colk
from colk.cli.serving import Service
from colk.tabular import TableModel

ASKED = {"rows": [{"x": 0.5, "city": "Rome"}, {"x": -1.0, "city": None}, {"x": None}]}
# One of this many requests learns.
LEARNS = 10


def drawn(n: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    x, city = rng.uniform(-3.0, 3.0, n), rng.choice(["Bonn", "Rome"], n)
    y = np.sin(x) + (city == "Rome") + 0.1 * rng.normal(size=n)
    cells = zip(x.tolist(), city.tolist(), y.tolist(), strict=True)
    return [{"x": a, "city": b, "y": c} for a, b, c in cells]


def begun() -> TableModel:
    model = TableModel(
        "y", ["x", "city"], categorical=["city"], kernel="gaussian", solver="newton", polish=False
    )
    service = Service(model, learns=True)
    service.learn({"rows": drawn(100)})
    return model


async def load(url: str, rows: list[dict[str, object]], n_asks: int, clients: int) -> list[dict]:
    """Send all requests; returns the answers to the asks."""
    answers: list[dict] = []
    left = [n_asks]
    async with httpx.AsyncClient(base_url=url, timeout=60.0) as client:

        async def learn() -> None:
            for row in rows:
                answer = await client.post("learn", json={"rows": [row]})
                assert answer.status_code == 200, answer.text

        async def ask() -> None:
            while left[0] > 0:
                left[0] -= 1
                answer = await client.post("predict", json=ASKED)
                assert answer.status_code == 200, answer.text
                answers.append(answer.json())

        await asyncio.gather(learn(), *(ask() for _ in range(clients)))
    return answers


def expected(rows: list[dict[str, object]]) -> dict[int, list[float]]:
    """Predictions after each number of rows."""
    service = Service(begun(), learns=True)
    found = {service.model.rows: service.predict(ASKED)["predictions"]}
    for row in rows:
        n = service.learn({"rows": [row]})["rows"]
        found[n] = service.predict(ASKED)["predictions"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=8)
    arguments = parser.parse_args()
    rows = drawn(100 + arguments.requests // LEARNS)[100:]
    n_asks = arguments.requests - len(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.colk"
        colk.save(begun(), path)
        process = subprocess.Popen(
            [sys.executable, "-m", "colk", "serve", str(path), "--learn", "--port", "0"],
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )
        url = process.stderr.readline().split()[1]
        began = time.monotonic()
        answers = asyncio.run(load(url, rows, n_asks, arguments.clients))
        taken = time.monotonic() - began
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
        saved = colk.load(path).rows
    right = expected(rows)
    torn = sum(answer["predictions"] != right[answer["rows"]] for answer in answers)
    states = Counter(answer["rows"] for answer in answers)
    print(
        f"{len(rows) + len(answers):,} requests in {taken:.0f} s, {len(rows):,} of them learned: "
        f"{n_asks - len(answers)} lost, {torn} torn, {len(states):,} different states seen; "
        f"exit code {code}, {saved - 100:,} rows saved"
    )
    assert (torn, code, saved) == (0, 0, 100 + len(rows))
    assert len(answers) == n_asks


if __name__ == "__main__":
    main()
