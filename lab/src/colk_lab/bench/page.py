"""Write the page of the benchmark: where colk is worse, then a table and a figure per track."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from colk.cli.pages.drawing import draw
from colk.cli.pages.render import inline
from colk.persistence.atomic import write_whole
from colk_lab.bench.cells import FAILED, BenchPlan, CellScore, Measure, Track
from colk_lab.bench.peers import missing, versions
from colk_lab.bench.scores import Behind, SeedSummary, behind, headline, ratios, summarise
from colk_lab.origin import Origin
from colk_lab.pages.render import render
from colk_lab.places import draw_places, places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["medians", "write_page"]

# Width of a letter and height of a line in a figure, in points.
_LETTER, _LINE = 5.0, 10.0

Summaries = Mapping[str, Mapping[str, SeedSummary]]


def number(value: float, digits: int = 3) -> str:
    """Write a number with a few significant digits.

    Examples
    --------
    >>> number(0.012345), number(1234.5), number(25.04), number(0.0), number(0.0000698)
    ('0.0123', '1,234', '25.0', '0', '6.98e-05')
    """
    if not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    if abs(value) < 1e-3:
        return f"{value:.{digits - 1}e}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(places, 0)}f}"


def _cell(summary: SeedSummary | None, digits: int, is_best: bool) -> Markup:
    """Return a table cell with a mean and its interval; the best value of a problem is bold."""
    if summary is None:
        return Markup('<td class="quiet">–</td>')
    text = number(summary.mean, digits)
    shown = Markup("<b>{}</b>").format(text) if is_best else escape(text)
    if summary.half > 0.0:
        shown += Markup("<small>± {}</small>").format(number(summary.half, 2))
    return Markup('<td data-value="{}">{}</td>').format(repr(summary.mean), shown)


def _peers(found: Summaries) -> list[str]:
    return list(dict.fromkeys(peer for by_peer in found.values() for peer in by_peer))


def _main_table(track: Track, found: Summaries) -> dict[str, Any]:
    """Return the table of the first measure, with a row per problem and a column per peer."""
    measure, peers = track.measures[0], _peers(found)
    rows = []
    for problem, by_peer in found.items():
        best = min(by_peer, key=lambda peer: measure.badness(by_peer[peer].mean))
        cells = [_cell(by_peer.get(peer), measure.digits, best == peer) for peer in peers]
        rows.append((problem, [*([_use(track, problem)] if track.parts else []), *cells]))
    head = ["used for choices", *peers] if track.parts else peers
    return {"head": head, "rows": rows, "caption": measure.text}


def _use(track: Track, problem: str) -> Markup:
    """Return a table cell that says whether a rule of colk was chosen on a problem."""
    part, chosen = track.parts.get(problem, ""), track.chosen.get(problem, "")
    texts = {"final": "never: final", "development": chosen or "may be: development"}
    return Markup('<td class="use">{}</td>').format(texts.get(part, "drawn"))


def relative(found: Summaries, floor: float = 0.0) -> dict[str, float]:
    """Return the geometric mean over problems of a peer's value divided by the best value.

    Peers that lack a problem are left out. The result is empty if a value is not positive; values
    below `floor` count as the floor.
    """
    shares: dict[str, list[float]] = {}
    for by_peer in found.values():
        values = {peer: max(summary.mean, floor) for peer, summary in by_peer.items()}
        least = min(values.values())
        if not least > 0.0:
            return {}
        for peer, value in values.items():
            shares.setdefault(peer, []).append(value / least)
    return {
        peer: float(np.exp(np.mean(np.log(values))))
        for peer, values in shares.items()
        if len(values) == len(found)
    }


def _peer_table(
    track: Track, scores: Sequence[CellScore], found: Summaries
) -> dict[str, Any] | None:
    """Return the other measures of each peer: medians over problems."""
    others, to_colk = track.measures[1:], ratios(track, scores)
    if not others:
        return None
    of_peers = {measure.name: medians(scores, measure) for measure in others}
    rows = []
    for peer in _peers(found):
        values = [of_peers[measure.name].get(peer) for measure in others]
        summaries = [None if value is None else SeedSummary(value, 0.0) for value in values]
        rows.append((peer, [_cell(each, 3, False) for each in (to_colk.get(peer), *summaries)]))
    head = [f"{track.measures[0].name} / colk's", *(measure.name for measure in others)]
    captions = {measure.name: measure.text for measure in others}
    return {"head": head, "rows": rows, "captions": captions}


def medians(scores: Sequence[CellScore], measure: Measure) -> dict[str, float]:
    """Return the median of a measure over problems, by peer."""
    found: dict[str, list[float]] = {}
    for by_peer in summarise(scores, measure.name).values():
        for peer, summary in by_peer.items():
            found.setdefault(peer, []).append(summary.mean)
    return {peer: float(np.median(values)) for peer, values in found.items()}


def _name_points(axes: Any, points: Mapping[str, tuple[float, float]]) -> None:
    """Write a name beside each point, shifted up if it would overlap other names."""
    axes.autoscale_view()
    scale = 72.0 / axes.figure.dpi
    spots = [axes.transData.transform(place) * scale for place in points.values()]
    # The left and right ends and the base of each point and name.
    taken = [(float(x) - 4.0, float(x) + 4.0, float(y) - 3.0) for x, y in spots]
    for name, place in sorted(points.items(), key=lambda item: item[1][1]):
        x, y = axes.transData.transform(place) * scale
        left, right, base = x + 5.0, x + 5.0 + _LETTER * len(name), y + 4.0
        while any(abs(base - b) < _LINE and left < e and a < right for a, e, b in taken):
            base += 1.0
        taken.append((left, right, base))
        axes.annotate(name, place, (5.0, base - y), textcoords="offset points")


def _costs(track: Track) -> list[Measure]:
    """Return the time and the size of a track, if it measures them."""
    others = track.measures[1:]
    times = [each for each in others if each.is_time]
    return times[:1] + [each for each in others if each.name == "bytes"]


def _picture(track: Track, scores: Sequence[CellScore], found: Summaries) -> Markup | None:
    """Draw error against time and against bytes, if the track measures them."""
    costs = _costs(track)
    shares = relative(found, track.measures[0].floor)
    shares.pop("constant", None)  # its large error would hide the differences of the others
    if not costs or len(shares) < 3:
        return None
    name = track.measures[0].name
    title = f"{track.title}: {name} relative to the best, against " + " and ".join(
        each.name for each in costs
    )

    def paint(figure: "Figure") -> None:
        for place, cost in enumerate(costs):
            axes = figure.add_subplot(1, len(costs), place + 1)
            values = medians(scores, cost)
            points = {peer: (values[peer], ratio) for peer, ratio in shares.items()}
            for peer, point in points.items():
                color = "#D55E00" if peer.startswith(track.ours) else "#0072B2"
                axes.plot(*point, "o", color=color)
            axes.set(xscale="log", yscale="log", xlabel=cost.text.rstrip("."))
            axes.set_ylabel(f"{name}, relative to the best" if place == 0 else "")
            axes.margins(x=0.35, y=0.12)
            _name_points(axes, points)

    return inline(draw(paint, 5.2 * len(costs) + 2.0, 4.2, "svg")[0], track.key, title)


def _diagram(track: Track, found: Summaries) -> dict[str, Any] | None:
    """Return the places of the peers over the problems, with a picture, or None for too few."""
    measure = track.measures[0]
    badness = {
        problem: {peer: measure.badness(summary.mean) for peer, summary in by_peer.items()}
        for problem, by_peer in found.items()
    }
    compared = places(badness)
    if compared is None:
        return None
    height = 0.9 + 0.28 * (len(compared.means) + len(compared.groups))
    svg = draw(lambda figure: draw_places(figure, compared, track.ours), 8.0, height, "svg")[0]
    picture = inline(svg, f"{track.key}-places", f"{track.title}: mean places")
    return {"picture": picture, "p": number(compared.p_equal, 2), "n": compared.n_problems}


def _told(each: Behind) -> str:
    digits = each.measure.digits
    theirs, ours = number(each.theirs, digits), number(each.ours, digits)
    return f"{each.problem}: {each.peer} has {each.measure.name} {theirs}, colk {ours}."


def _share_behind(tracks: Sequence[Track], scores: Sequence[CellScore]) -> str:
    """Return a text with the number of problems on which another method is better."""
    own = {track.key: [s for s in scores if s.track == track.key] for track in tracks}
    judged = [score for each in own.values() for score in headline(each)]
    n_behind = sum(len(behind(track, scores)) for track in tracks)
    n_problems = len({(score.track, score.problem) for score in judged})
    return f"On {n_behind} of {n_problems} problems"


def _judged(scores: Sequence[CellScore]) -> str:
    """Return on which problems a track is judged."""
    parts = {score.part for score in scores}
    if parts == {"final"}:
        return "Judged on the final sets only, which were never used for a choice."
    if "development" in parts:
        return "Judged on development sets, because this is not a final run."
    return ""


def _failures(scores: Sequence[CellScore]) -> list[str]:
    """Return a sentence for each problem on which a method failed."""
    told = {
        (score.peer, score.problem): score.texts[FAILED]
        for score in scores
        if FAILED in score.texts
    }
    return [f"{peer} failed on {problem}: {text}" for (peer, problem), text in told.items()]


def _section(track: Track, scores: Sequence[CellScore]) -> dict[str, Any]:
    own = [score for score in scores if score.track == track.key]
    found, judged = summarise(own, track.measures[0].name), headline(own)
    summaries = summarise(judged, track.measures[0].name)
    return {
        "key": track.key,
        "title": track.title,
        "question": track.question,
        "main": _main_table(track, found),
        "peers": _peer_table(track, judged, summaries),
        "picture": _picture(track, judged, summaries),
        "two_pictures": len(_costs(track)) > 1,
        "diagram": _diagram(track, summaries),
        "judged": _judged(judged),
        "notes": {name: text for name, text in track.notes.items() if name in found},
        "behind": [_told(each) for each in behind(track, scores)],
        "remarks": [*track.remarks(own), *_failures(own)],
    }


def write_page(
    tracks: Sequence[Track],
    scores: Sequence[CellScore],
    plan: BenchPlan,
    folder: Path,
    origin: Origin,
) -> Path:
    """Write `bench.html` and return its path."""
    sections = [_section(track, scores) for track in tracks]
    facts = {name: text for name, text in origin.pairs.items() if name != "Paper"}
    facts["Other libraries"] = ", ".join(v for v in versions() if v not in origin.packages)
    facts |= {f"Without {name}": why for name, why in missing().items()}
    page = render(
        "bench",
        title="colk compared with other methods",
        sections=sections,
        facts=facts,
        quick=plan.quick,
        final=plan.final,
        share_behind=_share_behind(tracks, scores),
    )
    path = folder / "bench.html"
    write_whole(path, [page.encode()])
    return path
