"""The report: sentences and plots show the same numbers, and nothing misleads."""

import csv
import html
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from colk.cli.pages.colors import DARK, PALETTE
from colk_lab.origin import observe_origin
from colk_lab.pages.formulas import plain, typeset
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.choices import ASSUMPTIONS, CHOSEN_AFTER
from colk_lab.reproduction.forest import axis
from colk_lab.reproduction.methods import CLIPS, METHODS, column
from colk_lab.reproduction.page import page
from colk_lab.reproduction.verdict import Check
from colk_lab.statistics import Interval, mean_interval, slope_interval

ROOT = Path(__file__).parents[3]


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(value, digits):
    return f"{value:.{digits}f}".replace("-", "−")


def verdict_of(made, claim):
    (found,) = [v for c in made.chapters for v in c.verdicts if v.claim.startswith(claim)]
    return found


def drawn(folder, verdict, label, column=""):
    """The line of a check in the report's plot: its three places in per cent of the width."""
    columns = list(dict.fromkeys(check.column for check in verdict.checks))
    report = (folder / "report.html").read_text(encoding="utf-8")
    article = report.partition(f"<h3>{typeset(verdict.claim)}</h3>")[2].partition("</article>")[0]
    pattern = rf"<tr><th>{re.escape(typeset(label))}</th>(.*?)</tr>"
    cells = re.findall(r"<td>(.*?)</td>", re.search(pattern, article, re.S)[1], re.S)
    cell = cells[columns.index(column)]
    low, high = re.search(r'x1="([\d.]+)%" x2="([\d.]+)%" y1="50%"', cell).groups()
    return float(low), float(re.search(r'<svg x="([\d.]+)%"', cell)[1]), float(high)


def placed(verdict, found):
    scale = axis(verdict.checks, verdict.unit)
    return pytest.approx([100.0 * scale.place(x) for x in found], abs=0.06)


def in_percent(first, second):
    """A change in per cent, from the definition: Student's interval of the mean log ratio."""
    found = mean_interval(np.log(np.divide(first, second)))
    return [100.0 * np.expm1(x) for x in (found.low, found.value, found.high)]


def test_budgeted_methods_from_the_data(made, folder):
    errors = defaultdict(list)
    for row in rows(folder / "outliers-boxes.csv"):
        errors[row["protocol"], row["method"]].append(float(row["error"]))
    verdict = verdict_of(made, "BSGD and other budgeted")
    for protocol, sentence in zip(("printed", "tuned"), verdict.found[:2], strict=True):
        for name in ("bsgd", "compositional_bsgd", "npbsgd"):
            found = in_percent(errors[protocol, "colk"], errors[protocol, name])
            label = METHODS[name].label
            if found[1] <= 200.0:
                size = abs(found[1])
                way = "above" if found[1] > 0.0 else "below"
                said = f"{number(size, 0 if size >= 9.95 else 1)}\xa0% {way} {label}'s"
            else:
                times = 1.0 + found[1] / 100.0
                said = f"{number(times, 1 if times < 10.0 else 0)} times {label}'s"
            noise = " (within the noise)" if found[0] < 0.0 < found[2] else ""
            assert said + noise in sentence
            assert list(drawn(folder, verdict, label, protocol)) == placed(verdict, found)


def test_growth_of_the_model_order_from_the_data(made, folder):
    growth = defaultdict(list)
    for row in rows(folder / "outliers-laws.csv"):
        if row["method"] == "colk":
            growth[row["law"]].append(float(row["order"]) / float(row["order_halfway"]))
    verdict = verdict_of(made, "The model order stabilises")
    for law, ratios in growth.items():
        found = mean_interval([100.0 * (ratio - 1.0) for ratio in ratios])
        where = [found.low, found.value, found.high]
        assert list(drawn(folder, verdict, law)) == placed(verdict, where)
    for check in verdict.checks:
        if "C =" in check.label:
            growth[check.label] = [1.0 + 0.01 * check.interval.value]
    most = max(growth, key=lambda law: np.mean(growth[law]))
    value = 100.0 * (np.mean(growth[most]) - 1.0)
    said = f"{value:+.{0 if abs(value) >= 9.95 else 1}f}".replace("-", "−").replace("+0.0", "0.0")
    assert f"by {said}\xa0% at most ({most})" in verdict.found[0]


def test_theorem_2_from_the_data(made, folder):
    verdict = verdict_of(made, "Theorem 2")
    table = rows(folder / "theory-convergence.csv")
    for panel, check in zip(
        ("floor over step size", "end over steps"), verdict.checks, strict=True
    ):
        # Horizons that are equal at this scale share their x; the runs are in order.
        own = [r for r in table if r["panel"] == panel and r["hypothesis"] == "inside"]
        x = np.array([float(r["x"]) for r in own if r["run"] == "0"])
        y = [[float(r["squared_distance"]) for r in own if r["run"] == i] for i in ("0", "1")]
        found = slope_interval(x, np.array(y))
        assert f"exponent {number(found.value, 2)}" in verdict.found[0]
        where = [found.low, found.value, found.high]
        assert list(drawn(folder, verdict, check.label)) == placed(verdict, where)
        # What is drawn decides: the shaded region is the one that the state follows from.
        inside = check.low <= found.low and found.high <= check.high
        assert (check.state == "supports") == inside


