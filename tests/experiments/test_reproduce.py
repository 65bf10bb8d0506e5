"""The report: complete, self-contained, the same after an interruption, its numbers in the CSV."""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict

import numpy as np
import pytest

from colk.experiments import STUDIES, Plan, reproduce
from colk.experiments.statistics import mean_interval

_PLAN = Plan(runs=2, seed=1, scale=0.01)
_COMMAND = ["--runs", "2", "--seed", "1", "--scale", "0.01", "--jobs", "2"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    seen = []
    return reproduce(tuple(STUDIES), _PLAN, out, advance=seen.append), sum(seen)


@pytest.fixture(scope="module")
def folder(made):
    return made[0].report.parent


def _rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_count_of_tasks_is_known_beforehand(made):
    assert made[1] == sum(study.count(_PLAN) for study in STUDIES.values())


def test_every_figure_and_table_is_in_the_page_and_beside_it(made, folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    for chapter in made[0].chapters:
        assert f'<section id="{chapter.name}">' in page
        for figure in chapter.figures:
            assert f'<figure id="{figure.name}">' in page
            for kind in ("csv", "png", "svg"):
                assert (folder / f"{figure.name}.{kind}").stat().st_size > 0
        for table in chapter.tables:
            assert f'id="{table.name}"' in page
        for verdict in chapter.verdicts:
            assert verdict.outcome in ("holds", "holds in part", "does not hold")
            assert verdict.numbers


def test_nothing_is_fetched(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?\s*(?:https?:)?//""", page)
    assert "<script" not in page
    assert "<link" not in page


def test_verdict_numbers_follow_from_the_data(folder):
    errors = defaultdict(list)
    for row in _rows(folder / "outliers-boxes.csv"):
        if row["protocol"] == "printed":
            errors[row["method"]].append(float(row["error"]))
    found = {
        row["what"]: row
        for row in _rows(folder / "verdicts.csv")
        if row["protocol"] == "printed" and row["claim"].startswith("COLK yields the lowest")
    }
    best = min((name for name in errors if name != "colk"), key=lambda name: np.mean(errors[name]))
    expected = mean_interval(np.subtract(errors["colk"], errors[best]))
    assert float(found["error of COLK"]["value"]) == pytest.approx(np.mean(errors["colk"]))
    difference = found["difference"]
    assert float(difference["value"]) == pytest.approx(expected.value)
    assert float(difference["low"]) == pytest.approx(expected.low)
    assert float(difference["high"]) == pytest.approx(expected.high)


def test_a_killed_run_continues_to_the_same_report(folder, tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "colk.cli", "reproduce", "outliers", *_COMMAND]
    process = subprocess.Popen([*command, "--out", str(tmp_path)], env=environment)
    deadline = time.monotonic() + 300.0
    while len(list(cache.glob("*.npz"))) < 5 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len(list(cache.glob("*.npz")))
    assert not (tmp_path / "report.html").exists()
    resumed = reproduce(("outliers",), _PLAN, tmp_path)
    assert 0 < resumed.computed <= STUDIES["outliers"].count(_PLAN) - kept + 2
    shutil.copytree(folder / "cache", tmp_path / "unbroken" / "cache")
    unbroken = reproduce(("outliers",), _PLAN, tmp_path / "unbroken")
    assert unbroken.computed == 0
    assert resumed.report.read_bytes() == unbroken.report.read_bytes()
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
    figures = [figure for chapter in made[0].chapters for figure in chapter.figures]
    loaded = re.search(r'data-loaded="(\d+)" data-overflow="(-?\d+)" data-fetched="(\d+)"', dom)
    assert loaded is not None
    assert int(loaded[1]) == len(figures)
    assert int(loaded[2]) <= 0
    assert int(loaded[3]) == 0
    for chapter in made[0].chapters:
        for verdict in chapter.verdicts:
            assert dom.count(f">{verdict.outcome}<") >= 1


_PROBE = """<script>
addEventListener("load", () => {
  const images = [...document.images].filter(i => i.complete && i.naturalWidth > 0);
  const page = document.documentElement;
  const fetched = performance.getEntriesByType("resource").filter(e => !e.name.startsWith("data:"));
  page.setAttribute("data-loaded", images.length);
  page.setAttribute("data-overflow", page.scrollWidth - page.clientWidth);
  page.setAttribute("data-fetched", fetched.length);
});
</script>"""
