"""A learner can be saved after any sample; no file is replaced by one that cannot be read."""

import copy
import pickle

import numpy as np
import pytest

import colk
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK

RNG = np.random.default_rng(0)
X = RNG.uniform(-3.0, 3.0, size=(400, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1]


@pytest.mark.parametrize("settings", [{}, {"forgetting": "auto"}, {"prior": "auto"}])
def test_after_every_sample(tmp_path, settings):
    """With 112 atoms and more, up to eight updates of P are pending."""
    learner = NewtonCOLK(Gaussian(0.1), compressor=KOMP(eps=0.0, max_atoms=160), **settings)
    learner.learn(X[:200], Y[:200])
    pending = set()
    for row in range(200, 240):
        learner.learn(X[row : row + 1], Y[row : row + 1])
        pending.add(learner.get_state()["stream"]["P"]["pending"])
        colk.save(learner, tmp_path / "m.colk")
        loaded, kept = colk.load(tmp_path / "m.colk"), copy.deepcopy(learner)
        expected = kept.learn(X[:20], Y[:20]).predict(X[:9])
        assert loaded.learn(X[:20], Y[:20]).predict(X[:9]).tolist() == expected.tolist()
    assert max(pending) == 8


def test_a_state_has_no_scratch():
    """A choice of the prior fills all of P; a coordinate that goes and comes leaves parts of it."""
    rng = np.random.default_rng(0)
    points, noise = rng.random((500, 2)), rng.normal(size=500)
    targets = np.sin(6.0 * points[:, 0]) + points[:, 1] ** 2 + 0.1 * noise
    learner = NewtonCOLK(Gaussian(0.4), compressor=KOMP(eps=0.1), prior="auto")
    learner.learn(points[:405], targets[:405])
    copied = pickle.loads(pickle.dumps(learner))
    for model in (learner, copied):
        model.learn(points[405:], targets[405:])
    P, again = (model.get_state()["stream"]["P"]["matrix"] for model in (learner, copied))
    np.testing.assert_array_equal(again, P)


def test_a_file_that_cannot_be_read_replaces_none(tmp_path, monkeypatch):
    """If the writer allows more than the reader, `save` fails before the old file is replaced."""
    path, learner = tmp_path / "m.colk", NewtonCOLK(Gaussian(0.1)).learn(X[:50], Y[:50])
    colk.save(learner, path)
    before, original = path.read_bytes(), NewtonCOLK.get_state

    def torn(self):
        state = original(self)
        if state["stream"] is not None:
            state["stream"]["P"]["pending"] = 9
        return state

    monkeypatch.setattr(NewtonCOLK, "get_state", torn)
    with pytest.raises(ValueError, match="pending"):
        colk.save(learner, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["m.colk"]