def test_the_bound_on_the_gradient_from_the_data(made, folder):
    """The claim on budgeted methods is judged at each bound, on the numbers of the figure."""
    errors = defaultdict(list)
    for row in rows(folder / "outliers-clips.csv"):
        errors[float(row["gradient_bound"]), row["method"]].append(float(row["error"]))
    verdict = verdict_of(made, "BSGD and other budgeted")
    for clip in CLIPS:
        for name in ("bsgd", "compositional_bsgd", "npbsgd"):
            found = in_percent(errors[clip, "colk"], errors[clip, name])
            label = METHODS[name].label
            assert list(drawn(folder, verdict, label, column(clip))) == placed(verdict, found)


def test_a_reduced_run_carries_a_banner_and_judges_nothing(made, folder):
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "A reduced run:" in text
    assert "2 runs instead of 20 and 1 % of the samples" in text
    assert {v.outcome for c in made.chapters for v in c.verdicts} == {"not enough runs"}


def test_a_full_run_carries_none(made):
    pictures = {f.name: "" for c in made.chapters for f in c.figures}
    text = page(made.chapters, RunPlan(), observe_origin(1.0, 1, 0), pictures)
    assert "A reduced run" not in text
    assert 'class="banner"' not in text


def visible(folder):
    """The words of the page, without style, tags and drawings."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    text = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<header>.*?</header>", "", text, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_one_minus_sign_and_no_formula_left_in_dollars(folder):
    words = visible(folder)
    assert not re.findall(r"(?<![\w)])-\d", words)
    assert "$" not in words
    assert "\\" not in words
    assert "log₁₀" not in words


def test_no_paragraph_of_semicolons(made):
    for verdict in (v for c in made.chapters for v in c.verdicts):
        for sentence in verdict.found:
            assert sentence.count(";") <= 1


def test_what_was_chosen_stands_on_the_page_and_in_the_documents(folder):
    words = " ".join(visible(folder).split())
    told = " ".join((ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").split())
    for text in (*ASSUMPTIONS, *CHOSEN_AFTER):
        assert text in words
        assert text in told


def test_head(folder):
    head = re.search(
        r"<header>.*?</header>", (folder / "report.html").read_text(encoding="utf-8"), re.S
    )[0]
    for word in ("Bedi", "UTC", "colk 0.", "cores", "Python 3.", " tasks"):
        assert word in head


def test_one_colour_for_one_method():
    colors = [METHODS[name].color for name in METHODS]
    assert len(set(colors)) == len(colors)
    assert set(colors) <= set(PALETTE)
    assert set(DARK) == set(PALETTE)


def test_figures_follow_light_and_dark(folder):
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    figures = re.findall(r"<figure.*?</figure>", text, flags=re.S)
    for figure in figures:
        assert "var(--ink)" in figure
        assert "fill: #000000" not in figure
        assert not any(color.lower() in figure for color in PALETTE.values())
        assert '<input type="checkbox"' in figure


def test_type_of_one_size(folder):
    sheet = re.search(r"<style>(.*?)</style>", (folder / "report.html").read_text("utf-8"), re.S)[1]
    sizes = set(re.findall(r"font-size: ([^;]+);", sheet))
    # Headings of the page and of its sections are larger; all else is of one size.
    assert sizes == {"1rem", "1em", "1.5rem", "1.25rem"}
    for chart in folder.glob("*.svg"):
        scales = set(re.findall(r"scale\((0\.\d+) -0\.\d+\)", chart.read_text("utf-8")))
        # Text, and the exponents and indices in it.
        assert len(scales) <= 3, chart.name


def test_tuned_settings_that_are_equal_say_so(made, folder):
    outliers, lidar = made.chapters[:2]
    tuned = {
        (name.partition(",")[0], text)
        for name, text in outliers.settings.items()
        if name.endswith("tuned")
    }
    same = [
        name
        for name, text in lidar.settings.items()
        if ", tuned" in name and (name.partition(",")[0], text) in tuned
    ]
    assert visible(folder).count("the same trial as in") >= len(same)


def words(markup):
    """The text of a formula, without tags."""
    return html.unescape(re.sub(r"<[^>]+>", "", str(markup)))


def test_formulas():
    assert plain(r"$O((\alpha/\varepsilon)^{2p})$") == "O((α/ε)^(2p))"
    assert plain(r"$\alpha = \log\,T/(\lambda T)$") == "α = log T/(λ T)"
    assert "<msqrt><mrow><mi>T</mi></mrow></msqrt>" in typeset(r"$2/\sqrt{T}$")
    assert "<msubsup><mi>f</mi><mi>t</mi><mn>2</mn></msubsup>" in typeset("$f_t^2$")
    assert typeset("a < b") == "a &lt; b"


def test_every_formula_of_the_report_is_converted(made, folder):
    """Page and terminal show the same symbols; none is left as a command."""
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<math.*?</math>", report, flags=re.S)) > 100
    for text in (v.claim for c in made.chapters for v in c.verdicts):
        shown, flat = words(typeset(text)), plain(text)
        assert re.sub(r"[\s^()]", "", shown) == re.sub(r"[\s^()]", "", flat)


def test_an_interval_beyond_the_plot_ends_at_its_edge():
    check = Check("a", Interval(3.0, -99.9, 1e9), high=0.0)
    scale = axis([check], "%")
    assert scale.place(1e9) == 1.0
    assert scale.place(-99.9) == 0.0
    assert 0.0 < scale.place(3.0) < 1.0
