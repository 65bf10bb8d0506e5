"""A step that a user writes in plain Python runs in the compiled loop."""

import copy
import pickle

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, NewtonCOLK, OwnStep
from colk.losses import Huber
from colk.risks import Variance

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, (200, 2))
Y = np.sin(3.0 * X[:, 0]) + X[:, 1]
SETTINGS = {"loss": Huber(0.5), "risk": Variance(0.2), "compressor": KOMP(eps=0.02)}


class Algorithm1(OwnStep):
    """The step of COLK, written in Python."""

    fails_at = -1

    def iterate(self, t):
        step = self.step_size.at(t)
        g = self.tracked(self.tracking_rate.at(t))
        coefficients = self.gradient(g)
        self.descend(step, coefficients)
        lost = self.compressed(step)
        if t == type(self).fails_at:
            raise ArithmeticError("blown")
        return lost


class Scaled(OwnStep):
    """A step of half the length."""

    def iterate(self, t):
        step = self.step_size.at(t)
        self.descend(step, 0.5 * self.gradient(self.tracked(self.tracking_rate.at(t))))
        return self.compressed(step)


class OwnCOLK(COLK):
    stream_type = Algorithm1


class HalfCOLK(COLK):
    stream_type = Scaled


def test_the_same_step_gives_the_same_path():
    own = OwnCOLK(Gaussian(0.4), **SETTINGS).learn(X, Y)
    built_in = COLK(Gaussian(0.4), **SETTINGS).learn(X, Y)
    np.testing.assert_array_equal(own.predict(X), built_in.predict(X))
    assert own.error_spent == built_in.error_spent
    assert own.steps == built_in.steps == 100


def test_another_step_gives_another_path():
    half = HalfCOLK(Gaussian(0.4), **SETTINGS, step_size=0.2).learn(X, Y)
    slow = COLK(Gaussian(0.4), **SETTINGS, step_size=0.1).learn(X, Y)
    # λ is small: half of the coefficients is half of the step.
    np.testing.assert_allclose(half.predict(X), slow.predict(X), atol=1e-3)


def test_an_exception_reaches_the_caller_and_the_model_is_as_it_was(monkeypatch):
    learner = OwnCOLK(Gaussian(0.4), **SETTINGS).learn(X[:100], Y[:100])
    before = copy.deepcopy(learner)
    monkeypatch.setattr(Algorithm1, "fails_at", learner.steps)
    with pytest.raises(ArithmeticError, match="blown"):
        learner.learn(X[100:], Y[100:])
    monkeypatch.undo()
    np.testing.assert_array_equal(learner.predict(X), before.predict(X))
    assert learner.loss_sums == before.loss_sums
    # One sample of the pair was taken in before the step failed.
    learner.learn(X[101:], Y[101:])
    before.learn(X[100:], Y[100:])
    np.testing.assert_array_equal(learner.predict(X), before.predict(X))


def test_a_pickled_learner_goes_on():
    learner = OwnCOLK(Gaussian(0.4), **SETTINGS).learn(X[:100], Y[:100])
    copied = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(
        copied.learn(X[100:], Y[100:]).predict(X), learner.learn(X[100:], Y[100:]).predict(X)
    )


@pytest.mark.parametrize("lost", [-1.0, float("nan")])
def test_what_is_lost_is_a_norm(lost):
    class Wrong(OwnStep):
        def iterate(self, t):
            return lost

    class WrongCOLK(COLK):
        stream_type = Wrong

    with pytest.raises(ValueError, match="H-norm"):
        WrongCOLK(Gaussian(0.4)).learn(X, Y)


def test_a_missing_method_is_named():
    class Empty(OwnStep):
        pass

    class EmptyCOLK(COLK):
        stream_type = Empty

    with pytest.raises(NotImplementedError, match="Empty must define the method iterate"):
        EmptyCOLK(Gaussian(0.4)).learn(X, Y)


def test_newton_refuses_a_step_that_it_would_ignore():
    class Stepping(NewtonCOLK):
        stream_type = Scaled

    with pytest.raises(TypeError, match="stream_type has no effect on NewtonCOLK"):
        Stepping(Gaussian(0.5))
