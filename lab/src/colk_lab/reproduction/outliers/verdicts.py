"""Verdicts on the paper's claims about the synthetic experiment, in the paper's order."""

import numpy as np

from colk_lab.arrays import Array
from colk_lab.reproduction.laws import LAWS
from colk_lab.reproduction.methods import CLIP, CLIPS, column
from colk_lab.reproduction.outliers.comparisons import (
    COMPARABLE,
    PROTOCOLS,
    comparison_verdicts,
    over_clips,
)
from colk_lab.reproduction.outliers.laws_figure import halfway_order
from colk_lab.reproduction.outliers.runs import (
    SIZES,
    OutlierRuns,
    final,
    objective,
    stack,
)
from colk_lab.reproduction.verdict import NEGLIGIBLE, Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import compared, count, percent
from colk_lab.statistics import mean_interval, percent_change, share_interval

__all__ = ["outlier_verdicts"]

# Percentages below which a model order has settled, an error has converged, and divergence is rare.
_SETTLED = 5.0
_CONVERGED = 5.0
_RARE = 20.0


def outlier_verdicts(found: OutlierRuns) -> list[Verdict]:
    """Judge every claim, in the paper's order."""
    beside = comparison_verdicts(found)
    return [
        _literal(found),
        _falls(found),
        beside["objective"],
        _order_settles(found),
        _features(found),
        beside["budgeted"],
        beside["variation"],
        beside["lowest"],
        beside["heavy"],
    ]


def _literal(found: OutlierRuns) -> Verdict:
    runs = len(found.literal)
    stopped = sum(int(result["diverged"]) >= 0 for result in found.literal)
    bounded = sum(int(result["diverged"]) >= 0 for result in found.printed["colk"])
    check = Check("COLK as printed", share_interval(stopped, runs), high=_RARE)
    return Verdict(
        short="the printed update runs without a bound on its gradient",
        claim="The printed update runs as it stands, since KOMP bounds its gradient.",
        quote="Note that the gradient of the outer function is not bounded in the above mentioned "
        "problem, but the gradient of the projected version after applying KOMP is bounded.",
        where="Section V, below the update",
        found=[
            f"As printed, {count(stopped, runs)} runs diverge. With a bound on the gradient, as in "
            f"Assumption 5, {count(bounded, runs)} diverge."
            + (" All other results use the bound." if stopped else "")
        ],
        rule=f"Holds if less than {percent(_RARE)} of the runs diverge.",
        parts=[VerdictPart("runs that diverge", [check])],
        plan=found.plan,
        numbers=[
            Measured("runs that diverge as printed", stopped),
            Measured("runs that diverge with a gradient bound", bounded),
            Measured("runs", runs),
        ],
    )


def _phases(samples: Array, values: Array) -> tuple[Array, Array, Array]:
    """Return means of each run: near 10 % of the samples, in the third and in the last quarter."""
    share = samples / samples[-1]
    early = values[:, np.argmin(np.abs(share - 0.1))]
    third = values[:, (share > 0.5) & (share <= 0.75)].mean(axis=1)
    return early, third, values[:, share > 0.75].mean(axis=1)


def _falls(found: OutlierRuns) -> Verdict:
    parts, sentences, numbers = [], [], []
    for clip, group in found.clips.items():
        results = group["colk"]
        for what, values in (
            ("objective", objective(results)),
            ("test error", stack(results, "error")),
        ):
            early, third, last = _phases(results[0]["samples"], values)
            fall, drift = percent_change(last, early), percent_change(last, third)
            falls = Check(what, fall, high=-NEGLIGIBLE, column=column(clip))
            settles = Check(what, drift, low=-_CONVERGED, high=_CONVERGED, column=column(clip))
            parts.append(VerdictPart("last quarter compared with 10 % of the samples", [falls]))
            parts.append(VerdictPart("last quarter compared with the third", [settles]))
            if clip == CLIP:
                sentences.append(
                    f"With the bound 10, the {what} in the last quarter of the samples is "
                    f"{compared(fall, 'its value after a tenth of them')}, and "
                    f"{compared(drift, 'its mean in the third quarter')}."
                )
            numbers.append(Measured(f"{what}, last quarter", float(last.mean()), column(clip)))
    return Verdict(
        short="the objective and the test error fall and converge",
        claim="Mean plus variance of the loss falls as samples are processed, and the test error "
        "converges.",
        quote="… the mean plus variance of the loss function is minimized as the number of samples "
        "processed increases. … the time-series of the test-set error of COLK … converges as the "
        "training samples increases.",
        where="Section V, on Figures 1a and 1b",
        found=[*sentences, over_clips(parts)],
        rule="There are four parts for each bound C: objective and test error fall from the value "
        f"after a tenth of the samples (the interval lies below {percent(-NEGLIGIBLE)}), and in "
        f"the last quarter they stay within {percent(_CONVERGED)} of the third quarter.",
        parts=parts,
        plan=found.plan,
        numbers=numbers,
    )


