"""Check that learning paths stay the same, bit for bit, while the engine is rewritten.

    python -m colk_lab.tables paths record FILE
    python -m colk_lab.tables paths compare FILE

Record with one version of the package, and compare with another. Every configuration learns a
stream that is drawn with a fixed seed. Its digest covers the bytes of the state that the learner
shows afterwards: atoms, weights, predictions, the tracked g, sums of losses, the trace, and P of
Newton learners; all NaN are equal. Digests are valid for one machine type, compiler and NumPy only.
The file records them, and `compare` prints those that differ. `--only TEXT` selects configurations
by name, and `--every N` runs one of N configurations.
"""

import argparse
import hashlib
import json
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from itertools import chain, count, product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import colk
from colk import compressors, kernels, learners, losses, risks, rl
from colk.compressors import KOMP, Growing, Merging, Projection, Removal, Truncation
from colk.kernels import Constant, CustomKernel, Gaussian, Laplacian, Linear, Matern, Polynomial
from colk.learners import BSGD, COLK, NASA, NORMA, NPBSGD, POLK, SCGD, AcceleratedSCGD, NewtonCOLK
from colk.losses import CustomLoss, EpsilonInsensitive, Huber, Pinball, Squared
from colk.risks import Composition, CustomRisk, CVaR, MeanSemideviation, Semideviations, Variance
from colk.rkhs.features import RBFNetwork
from colk.schedules import Averaging, Exponential, PolyakRuppert, PowerDecay
from colk.trackers import Extrapolation, Momentum, MovingAverage, Tracker

Data = tuple[np.ndarray, ...]  # X, y and weights; or states, rewards, next states and ends
Parts = dict[str, Any]
Configuration = tuple[str, Callable[[], Parts]]


def named(*terms: Any) -> Parts:
    """Name terms by their classes and places: names of parameters may change."""
    return {f"{type(term).__name__}-{i}": term for i, term in enumerate(terms)}


def own(base: Any, *arguments: Any, **methods: Any) -> Any:
    """Return a term of a class that is written outside the package."""
    return type(f"Own{base.__name__}", (base,), methods)(*arguments)


# User-defined functions: Numba compiles them, except those that are partial.
CALLS = count()
CAUCHY = [lambda u, v: 1.0 / (1.0 + 4.0 * ((u - v) ** 2).sum())]
QUARTIC = [lambda f, y: 0.25 * (f - y) ** 4, lambda f, y: (f - y) ** 3]
ROOT = [
    lambda _, f, y=0.0: (1.0 + (f - y) * (f - y)) ** 0.5 - 1.0,
    lambda _, f, y=0.0: (f - y) / (1.0 + (f - y) * (f - y)) ** 0.5,
]
MOMENTS = [
    lambda u: (u, u * u), lambda u: (1.0, 2.0 * u), lambda u, g: u + 0.1 * (g[1] - g[0] ** 2),
    lambda u, g: 1.0, lambda u, g: (-0.2 * g[0], 0.1),
]  # fmt: skip
BIAS = [
    lambda f, y: (f - y).sum(), lambda f, y: np.ones_like(f),
    lambda f, y, g: ((f - y) ** 2).sum() + g[0] ** 2, lambda f, y, g: 2.0 * (f - y),
    lambda f, y, g: 2.0 * g,
]  # fmt: skip
OWN_KERNEL = own(
    kernels.Kernel, columns=lambda _, atoms, n, points, size, out, first: np.copyto(
        out[first : first + size, :n], (1.0 + points[:size] @ atoms[:, :n]) ** 2),
)  # fmt: skip
OWN_RISK = own(
    risks.LossRisk, n_inner=1, inner_at=lambda _, loss, g, i: loss, inner_slope_at=lambda *_: 1.0,
    outer_at=lambda _, loss, g: loss + 0.2 * (loss - g[0]) ** 2,
    outer_slope_loss_at=lambda _, loss, g: 1.0 + 0.4 * (loss - g[0]),
    outer_slope_inner_at=lambda _, loss, g, i: 0.4 * (g[0] - loss),
)  # fmt: skip
OWN_BUDGET = own(compressors.Budget, 20, make_room=lambda _, d: compressors.remove(d, 0) or 0.1)
# Two that raise: at a large target, and at every fiftieth call.
FRAGILE_LOSS = own(losses.Loss, loss_at=lambda _, f, y: f / (y < 1.5), slope_at=ROOT[1])
FRAGILE = {"settle": lambda _, d, n, *more: compressors.enrol(d, n) * 0.0 / (next(CALLS) % 50 < 49)}
FRAGILE_RULE = own(compressors.Compressor, needs_factor=False, **FRAGILE)

