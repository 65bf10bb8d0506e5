"""A kernel, a loss, a risk, a tracker and a compressor from outside the package."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import own_terms as own
import pytest

import colk
from colk._engine.dictionary import Dictionary
from colk._engine.terms import Term, check_overrides
from colk.compressors import COMPRESSORS, KOMP, Budget, Compressor, Growing, Removal, remove
from colk.estimators import COLKRegressor
from colk.kernels import KERNELS, Gaussian, Kernel, Linear
from colk.learners import BSGD, COLK
from colk.losses import LOSSES, Huber, Softmax, Squared
from colk.risks import RISKS, Dispersion, LossRisk, Mean, Risk, Variance
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, PolyakRuppert, PowerDecay
from colk.trackers import TRACKERS, Momentum, MovingAverage

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, (150, 2))
Y = np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.3 * RNG.standard_t(2.0, 150)

COMMON = {"kernel": Gaussian(0.4), "loss": Huber(0.5), "risk": Variance(0.2)}

# The argument, what a user wrote, what it is the twin of, its registry.
TWINS = {
    "kernel": ("kernel", own.OwnLinear(), Linear(), KERNELS),
    "loss": ("loss", own.OwnHuber(0.5), Huber(0.5), LOSSES),
    "risk": ("risk", own.OwnVariance(0.2), Variance(0.2), RISKS),
    "average": ("tracker", own.OwnAverage(), MovingAverage(), TRACKERS),
    "momentum": ("tracker", own.OwnMomentum(), Momentum(), TRACKERS),
    "compressor": ("compressor", own.OwnRemoval(12), Removal(12), COMPRESSORS),
    "rule": ("compressor", own.OwnRule(12), Removal(12), COMPRESSORS),
}


def learned(**changes):
    return COLK(**{**COMMON, **changes}).learn(X, Y)


def same(learner, twin, tolerance=1e-12):
    assert learner.n_atoms == twin.n_atoms
    assert learner.steps == twin.steps
    np.testing.assert_allclose(learner.predict(X), twin.predict(X), rtol=0, atol=tolerance)
    np.testing.assert_allclose(learner.inner_estimate, twin.inner_estimate, rtol=tolerance)
    assert learner.error_spent == pytest.approx(twin.error_spent, rel=1e-9)


@pytest.mark.parametrize("case", TWINS)
def test_an_object_is_used_like_its_twin(case):
    name, mine, theirs, _ = TWINS[case]
    # Products of a linear kernel are rounded in another order; whatever follows inherits that.
    same(learned(**{name: mine}), learned(**{name: theirs}), 1e-9 if name == "kernel" else 1e-12)


@pytest.mark.parametrize("case", ["average", "momentum"])
def test_a_name_stands_for_a_tracker(case, monkeypatch):
    _, mine, theirs, registry = TWINS[case]
    monkeypatch.setitem(registry, "mine", type(mine))
    same(learned(tracker="mine"), learned(tracker=theirs))


@pytest.mark.parametrize(
    ("changes", "twins"),
    [
        ({"kernel": (KERNELS, own.OwnLinear)}, {"kernel": "linear"}),
        ({"loss": (LOSSES, own.OwnHuber)}, {"loss": "huber"}),
        ({"risk": (RISKS, own.OwnVariance)}, {"risk": "variance"}),
    ],
    ids=["kernel", "loss", "risk"],
)
def test_a_name_stands_for_a_term_of_an_estimator(changes, twins, monkeypatch):
    for registry, kind in changes.values():
        monkeypatch.setitem(registry, "mine", kind)
    mine = COLKRegressor(**dict.fromkeys(changes, "mine"), random_state=0).fit(X, Y)
    theirs = COLKRegressor(**twins, random_state=0).fit(X, Y)
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("rule", [own.OwnRule, own.OwnRemoval])
def test_a_name_stands_for_a_rule_of_maintenance(rule, monkeypatch):
    monkeypatch.setitem(COMPRESSORS, "mine", rule)
    mine, theirs = (
        BSGD(Gaussian(0.4), max_atoms=12, maintenance=name).learn(X, Y)
        for name in ("mine", "removal")
    )
    assert mine.n_atoms == mine.max_atoms == 12
    same(mine, theirs)


def test_a_rule_may_grow():
    mine, theirs = (
        learned(compressor=Growing(rule(12), growth=0.2, horizon=100))
        for rule in (own.OwnRule, Removal)
    )
    assert mine.n_atoms > 12
    same(mine, theirs)


@pytest.mark.parametrize("case", TWINS)
def test_it_is_a_term_like_any(case):
    _, mine, _, _ = TWINS[case]
    assert pickle.loads(pickle.dumps(mine)) == mine == copy.deepcopy(mine) == mine.replace()
    assert eval(repr(mine), vars(own)) == mine
    for name in mine._fields:
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(mine, name, 3.0)


@pytest.mark.parametrize("case", TWINS)
def test_a_pickled_learner_goes_on(case):
    name, mine, _, _ = TWINS[case]
    learner = COLK(**{**COMMON, name: mine}).learn(X[:80], Y[:80])
    pickled = pickle.loads(pickle.dumps(learner))
    same(pickled.learn(X[80:], Y[80:]), learned(**{name: mine}), tolerance=0.0)


# -- exceptions ------------------------------------------------------------------------------


class Fuse:
    """Counts calls, and raises at one of them."""

    def __init__(self):
        self.left = 10**9

    def burn(self):
        self.left -= 1
        if self.left < 0:
            raise ArithmeticError("blown")


def blowing(mine, method):
    """Return a copy of a term whose method raises once the fuse is blown; and the fuse."""
    fuse = Fuse()

    def blow(self, *arguments):
        result = getattr(super(kind, self), method)(*arguments)
        fuse.burn()
        return result

    kind = type("Blowing", (type(mine),), {method: blow})
    return kind(*mine._parameters().values()), fuse


METHODS = [
    ("kernel", "columns"),
    ("loss", "loss_at"),
    ("loss", "slope_at"),
    ("risk", "inner_at"),
    ("risk", "inner_slope_at"),
    ("risk", "outer_slope_loss_at"),
    ("risk", "outer_slope_inner_at"),
    ("average", "update"),
    ("momentum", "update"),
    ("compressor", "settle"),
    ("rule", "make_room"),
]


@pytest.mark.parametrize("one", [False, True], ids=["chunk", "sample"])
@pytest.mark.parametrize(("case", "method"), METHODS)
def test_what_a_method_raises_reaches_the_caller_and_nothing_was_learned(case, method, one):
    name, mine, _, _ = TWINS[case]
    term, fuse = blowing(mine, method)
    learner = COLK(**{**COMMON, name: term}, pairing="overlap").learn(X[:100], Y[:100])
    before = copy.deepcopy(learner)
    fuse.left = 0
    samples = (X[100], Y[100]) if one else (X[100:101], Y[100:101])
    with pytest.raises(ArithmeticError, match="blown"):
        (learner.learn_one if one else learner.learn)(*samples)
    fuse.left = 10**9
    assert learner.prequential_loss == before.prequential_loss
    same(learner, before, tolerance=0.0)
    same(learner.learn(X[100:], Y[100:]), before.learn(X[100:], Y[100:]), tolerance=0.0)


@pytest.mark.parametrize("lost", [-1.0, -0.5, float("nan")])
@pytest.mark.parametrize(("kind", "method"), [(Compressor, "settle"), (Budget, "make_room")])
def test_what_is_lost_is_a_norm(kind, method, lost):
    """Compiled code once took −1 for an exception, and there was none."""
    mine = type("Mine", (kind,), {"needs_factor": False, method: lambda self, *given: lost})
    rule = mine(12) if kind is Budget else mine()
    learner = COLK(Gaussian(0.2), compressor=rule)
    with pytest.raises(ValueError, match="Mine must return the H-norm of the error, got"):
        learner.learn(X, Y)


def test_samples_before_the_one_that_raised_are_learned():
    term, fuse = blowing(own.OwnRemoval(12), "settle")
    learner = COLK(**COMMON, compressor=term, pairing="overlap").learn(X[:100], Y[:100])
    twin = copy.deepcopy(learner).learn(X[100:120], Y[100:120])
    fuse.left = 20
    with pytest.raises(ArithmeticError, match="blown"):
        learner.learn(X[100:], Y[100:])
    same(learner, twin, tolerance=0.0)


def test_a_method_that_is_missing_is_named():
    class Half(LossRisk):
        n_inner = 1

        def inner_at(self, loss, g, i):
            return loss

    with pytest.raises(NotImplementedError, match="Half must define the method"):
        learned(risk=Half())
    with pytest.raises(NotImplementedError, match="Budget must define the method make_room"):
        learned(compressor=Budget(5))


# -- what compiled code would ignore ---------------------------------------------------------


def overriding(base, name):
    return type("Mine", (base,), {name: lambda self, *arguments: 0.0})


REFUSED = [
    (overriding(Huber, "loss_at"), "derive Mine from Loss"),
    (overriding(Squared, "slope_at"), "derive Mine from Loss"),
    (overriding(Softmax, "evaluate"), "leave it to Loss"),
    (overriding(own.OwnHuber, "evaluate"), "leave it to Loss"),
    (overriding(Mean, "outer_at"), "derive Mine from LossRisk"),
    (overriding(Variance, "spread_at"), "derive Mine from Dispersion"),
    (overriding(Dispersion, "inner_at"), "derive Mine from LossRisk"),
    (overriding(LossRisk, "track"), "leave it to LossRisk"),
    (overriding(Momentum, "update"), "derive Mine from Tracker"),
    (overriding(Removal, "make_room"), "derive Mine from Budget"),
    (overriding(Budget, "settle"), "derive Mine from Compressor"),
    (overriding(KOMP, "settle"), "derive Mine from Compressor"),
    (overriding(Linear, "columns"), "derive Mine from Kernel"),
]


@pytest.mark.parametrize(("kind", "cure"), REFUSED)
def test_an_override_that_would_be_ignored_is_refused(kind, cure):
    term = kind(max_atoms=5) if kind.__mro__[1] is KOMP else kind()
    with pytest.raises(TypeError, match=rf"Mine overrides \w+ of \w+, .*: {cure}$"):
        check_overrides(term)


def test_learners_functions_and_parts_refuse_it_too():
    kernel = overriding(Gaussian, "columns")(0.5)
    for make in (
        lambda: COLK(kernel),
        lambda: COLK(Linear() + 2.0 * kernel),
        lambda: KernelExpansion(kernel, X, Y),
        lambda: COLK(Gaussian(0.5), overriding(Huber, "loss_at")()),
        lambda: COLK(Gaussian(0.5), risk=overriding(Variance, "outer_at")()),
        lambda: COLK(Gaussian(0.5), tracker=overriding(Momentum, "update")()),
        lambda: COLK(Gaussian(0.5), compressor=overriding(Removal, "make_room")()),
        lambda: COLK(Gaussian(0.5), averaging=overriding(PolyakRuppert, "rate_at")()),
        lambda: COLK(Gaussian(0.5), step_size=overriding(PowerDecay, "rate")(0.1)),
        lambda: BSGD(Gaussian(0.5), overriding(Huber, "slope_at")()),
        lambda: COLKRegressor(loss=overriding(Huber, "slope_at")()).fit(X, Y),
    ):
        with pytest.raises(TypeError, match="Mine overrides"):
            make()


def test_other_methods_may_be_overridden():
    class Named(Huber):
        @property
        def is_convex(self):
            return False

        def helper(self):
            return 1.0

    same(learned(loss=Named(0.5)), learned())

    class Slow(Averaging):
        def rate_at(self, t):
            return 0.01

    assert np.isfinite(learned(averaging=Slow()).predict(X)).all()


def classes(kind):
    return {kind, *(found for child in kind.__subclasses__() for found in classes(child))}


def declared():
    """Methods that the .pxd of each class gives to compiled code alone, by class.

    A contract's methods count for the public class that implements them.
    """
    found = {}
    for path in Path(colk.__file__).parent.rglob("*.pxd"):
        for line in path.read_text().splitlines():
            if head := re.match(r"cdef class (\w+)", line):
                name = head[1]
            elif method := re.match(r"    cdef [\w* ]*?(\w+)\(self", line):
                found.setdefault(name, set()).add(method[1])
    return found


def test_every_compiled_method_is_listed():
    methods = declared()
    of_contracts = {name: methods.pop(name) for name in list(methods) if "Contract" in name}
    assert of_contracts["TrackerContract"] == {"update"}
    for kind in classes(Term):
        if not kind.__module__.startswith("colk.") or "Contract" in kind.__name__:
            continue
        listed = {
            name
            for base in kind.__mro__
            for name in (*vars(base).get("_hooks", ()), *vars(base).get("_sealed", ()))
        }
        own = {name for name in methods.get(kind.__name__, set()) if name[0] != "_"}
        assert own <= listed, kind
        if kind.__mro__[1].__name__ in of_contracts and kind is not Risk:
            assert of_contracts[kind.__mro__[1].__name__] <= listed, kind


def test_built_in_terms_pass():
    for registry in (LOSSES, RISKS, TRACKERS, COMPRESSORS):
        for kind in registry.values():
            check_overrides(kind())
    for kind in KERNELS.values():
        check_overrides(kind(1) if kind._fields else kind())


def test_remove_looks_at_its_dictionary():
    d = Dictionary(Gaussian(0.5), 1, has_factor=False)
    with pytest.raises(IndexError, match="no atom 0"):
        remove(d, 0)
    d = Dictionary(Gaussian(0.5), 1)
    d.occupy(1)
    with pytest.raises(ValueError, match="factor"):
        remove(d, 0)


def test_kernels_from_outside_have_all_that_a_kernel_has():
    assert isinstance(own.OwnLinear() * own.OwnLinear() + Gaussian(1.0), Kernel)
    np.testing.assert_allclose(own.OwnLinear()(X), Linear()(X), atol=1e-14)
