"""The numbers of the README's first screen and of the home page were measured."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("river")

ROOT = Path(__file__).parents[3]
PAGES = {
    "README.md": (ROOT / "README.md").read_text("utf-8").partition("## Risk")[0],
    "index.md": (ROOT / "docs" / "index.md").read_text("utf-8"),
}
CODE = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
# Numbers of the tables that describe the data and the settings.
GIVEN = {"2011", "90"}


@pytest.fixture(scope="module")
def front():
    from colk_lab.tables import front_figures

    return front_figures


def means():
    """Return the means over seeds of all values of the benchmark's table."""
    values = defaultdict(list)
    with (ROOT / "docs" / "bench" / "bench.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values[row["track"], row["problem"], row["peer"], row["measure"]].append(
                float(row["value"])
            )
    return {key: np.mean(each) for key, each in values.items()}


def shown(text, value):
    """Whether a number, as it is written, is the value rounded to its digits."""
    plain = text.replace(",", "")
    mantissa = plain.partition("e")[0]
    if "e" in plain or "." in mantissa:
        places = len(mantissa.partition(".")[2])
        scale = 10.0 ** int(plain.partition("e")[2] or 0)
        return abs(float(plain) - value) <= 0.5001 * scale * 10.0**-places
    # A whole number may end in zeros that are not digits.
    step = 10.0 ** (len(plain) - len(plain.rstrip("0")))
    return abs(float(plain) - value) <= 0.5001 * step


@pytest.mark.parametrize("page", PAGES)
def test_each_number_is_in_the_table(page):
    text = CODE.sub("", PAGES[page])
    text = re.sub(r"\]\([^)]*\)", "]", text)
    known = (ROOT / "docs" / "tables" / "frame.md").read_text("utf-8")
    values = [float(number.replace(",", "")) for number in NUMBER.findall(known)]
    values += [value for (track, *_), value in means().items() if track in ("bike", "small")]
    numbers = [number for number in NUMBER.findall(text) if number not in GIVEN]
    assert len(numbers) > 20
    assert [n for n in numbers if not any(shown(n, value) for value in values)] == []


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_those_of_the_table(page, front):
    assert front.rewritten(PAGES[page], front.published()) == PAGES[page]
    assert {"promise", "frame", "bike"} <= set(re.findall(r"bench: (\w+)", PAGES[page]))


def test_the_page_of_the_site_leads_back_to_it(front):
    page = front.with_navigation("<html><body>\n<h1>colk compared</h1></body></html>")
    links = re.findall(r'href="([^"]+)"', page)
    assert links[0] == "index.html"
    assert {"guide/index.html", "theory/index.html"} <= set(links)
    assert page.index("<nav") < page.index("<h1>")


def test_the_table_of_real_sets_is_ordered_by_error():
    from colk_lab.bench.cells import CellScore
    from colk_lab.tables.real_sets import rows_of

    def scored(problem, peer, error, part):
        values = {"error": error, "fit time": 2.0, "bytes": 3000.0}
        return [CellScore("regression", problem, peer, seed, values, part) for seed in range(2)]

    scores = [
        each
        for problem, part in (("a", "final"), ("b", "final"), ("c", "development"))
        for peer, error in (("colk", 1.0), ("other", 0.5 if part == "final" else 9.0))
        for each in scored(problem, peer, error, part)
    ]
    (first, second) = rows_of(scores)
    assert first == ["Regression on real sets, 2", "other", "0.500 ± 0.000", "2.0", "3,000"]
    assert second[1:3] == ["colk", "1.000 ± 0.000"]


def test_the_table_of_failure_modes_has_what_colk_says():
    from colk_lab.bench.cells import CellScore
    from colk_lab.tables.failure_modes import rows_of

    peers = {"colk": 0.25, "linear, tuned": 1.0, "HistGradientBoosting": 0.5}
    scores = [
        CellScore("hard_tables", "outliers", peer, seed, {"error": error}, "", {"told": told})
        for peer, error in peers.items()
        for seed, told in enumerate(("a | b", ""))
    ]
    (row,) = rows_of(scores)
    assert row[0] == "outliers"
    assert row[2:] == ["0.25", "1.00", "0.50", "a / b"]