KERNELS = named(
    Gaussian(0.5), Gaussian((0.3, 0.6, 0.9)), Laplacian(1.0), Laplacian((0.5, 1.0, 2.0)),
    Matern(0.8, 0.5), Matern(0.8, 1.5), Matern(0.8, 2.5), Matern((0.5, 1.0, 2.0), 1.5),
    kernels.RationalQuadratic(0.5, 0.7), Linear(), Constant(2.0), Polynomial(2, 0.5),
    Polynomial(3, 0.0), Polynomial(5, 1.0), Gaussian(0.5) + Linear(), 2.5 * Gaussian(0.5),
    Gaussian(0.8) * Polynomial(2), Gaussian(0.3) + Matern(1.0) + Constant(0.5), OWN_KERNEL,
    Gaussian(0.8) * Matern(2.0, 2.5) * Laplacian(3.0), OWN_KERNEL + 0.5 * Gaussian(0.5),
    0.5 * Gaussian(0.3) * (Linear() + Constant(1.0)) + 0.1 * Polynomial(2), CustomKernel(*CAUCHY),
    CustomKernel(*map(partial, CAUCHY)), Gaussian(0.3) + kernels.RationalQuadratic(2.0, 2.0),
)  # fmt: skip
LOSSES = named(
    Squared(), Huber(0.5), losses.LogCosh(0.5), Pinball(0.8), losses.Expectile(0.8),
    EpsilonInsensitive(0.2), losses.SquaredEpsilonInsensitive(0.2), losses.Logistic(),
    losses.Hinge(), losses.SquaredHinge(), losses.SmoothHinge(0.5), losses.Softmax(),
    own(losses.Loss, loss_at=ROOT[0], slope_at=ROOT[1]), losses.Quantiles((0.1, 0.5, 0.9)),
    CustomLoss(*QUARTIC), CustomLoss(*map(partial, QUARTIC)), losses.Welsch(0.5), losses.Tukey(1.5),
)  # fmt: skip
RISKS = named(
    risks.Mean(), Variance(0.2), Variance(0.0), risks.CentralMoments(3, 0.1),
    risks.CentralMoments(4, 0.1), risks.Semivariance(0.3), risks.Semivariance(0.3, 0.1),
    Semideviations(4, 0.1), Semideviations(3, 0.1, 0.2), MeanSemideviation(1.0, 0.5),
    MeanSemideviation(2.0, 0.5), MeanSemideviation(3.0, 0.8), MeanSemideviation(2.0, 0.0),
    CVaR(0.2), CVaR(0.3, 0.7, 0.1), CVaR(1.0), risks.Entropic(1.0), risks.Entropic(-0.5),
    CustomRisk(*MOMENTS, n_inner=2), CustomRisk(*map(partial, MOMENTS), n_inner=2), OWN_RISK,
    Composition(*BIAS), Composition(*map(partial, BIAS)),
    own(risks.Dispersion, 0.3, spread_at=ROOT[0], spread_slope_at=ROOT[1]),
    risks.ExpectileRisk(0.8), risks.Spectral((0.1, 1.0)),
)  # fmt: skip
COMPRESSORS = named(
    KOMP(eps=0.0), KOMP(eps=1e-3), KOMP(eps=0.05), KOMP(parsimony=1.0), KOMP(max_atoms=20),
    KOMP(eps=0.01, max_atoms=25), KOMP(fraction=0.2), KOMP(fraction=0.05, max_atoms=25),
    Truncation(30), Truncation(None), Removal(30), Projection(30), Merging(30), OWN_BUDGET,
    Growing(Removal(10), 0.2, 150, 3), Growing(Projection(10), 0.2, 150),
    Growing(Merging(10), 0.2, 150), Growing(OWN_BUDGET, 0.2, 150),
)  # fmt: skip
AVERAGINGS = named(
    None, PolyakRuppert(), PolyakRuppert(100), PolyakRuppert(20, 3.0), Exponential(0.05),
    own(Averaging, rate_at=lambda _, t: 1.0 if t < 10 else 0.05),
)  # fmt: skip
OWN_TRACKER = own(Tracker, update=lambda _, g, before, now, rate: g + rate * rate * (now - g))
TRACKERS = named(Momentum(), MovingAverage(), Extrapolation(), OWN_TRACKER)
PAIRINGS = ("independent", "overlap", "same")
ORDERS: dict[str, Parts] = {
    "plain": {}, "traced": {"trace": True}, "experts": {"forgetting": "auto"},
    "priors": {"prior": "auto"}, "forgetful": {"forgetting": 0.98},
}  # fmt: skip
# Settings of every learner of a kind, because defaults may change.
FIRST: Parts = {
    "kernel": Gaussian(0.5), "loss": Huber(0.5), "step_size": 0.2, "regularization": 1e-3,
    "compressor": KOMP(eps=0.02), "averaging": PolyakRuppert(growth=3.0), "trace": True,
}  # fmt: skip
PAIRED = {"risk": Variance(0.2), "tracking_rate": 0.1, "pairing": "independent"}
SECOND = {"kernel": Gaussian(0.5), "loss": Huber(0.5), "prior": 0.3, "compressor": KOMP(eps=0.05)}
NETWORK = {"features": RBFNetwork(40, 0.5, (-1.0, -1.0), (1.0, 1.0)), "risk": Variance(0.2)}
VALUE: Parts = {"kernel": Gaussian(0.5), "discount": 0.9, "trace": True}
BUDGET: Parts = {"kernel": Gaussian(0.5), "max_atoms": 20}
POLICIES = (rl.KernelTD, rl.ResidualGradient, rl.TDC, rl.PolicyEvaluator, rl.KernelLSTD)
GIVEN: dict[Any, Parts] = {COLK: FIRST | PAIRED, POLK: FIRST, NewtonCOLK: SECOND | PAIRED}
GIVEN |= dict.fromkeys((SCGD, AcceleratedSCGD, NASA), NETWORK)
GIVEN |= dict.fromkeys(POLICIES, VALUE)
GIVEN |= dict.fromkeys((BSGD, learners.CompositionalBSGD, NORMA, NPBSGD), BUDGET)
GIVEN[NPBSGD] = BUDGET | {"growth": 0.2, "horizon": 100, "seed": 4, "trace": True}


