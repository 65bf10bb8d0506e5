"""A stream's metric follows directions that turn, and is found again after a jump."""

import pickle

import numpy as np
import pytest

import colk

river = pytest.importorskip("colk.river")

SIZE, NAMES = 8000, [str(k) for k in range(8)]
# The mean distance of the noise, a normal variable of deviation .1, from 0.
NOISE = 0.0798


def stream(kind, seed):
    """y = sin(2 w·x) + .3 w·x + noise in eight features; w is fixed, jumps, or turns by 180°."""
    rng = np.random.default_rng(seed)
    X, (a, b) = rng.normal(size=(SIZE, 8)), rng.normal(size=(2, 8))
    a /= np.linalg.norm(a)
    b -= a * (a @ b)
    b /= np.linalg.norm(b)
    share = np.arange(SIZE) / SIZE
    angle = np.pi * {"fixed": 0.0 * share, "jump": 0.5 * (share >= 0.5), "turn": share}[kind]
    z = np.cos(angle) * (X @ a) + np.sin(angle) * (X @ b)
    return X, np.sin(2.0 * z) + 0.3 * z + 0.1 * rng.normal(size=SIZE)


def errors(X, y, model=None):
    model, found = river.COLKRegressor() if model is None else model, []
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        sample = dict(zip(NAMES, row, strict=True))
        found.append(abs(model.predict_one(sample) - target))
        model.learn_one(sample, target)
    return np.array(found)


@pytest.mark.parametrize("seed", [31, 32])
@pytest.mark.parametrize(
    ("kind", "rows", "times"),
    [
        ("fixed", slice(2000, None), 1.1),
        ("jump", slice(5500, None), 1.1),
        ("turn", slice(2000, None), 1.6),
    ],
)
def test_one_direction_in_eight_features_is_followed_to_the_noise(kind, rows, times, seed):
    assert errors(*stream(kind, seed))[rows].mean() < times * NOISE


def test_a_copy_and_a_file_turn_like_the_original(tmp_path):
    X, y = stream("turn", 33)
    model = river.COLKRegressor()
    errors(X[:1500], y[:1500], model)
    colk.save(model, tmp_path / "m.colk")
    others = [pickle.loads(pickle.dumps(model)), colk.load(tmp_path / "m.colk")]
    expected = errors(X[1500:2200], y[1500:2200], model)
    for other in others:
        assert np.array_equal(errors(X[1500:2200], y[1500:2200], other), expected)
