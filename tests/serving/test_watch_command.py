"""The page of a running stream: `colk watch`, `colk fit --live`, `colk serve`, in a browser."""

import json
import shutil
import signal
import threading

import httpx
import pytest
from serving_cases import rows, wait_for

from colk.cli import main


def first_event(url):
    with httpx.stream("GET", url + "events", timeout=30.0) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                return json.loads(line[6:])
    return None


def write(path, n):
    table = rows(n)
    lines = [
        f"{row['x'] if row['x'] is not None else ''},{row['city']},{row['y']}" for row in table
    ]
    path.write_text("\n".join(["x,city,y", *lines]) + "\n")


def test_watch_shows_the_file(start, tmp_path, capsys):
    write(tmp_path / "t.csv", 600)
    model = tmp_path / "m.colk"
    options = ("--target", "y", "--kernel", "gaussian", "--no-polish", "--epochs", "1")
    assert main(["fit", str(tmp_path / "t.csv"), *options, "--model", str(model)]) == 0
    server = start("watch", model, "--port", 0)
    state = first_event(server.url)
    assert (state["rows"], state["phase"], state["drifts"]) == (600, "learned", [])
    assert state["curve"][-1][0] == 600  # models that have not learned a row predict it
    assert httpx.post(server.url + "predict", json={}).status_code == 404
    assert server.stop()[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_sees_the_stream(start, model_file, tmp_path, scheme):
    """While requests are learned: the numbers move, nothing fails, nothing is fetched elsewhere."""
    playwright = pytest.importorskip("playwright.sync_api")
    server = start("serve", model_file, "--learn", "--port", 0)
    left, faults = threading.Event(), []

    def feed():
        seed = 10
        while not left.is_set():
            try:
                httpx.post(server.url + "learn", json={"rows": rows(10, seed=seed)})
            except httpx.HTTPError:  # the server is gone
                return
            seed += 1

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        with playwright.sync_playwright() as player:
            browser = player.chromium.launch(executable_path=shutil.which("chromium"))
            for width in (400, 1280):
                view = {"width": width, "height": 1100}
                page = browser.new_context(viewport=view, color_scheme=scheme).new_page()
                page.on("console", lambda said: said.type == "error" and faults.append(said.text))
                page.on("pageerror", lambda error: faults.append(str(error)))
                page.on(
                    "request",
                    lambda asked: asked.url.startswith(server.url) or faults.append(asked.url),
                )
                page.goto(server.url, wait_until="load")
                wait_for(lambda: page.inner_text("#rows") != "–")  # noqa: B023, at once
                before = page.inner_text("#rows")
                wait_for(lambda: page.inner_text("#rows") != before)  # noqa: B023, at once
                assert page.inner_text("#status") == "learns from requests"
                assert float(page.inner_text("#error")) > 0.0
                assert page.evaluate("document.querySelectorAll('#errors .curve').length") == 1
                points = page.get_attribute("#errors .curve", "points").split()
                assert len(points) > 3
                wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                assert wide <= 1
                page.screenshot(path=str(tmp_path / f"{scheme}-{width}.png"))
            server.process.send_signal(signal.SIGINT)  # while a page watches
            browser.close()
    finally:
        left.set()
        thread.join()
    server.process.communicate(timeout=30)
    assert server.process.returncode == 0
    assert [fault for fault in faults if "ERR_CONNECTION" not in fault] == []


@pytest.mark.slow
def test_a_fit_is_live(start, tmp_path):
    write(tmp_path / "t.csv", 20_000)
    options = ("--target", "y", "--epochs", "3", "--no-polish", "--live", "0")
    server = start("fit", tmp_path / "t.csv", *options, "--model", tmp_path / "m.colk")
    seen = []
    wait_for(lambda: seen.append(first_event(server.url)) or seen[-1]["rows"] > 500)
    assert seen[-1]["rate"] > 0.0
    code, _, _ = server.stop()
    assert code == 130
    assert (tmp_path / "m.colk").exists()