def draw(n: int = 300, p: int = 2, q: int = 0, kind: str = "", weighs: bool = False) -> Data:
    """Draw points of a cube, targets (q numbers with heavy tails, or classes) and weights."""
    rng = np.random.default_rng([n, p, q])
    X, A = rng.uniform(-1.0, 1.0, (n, p)), rng.normal(size=(p, max(q, 1)))
    Y = np.sin(3.0 * (X[:, :, None] * A).sum(axis=1)) + 0.2 * rng.standard_t(3.0, (n, max(q, 1)))
    if kind in ("binary", "multiclass"):
        Y = np.where(Y > 0.2, 1.0, -1.0) if kind == "binary" else 1.0 * np.digitize(Y, [-0.4, 0.4])
    weight = np.maximum(rng.uniform(-0.5, 3.0, n), 0.0)
    return X, Y if q else Y[:, 0], *([weight] if weighs else [])


SHOWN = (
    "steps", "function", "last_function", "inner_estimate", "loss_sums", "error_spent", "tracked",
    "step_length", "trace", "weights", "tube", "covariance", "current_prior", "restarts", "experts",
)  # fmt: skip


def by_parts(learner: Any, data: Data, places: Any = 1, *ignored: type[Exception]) -> Any:
    """Cut data into this many parts, or at these places; after an error, continue with the next."""
    for part in zip(*(np.array_split(each, places) for each in data), strict=True):
        with suppress(*ignored):
            learner.learn(*part)
    return learner


def one_by_one(learner: Any, data: Data) -> Any:
    for t, (x, y, *weight) in enumerate(zip(*data, strict=True)):
        target = float(y) if np.ndim(y) == 0 else y
        learner.learn_one(x if t % 3 == 0 else x.tolist(), target, *map(float, weight))
    return learner


def copied(learner: Any, data: Data) -> Any:
    """Continue with copies: through pickles, and through files."""
    for part in zip(*(np.array_split(each, 3) for each in data), strict=True):
        learner = pickle.loads(pickle.dumps(learner.learn(*part)))
        with tempfile.TemporaryDirectory() as folder:
            colk.save(learner, Path(folder) / "model.colk")
            learner = colk.load(Path(folder) / "model.colk")
    return learner


