"""The repr of a learner is the call that creates an equal one."""

import numpy as np
import pytest

from colk import (
    compressors,
    kernels,
    learners,
    losses,
    risks,
    rl,
    schedules,
    trackers,
)
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import (
    BSGD,
    COLK,
    NASA,
    NORMA,
    NPBSGD,
    POLK,
    SCGD,
    AcceleratedSCGD,
    CompositionalBSGD,
    DoublySGD,
    RandomFeatureSGD,
)
from colk.losses import EpsilonInsensitive, Huber
from colk.risks import Variance
from colk.rkhs.features import RBFNetwork
from colk.schedules import PowerDecay

MAP = RBFNetwork(5, radius=0.5, low=-1.0)
NAMES = {"RBFNetwork": RBFNetwork}
for module in (compressors, kernels, learners, losses, risks, rl, schedules, trackers):
    NAMES |= {name: getattr(module, name) for name in module.__all__}
X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 1))
Y = np.sin(3.0 * X[:, 0])

LEARNERS = [
    COLK(Gaussian(0.5)),
    COLK(
        Gaussian(0.5) + kernels.Linear(),
        Huber(0.5),
        Variance(0.2),
        step_size=PowerDecay(0.3),
        compressor=KOMP(max_atoms=9),
        tracker="average",
        averaging=None,
        trace=True,
    ),
    POLK(Gaussian(0.5), step_size=0.4),
    NORMA(Gaussian(0.5), EpsilonInsensitive(0.2), nu=0.3, max_atoms=None),
    BSGD(Gaussian(0.5), max_atoms=7, step_size="pegasos", regularization=0.5),
    CompositionalBSGD(Gaussian(0.5), risk=Variance(), maintenance="removal"),
    NPBSGD(Gaussian(0.5), max_atoms=5, growth=0.3, horizon=60, seed=3),
    RandomFeatureSGD(Gaussian(0.5), n_components=20, seed=2),
    DoublySGD(Gaussian(0.5), seed=4),
    SCGD(MAP, risk=Variance()),
    AcceleratedSCGD(MAP, tracking_rate=0.3),
    NASA(MAP, proximity=2.0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_the_call_makes_one_like_it(learner):
    made = eval(repr(learner), dict(NAMES))
    assert repr(made) == repr(learner)
    assert type(made) is type(learner)
    np.testing.assert_array_equal(made.learn(X, Y).predict(X), learner.learn(X, Y).predict(X))


@pytest.mark.parametrize(
    "learner",
    [
        rl.PolicyEvaluator(Gaussian(0.5), 0.9, tracks="scalar", averaging=None, trace=True),
        rl.KernelTD(Gaussian((0.5, 1.0)), discount=0.5, step_size=PowerDecay(0.2)),
        rl.TDC(Gaussian(0.5), 0.9, compressor=KOMP(eps=0.1)),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_so_do_learners_of_values(learner):
    made = eval(repr(learner), dict(NAMES))
    assert type(made) is type(learner)
    assert repr(made) == repr(learner)
    for name in ("kernel", "discount", "step_size", "compressor", "averaging", "_records"):
        assert getattr(made, name) == getattr(learner, name)


def test_what_is_default_is_left_out():
    shown = repr(COLK(Gaussian(0.5), step_size=0.2))
    assert shown == (
        "COLK(kernel=Gaussian(bandwidth=0.5), loss=Squared(), risk=Mean(), step_size=0.2, "
        "compressor=KOMP(eps=0.005, parsimony=None, max_atoms=None, fraction=None))"
    )