def _order_settles(found: OutlierRuns) -> Verdict:
    checks, atoms = [], {}
    for law, group in found.laws.items():
        last = final(group["colk"], "order")
        half = np.array([halfway_order(result) for result in group["colk"]])
        growth = mean_interval(100.0 * (last / half - 1.0))
        checks.append(Check(str(law), growth, high=_SETTLED))
        atoms[str(law)] = float(last.mean())
    for clip in CLIPS:
        if clip != CLIP:
            results = found.clips[clip]["colk"]
            half = np.array([halfway_order(result) for result in results])
            growth = mean_interval(100.0 * (final(results, "order") / half - 1.0))
            checks.append(Check(f"{LAWS[1]}, C = {clip:g}", growth, high=_SETTLED))
    most = max(checks, key=lambda check: check.interval.value)
    clean, harsh = atoms[str(LAWS[0])], max(atoms.values())
    return Verdict(
        short="the model order settles with and without outliers",
        claim="The model order stabilises over time regardless of the presence of outliers.",
        quote="… we plot the model order of the function sequence defined by COLK, and observe it "
        "stabilizes over time regardless of the presence of outliers.",
        where="Section V, on Figure 1c",
        found=[
            f"Over the second half of the samples the order changes by "
            f"{percent(most.interval.value, signed=True)} at most ({most.label}). Outliers make "
            f"the model larger: it has up to {harsh:.0f} atoms with outliers and {clean:.0f} "
            "without."
        ],
        rule=f"Holds if the order grows by less than {percent(_SETTLED)} over the second half of "
        "the samples. Each distribution of outliers counts, and each bound C.",
        parts=[VerdictPart("growth over the second half", [check]) for check in checks],
        plan=found.plan,
        numbers=[Measured(f"atoms, {law}", number) for law, number in atoms.items()],
    )


def _features(found: OutlierRuns) -> Verdict:
    parts, sentences, numbers = [], [], []
    for protocol, group in found.protocols.items():
        atoms = float(final(group["colk"], "order").mean())
        error = final(group["colk"], "error")
        few: list[Check] = []
        many: list[Check] = []
        for size in SIZES:
            change = percent_change(final(found.networks[protocol, size], "error"), error)
            region = {"low": COMPARABLE} if size <= 2.0 * atoms else {"high": COMPARABLE}
            (few if size <= 2.0 * atoms else many).append(
                Check(f"{size} features", change, column=protocol, color="purple", **region)
            )
        if few:
            parts.append(VerdictPart("up to twice the atoms: error compared with COLK's", few))
        if many:
            title = "more than twice the atoms: error compared with COLK's"
            parts.append(VerdictPart(title, many, "any"))
        best = min((*few, *many), key=lambda check: check.interval.value)
        if protocol in PROTOCOLS:
            beside = compared(best.interval, "COLK's")
            sentences.append(
                f"{PROTOCOLS[protocol]}, COLK has {atoms:.0f} atoms. The best network has "
                f"{best.label}, and its error is {beside}."
            )
        numbers.append(Measured("atoms of COLK", atoms, protocol))
        numbers.append(Measured("error of COLK", float(error.mean()), protocol))
    return Verdict(
        short="a network of random features needs more than twice COLK's size",
        claim="One requires more than twice as many RBF features for performance comparable to "
        "COLK's.",
        quote="Observe that in order to obtain comparable performance to COLK, one requires more "
        "than twice as many RBF features.",
        where="Section V, on Figure 1c",
        found=[*sentences, over_clips(parts)],
        rule=f"Comparable means an error at most {percent(COMPARABLE)} above COLK's. There are "
        "two parts for each protocol: no network of up to twice COLK's atoms is comparable, and "
        "some larger network is.",
        parts=parts,
        plan=found.plan,
        numbers=numbers,
    )