def show(kind: Any, settings: Parts, feed: Any, data: Data) -> Parts:
    """Return the public state of a learner after the data, by name."""
    learner, shown = feed(kind(**settings), data), {}
    points = np.random.default_rng(9).uniform(-1.2, 1.2, (40, data[0].shape[1]))
    for name in SHOWN:
        with suppress(AttributeError, ValueError):  # another kind has it, or nothing was traced
            shown[name] = getattr(learner, name)
    if kind is learners.DoublySGD:
        shown.pop("weights", None)  # only later versions have this property
    if isinstance(learner, rl.ValueLearner):
        return shown | {"value": learner.value(points)}
    with suppress(TypeError, ValueError):  # the second order has it, for losses of a residual
        shown["deviations"] = learner.predict(points, return_std=True)
    return shown | {"predictions": learner.predict(points)}


def cross(kind: Any, data: Any, **choices: Any) -> Iterator[Configuration]:
    """Yield a configuration for each stream and each combination of the settings."""
    tables = [data if isinstance(data, dict) else {"": data}, *choices.values()]
    tables = [each if isinstance(each, dict) else {str(x): x for x in each} for each in tables]
    for (about, stream), *picked in product(*(table.items() for table in tables)):
        name, settings = f"{kind.__name__} {about}".strip(), dict(GIVEN.get(kind, {}))
        for key, (label, value) in zip(choices, picked, strict=True):
            name += f", {key} {label}"
            settings |= value if isinstance(value, dict) else {key: value}
        yield name, partial(show, kind, settings, settings.pop("feed", by_parts), stream)


CUTS = [1, 3, 6, 11, 61, 68, 168]
FEEDS = {"chunks": lambda *given: by_parts(*given, CUTS), "ones": one_by_one, "copies": copied}
DESPITE = {"despite errors": lambda *a: by_parts(*a, 20, colk.DivergenceError, ArithmeticError)}
FAR = 10.0 ** np.linspace(0.0, 200.0, 500)[:, None]
STEPS = {"explicit": {}, "implicit": {"implicit": True, "step_size": 2.0}}
MEAN, PAIR = named(risks.Mean()), named(Composition(*BIAS, n_outputs=2, n_targets=2))
MANY: Parts = {"kernel": Gaussian(0.15), "compressor": KOMP(eps=1e-3)}
CASES: dict[str, Parts] = {
    "bounds": {"gradient_bound": 0.1, "norm_bound": 0.5}, "unbound": {"gradient_bound": np.inf},
    "ball": {"norm_bound": 0.5, "batch_size": 2, "trace": False}, "no lag": {"tracking_rate": 1.0},
    "shrinkage": {"regularization": 0.5}, "tube": {"loss": EpsilonInsensitive(0.8)},
    "decays": {"step_size": PowerDecay(0.5, 0.5, 20.0), "tracking_rate": PowerDecay(0.9, 0.6)},
    "untraced": {"trace": False, "averaging": None, "compressor": KOMP(fraction=0.1)},
}  # fmt: skip
FAILING: dict[str, Parts] = {
    "polynomial": {"kernel": Polynomial(3), "loss": Squared()}, "linear": {"kernel": Linear()},
    "moments": {"risk": risks.CentralMoments(8, 1.0), "loss": Squared()},
    "loss": {"loss": FRAGILE_LOSS}, "quartic": {"loss": CustomLoss(*QUARTIC)},
}  # fmt: skip
ATOMS: dict[str, Parts] = {
    "many": MANY, "full": MANY | {"compressor": KOMP(eps=1e-4, max_atoms=150)},
    "few": {"compressor": KOMP(eps=0.01, max_atoms=15)}, "careful": MANY | {"trust": 0.1},
    "linear": {"kernel": Linear()}, "crowded": {"kernel": Gaussian(1.0), "compressor": KOMP(eps=0)},
    "average": MANY | {"tracker": MovingAverage(), "pairing": "same", "risk": Variance(0.2)},
    "septic": {"kernel": Polynomial(7), "compressor": KOMP(fraction=1e-3)},
}  # fmt: skip


def all_losses() -> Iterator[Configuration]:
    for name, loss in LOSSES.items():
        choice = {name: {"loss": loss} | ({"n_outputs": 3} if loss.couples_outputs else {})}
        data = draw(450, kind=loss.kind, weighs=True)
        yield from cross(POLK, data, loss=choice, step=STEPS, batch_size=(1, 3))
        yield from cross(COLK, data, loss=choice, step=STEPS, pairing=PAIRINGS)
        yield from cross(NewtonCOLK, data, loss=choice, order=ORDERS, risk=MEAN)


