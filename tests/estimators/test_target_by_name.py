"""`fit(frame, "column")` takes the target from the frame."""

import numpy as np
import pandas as pd
import pytest

from colk import COLKClassifier, COLKRegressor

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=200), "city": RNG.choice(["Bonn", "Rome"], 200)})
FRAME["y"] = FRAME.a + (FRAME.city == "Rome")
FRAME["label"] = np.where(FRAME.y > 0.0, "much", "little")
X = FRAME[["a", "city"]]


def test_the_column_is_the_target():
    model = COLKRegressor(random_state=0).fit(FRAME[["y", "a", "city"]], "y")
    same = COLKRegressor(random_state=0).fit(X, FRAME.y)
    assert list(model.feature_names_in_) == ["a", "city"]
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    labels = COLKClassifier(random_state=0).fit(FRAME[["a", "city", "label"]], "label")
    assert set(labels.predict(X)) == {"much", "little"}


@pytest.mark.parametrize("data", [X, np.zeros((9, 2))], ids=["frame", "array"])
def test_a_column_that_is_not_there(data):
    with pytest.raises(ValueError, match="y='y' names a column, but X has no such column"):
        COLKRegressor().fit(data, "y")
