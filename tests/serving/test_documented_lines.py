"""The lines of README and of the guide "Serving" that start a server and ask it run."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import httpx
import numpy as np
import pytest

import colk
from colk.data import load_lidar
from colk.tabular import TableModel

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "guide" / "serving.md").read_text("utf-8")


def words_of(line, page):
    """Return the words of a line of a page, without `colk`."""
    assert f"\n{line}\n" in page
    return shlex.split(line)[1:]


def test_the_line_of_the_readme_serves_its_model(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    distance, ratio = load_lidar()
    model = TableModel("logratio", ["range"], kernel="gaussian")
    colk.save(model.learn({"range": distance}, ratio), "lidar.colk")
    server = start(*words_of("colk serve lidar.colk", README), "--port", 0)
    answer = httpx.post(server.url + "predict", json={"rows": [{"range": 600}]})
    assert -1.0 < answer.json()["predictions"][0] < 0.2
    assert server.stop()[0] == 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_lines_of_the_guide_ask_its_server(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    size, city = rng.normal(100.0, 30.0, 200), rng.choice(["Bonn", "Rome"], 200).astype(object)
    model = TableModel("price", ["size", "city"], categorical=["city"], kernel="gaussian")
    colk.save(model.learn({"size": size, "city": city}, 2.0 * size), "houses.colk")
    server = start(*words_of("colk serve houses.colk --learn", GUIDE), "--port", 0)
    line = re.search(r"^curl (.*?)^```", GUIDE, re.S | re.M)[1].replace("\\\n", " ")
    words = shlex.split(line.replace("http://127.0.0.1:8765/", server.url))
    done = subprocess.run(["curl", "-s", *words], capture_output=True, text=True, check=True)
    assert 180.0 < json.loads(done.stdout)["predictions"][0] < 300.0
    (code,) = re.findall(r"^```python\n(import httpx.*?)^```", GUIDE, re.S | re.M)
    names = {}
    exec(code.replace("http://127.0.0.1:8765/", server.url), names)
    assert names["answer"].json() == json.loads(done.stdout)