def first_order() -> Iterator[Configuration]:
    """COLK and POLK: all terms and settings, and steps that are short, empty, or fail."""
    (X, y), wide = draw(500), {f"{p} features": draw(1500, p) for p in (1, 7, 8, 9, 20)}
    both = {"one": draw(600, 1), "two outputs": draw(600, 1, 2)}
    odd = {"zeros": (X, np.maximum(y, 0.0) * (X[:, 0] > 0.5)), "ties": (np.round(3.0 * X), y)}
    odd |= {"points at 0": (np.maximum(X, 0.0), y), "large targets": (X, 1e6 * y)}
    far = {"near": (X, y), "far points": (FAR * X, y), "far targets": (X, 1e30 * y)}
    some = named(KOMP(eps=0.0), KOMP(eps=0.02), Removal(40), Merging(40))
    yield from cross(COLK, draw(p=3), kernel=KERNELS)
    yield from cross(COLK, wide, kernel=named(Gaussian(0.8), Laplacian(2.0)))
    yield from cross(COLK, draw(weighs=True), risk=RISKS, pairing=PAIRINGS, tracker=TRACKERS)
    yield from cross(COLK, draw(q=2), risk=PAIR, pairing=PAIRINGS)
    yield from cross(COLK, draw(q=1), averaging=AVERAGINGS)
    yield from cross(COLK, both, compressor=COMPRESSORS, batch_size=(1, 5))
    yield from cross(POLK, both, compressor=COMPRESSORS, batch_size=(1, 5))
    yield from cross(COLK, both, atoms={"many": MANY}, pairing=PAIRINGS, batch_size=(2, 3, 5, 8))
    yield from cross(COLK, odd, compressor=some, kernel=named(Gaussian(2.0), Matern(0.8, 2.5)))
    yield from cross(COLK, odd, kernel=named(Linear(), Polynomial(2)), batch_size=(1, 3))
    yield from cross(COLK, far, feed=DESPITE, case=FAILING, gradient_bound=(10.0, np.inf))
    yield from cross(COLK, (X, y), feed=DESPITE, compressor=named(FRAGILE_RULE))
    yield from cross(COLK, draw(weighs=True), case=CASES, feed=FEEDS | {"whole": by_parts})


def second_order() -> Iterator[Configuration]:
    """NewtonCOLK: all terms and settings, few and many atoms, and a stream that changes."""
    X, y = draw(2500, 1)
    changed = (X, np.where(np.arange(2500) < 1600, y, 4.0 - 3.0 * y))
    both, new = {"one": draw(600), "two outputs": draw(600, q=2)}, NewtonCOLK
    more = both | {"at 0": (np.round(X[:600]), y[:600]), "weighted": draw(900, weighs=True)}
    yield from cross(new, draw(400, 3), kernel=KERNELS, risk=MEAN, compressor=named(KOMP(eps=1e-3)))
    yield from cross(new, draw(450), order=ORDERS, risk=RISKS, pairing=PAIRINGS)
    many = {f"batch {size}": MANY | {"batch_size": size} for size in (1, 2, 5, 8)}
    yield from cross(new, both, order=ORDERS, atoms=many, pairing=PAIRINGS)
    yield from cross(new, more, order=ORDERS, risk=MEAN, atoms=ATOMS)
    # 810: files of 606f900 are unreadable where P is eight samples behind.
    yield from cross(new, draw(810), order=ORDERS, risk=MEAN, atoms={"many": MANY}, feed=FEEDS)
    yield from cross(new, changed, order=ORDERS, risk=MEAN, restart=[True], loss=named(Pinball()))
    yield from cross(new, (FAR * X[:500], y[:500]), order=ORDERS, feed=DESPITE, case=FAILING)


