"""class_weight of COLKClassifier has the semantics of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import recall_score
from sklearn.utils.class_weight import compute_sample_weight

from colk.estimators import COLKClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 2))
RARE = np.where(X[:, 0] + 0.8 * RNG.normal(size=1500) > 1.8, "rare", "common")
THREE = np.digitize(X.sum(axis=1) + 0.3 * RNG.normal(size=1500), [1.0, 2.0])


QUICK = {"kernel": "laplacian", "max_atoms": 100}


def classifier(**settings):
    return COLKClassifier(random_state=0, **{**QUICK, **settings})


@pytest.mark.parametrize("y", [RARE, THREE], ids=["two", "three"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_weights_of_classes_are_weights_of_samples(y, loss):
    first, last = np.unique(y)[[0, -1]]
    for weights in ("balanced", {first: 0.5, last: 3.0}):
        model = classifier(loss=loss, class_weight=weights).fit(X, y)
        twin = classifier(loss=loss).fit(X, y, sample_weight=compute_sample_weight(weights, y))
        np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))


def test_both_kinds_of_weights_multiply():
    weight = RNG.uniform(0.5, 2.0, size=1500)
    model = COLKClassifier(class_weight={"rare": 4.0, "common": 1.0}, random_state=0)
    model.fit(X, RARE, weight)
    twin = COLKClassifier(random_state=0).fit(X, RARE, weight * np.where(RARE == "rare", 4.0, 1.0))
    np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))


def test_a_rare_class_is_found():
    plain, balanced = classifier().fit(X, RARE), classifier(class_weight="balanced").fit(X, RARE)
    found = [recall_score(RARE, m.predict(X), pos_label="rare") for m in (plain, balanced)]
    assert found[1] > 0.8 > found[0]


def test_streams_take_a_dict_in_any_chunks():
    weights = {"rare": 4.0}
    whole, parts = classifier(class_weight=weights), classifier(class_weight=weights)
    settings = {"bandwidth": 1.0}
    classes = ["common", "rare"]
    whole.set_params(**settings).partial_fit(X, RARE, classes=classes)
    parts.set_params(**settings)
    for start in range(0, 1500, 3):  # most chunks hold one class
        parts.partial_fit(X[start : start + 3], RARE[start : start + 3], classes=classes)
    np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))


@pytest.mark.parametrize(
    ("weights", "method", "message"),
    [
        ("balanced", "partial_fit", "'balanced' needs all data.*pass a dict"),
        ({"rare": -1.0}, "fit", "class_weight must be at least 0"),
        ({"rare": np.nan}, "fit", "class_weight must be at least 0"),
        ({"rarely": 1.0}, "fit", "are not in class_weight"),
        ("even", "fit", "class_weight"),
    ],
)
def test_bad_weights_leave_the_model_unchanged(weights, method, message):
    model = classifier().fit(X, RARE)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=message):
        getattr(model.set_params(class_weight=weights), method)(X, RARE)
    np.testing.assert_array_equal(model.decision_function(X), before)
