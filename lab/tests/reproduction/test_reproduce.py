"""The report: complete, self-contained, the same after an interruption."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from colk_lab.reproduction import STUDIES, reproduce

_COMMAND = ["--runs", "2", "--seed", "1", "--scale", "0.01", "--jobs", "2"]


def test_every_figure_and_table_is_in_the_page_and_beside_it(made, folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    for chapter in made.chapters:
        assert f'<section id="{chapter.name}">' in page
        for figure in chapter.figures:
            assert f'<figure id="{figure.name}">' in page
            for kind in ("csv", "png", "svg"):
                assert (folder / f"{figure.name}.{kind}").stat().st_size > 0
        for table in chapter.tables:
            assert f'id="{table.name}"' in page
        for verdict in chapter.verdicts:
            assert verdict.quote
            assert verdict.where


def test_nothing_is_fetched(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?\s*(?:https?:)?//""", page)
    assert "<script" not in page
    assert "<link" not in page


def test_every_link_leads_somewhere(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    places = set(re.findall(r'\bid="([^"]+)"', page))
    links = re.findall(r'<a href="([^"]+)"', page)
    assert len(links) > 60
    for link in links:
        assert link[1:] in places if link.startswith("#") else (folder / link).is_file()


def test_a_killed_run_continues_to_the_same_report(folder, plan, tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "colk.cli", "reproduce", "outliers", *_COMMAND]
    process = subprocess.Popen([*command, "--out", str(tmp_path)], env=environment)
    deadline = time.monotonic() + 300.0
    while len(list(cache.rglob("output.pkl"))) < 5 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len(list(cache.rglob("output.pkl")))
    assert not (tmp_path / "report.html").exists()
    resumed = reproduce(("outliers",), plan, tmp_path)
    assert 0 < resumed.computed <= len(STUDIES["outliers"].tasks(plan)) - kept + 2
    shutil.copytree(folder / "cache", tmp_path / "unbroken" / "cache")
    unbroken = reproduce(("outliers",), plan, tmp_path / "unbroken")
    assert unbroken.computed == 0
    first, second = (
        # The head tells the time.
        re.sub(r"<header>.*?</header>", "", made.report.read_text(encoding="utf-8"), flags=re.S)
        for made in (resumed, unbroken)
    )
    assert first == second
    for figure in resumed.chapters[0].figures:
        name = f"{figure.name}.csv"
        assert (tmp_path / name).read_bytes() == (unbroken.report.parent / name).read_bytes()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser Chromium")
@pytest.mark.parametrize("width", [400, 1280])
def test_the_report_in_a_browser(made, folder, tmp_path, width):
    browser = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={width},900",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    # The report with a script at its end that writes down what the browser made of it.
    probe = tmp_path / "probe.html"
    report = (folder / "report.html").read_text(encoding="utf-8")
    probe.write_text(report.replace("</body>", _PROBE + "</body>"), encoding="utf-8")
    dom = subprocess.run(
        [*browser, probe.as_uri()], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    figures = [figure for chapter in made.chapters for figure in chapter.figures]
    loaded = re.search(r'data-loaded="(\d+)" data-overflow="(-?\d+)" data-fetched="(\d+)"', dom)
    assert loaded is not None
    assert int(loaded[1]) == len(figures)
    assert int(loaded[2]) <= 0
    assert int(loaded[3]) == 0
    for chapter in made.chapters:
        for verdict in chapter.verdicts:
            assert dom.count(f">{verdict.told}<") >= 1


_PROBE = """<script>
addEventListener("load", () => {
  const images = [...document.querySelectorAll("figure svg")].filter(i => i.clientWidth > 0);
  const page = document.documentElement;
  const fetched = performance.getEntriesByType("resource").filter(e => !e.name.startsWith("data:"));
  page.setAttribute("data-loaded", images.length);
  page.setAttribute("data-overflow", page.scrollWidth - page.clientWidth);
  page.setAttribute("data-fetched", fetched.length);
});
</script>"""