def other_learners() -> Iterator[Configuration]:
    """Every other method of the package, and policy evaluation."""
    both = {"one": draw(), "two outputs": draw(q=2)}
    spectral = {name: kernel for name, kernel in KERNELS.items() if kernel.is_shift_invariant}
    rules, pegasos = ("removal", "projection", "merging"), {"step_size": "pegasos", "trace": True}
    steps = {"constant": {}, "pegasos": pegasos | {"regularization": 0.01}}
    tube = {"all": {"max_atoms": None}, "nu": {"loss": EpsilonInsensitive(0.1), "nu": 0.3}}
    yield from cross(learners.DoublySGD, draw(200, 3), kernel=spectral)
    yield from cross(learners.RandomFeatureSGD, draw(p=3), kernel=spectral)
    yield from cross(BSGD, draw(p=3), kernel=named(Matern(0.8), Gaussian(1.0) + Matern(0.5, 0.5)))
    yield from cross(NORMA, draw(weighs=True), case=tube, feed=FEEDS)
    yield from cross(NPBSGD, both, maintenance=rules[:2], feed=FEEDS)
    for kind in (SCGD, AcceleratedSCGD, NASA):
        yield from cross(kind, draw(weighs=True), risk=RISKS)
        yield from cross(kind, both, batch_size=(1, 5), averaging=AVERAGINGS, trace=[True])
    for kind in (POLK, BSGD, SCGD, AcceleratedSCGD, NASA, NewtonCOLK):
        yield from cross(kind, both, feed=FEEDS)
    for kind in (BSGD, learners.CompositionalBSGD):
        yield from cross(kind, both, maintenance=rules, batch_size=(1, 5), step=steps)
    (X, y), bounds = draw(500), named(KOMP(eps=0.02), KOMP(eps=1e-3, max_atoms=20))
    data = {"on": (X, y, 0.8 * np.roll(X, 1, axis=0), y > 1.0), "far": (FAR * X, y, X, y > 1.0)}
    data |= {"off": (X, y, -2.0 * X, y > 1.0)}
    scalar = {"tracks": "scalar", "eps_ratio": 2.0, "averaging": Exponential(0.01)}
    yield from cross(rl.PolicyEvaluator, data, case={"scalar": scalar}, feed=DESPITE)
    for kind in POLICIES:
        yield from cross(kind, data, compressor=bounds, feed=DESPITE | {"copies": copied})
        yield from cross(kind, data, kernel=named(Linear(), Polynomial(2)), feed=DESPITE)


def digest(value: Any) -> str:
    """Return the SHA-256 of the shapes and bytes of all numbers in a public state."""
    if isinstance(value, colk.KernelExpansion):
        value = (value.atoms, value.weights)
    elif isinstance(value, dict | learners.Trace | rl.PolicyTrace):
        value = tuple((value if isinstance(value, dict) else vars(value)).values())
    if isinstance(value, tuple):
        return hashlib.sha256("".join(map(digest, value)).encode()).hexdigest()
    array = np.array(value, dtype=np.float64)
    array[np.isnan(array)] = np.nan
    return hashlib.sha256(repr(array.shape).encode() + array.tobytes()).hexdigest()


def run(only: str, every: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the digest of each configuration, and the first digits of the digests of its parts."""
    for name, learn in chain(first_order(), second_order(), all_losses(), other_learners()):
        if only in name and crc32(name.encode()) % every == 0:
            try:
                shown = learn()
            except Exception as error:  # a version that cannot run it differs
                yield name, {"failed": repr(error)}
            else:
                parts = {part: digest(value)[:8] for part, value in shown.items()}
                yield name, {"digest": digest(shown), **parts}


def surroundings() -> dict[str, str]:
    """Return what digests depend on besides the package."""
    pools = {f"{each['internal_api']} {each.get('architecture')}" for each in threadpool_info()}
    found = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return found | {"python": platform.python_version(), "threads": ", ".join(sorted(pools))}


def compare(known: Parts, found: Parts) -> int:
    """Print which configurations differ and in which parts; return their number."""
    differ = 0
    for name in known | found:
        old, new = known.get(name, {}), found.get(name, {})
        parts = [part for part in old | new if old.get(part) != new.get(part)]
        if parts or "failed" in new:
            print(f"differs: {name}: {new.get('failed', ', '.join(parts))}")
            differ += 1
    print(f"{len(known | found)} configurations, {differ} differ")
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description="learning paths, to the bit")
    parser.add_argument("mode", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="a part of the names of configurations")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run one of N")
    given = parser.parse_args()
    with threadpool_limits(1):  # a sum by several threads depends on their number
        found = {"made with": surroundings(), **dict(run(given.only, given.every))}
    if given.mode == "record":
        lines = (f"{json.dumps(name)}: {json.dumps(line)}" for name, line in found.items())
        given.file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    known = json.loads(given.file.read_text(encoding="utf-8"))
    made, now = known.pop("made with"), found.pop("made with")
    print(f"colk of {colk.__file__}", *([] if made == now else [made, now]), sep="\n")
    known = {name: line for name, line in known.items() if given.only in name}
    return 1 if compare(known, found) else 0


if __name__ == "__main__":
    sys.exit(main())
