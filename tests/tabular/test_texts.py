"""Texts of categories and labels: what is not UTF-8 is refused, and memory is bounded."""

import numpy as np
import pytest

from colk.tabular import Column, TableEncoder, TableModel

HALF = "Bo\ud800nn"


@pytest.mark.parametrize("place", ["category", "label"])
def test_a_text_that_is_not_utf8_is_refused(place):
    columns = {"x": np.arange(40.0), "city": np.array(["Bonn", "Rome"] * 20, dtype=object)}
    y = np.array(["low", "high"] * 20, dtype=object)
    model = TableModel("y", ["x", "city"], categorical=["city"], task="classification")
    model.learn(columns, y)
    before = model.predict_proba(columns)
    (y if place == "label" else columns["city"])[7] = HALF
    with pytest.raises(ValueError, match=r"(y|city) has a text that is not UTF-8: '\\ud800'"):
        model.learn(columns, y)
    columns["city"][7] = "Rome"
    assert model.rows == 40
    assert model.labels == ["low", "high"]
    assert np.array_equal(model.predict_proba(columns), before)


def test_a_name_that_is_not_utf8_is_refused():
    with pytest.raises(ValueError, match=r"the header has a text that is not UTF-8: '\\ud800'"):
        TableModel("y", ["x", HALF])


@pytest.mark.parametrize(
    ("loss", "labels", "message"),
    [
        (None, [f"label {i}" for i in range(300)], "more than 256 classes"),
        ("hinge", ["low", "high", "middle"], "with 'middle' there are three"),
    ],
)
def test_labels_that_are_too_many_leave_the_model_as_it_was(loss, labels, message):
    x = np.arange(40.0)
    model = TableModel("y", ["x"], task="classification", loss=loss)
    model.learn({"x": x}, ["low", "high"] * 20)
    before = model.function
    with pytest.raises(ValueError, match=message):
        model.learn({"x": np.arange(float(len(labels)))}, labels)
    assert model.labels == ["low", "high"]
    assert model.function == before


def test_values_of_categories_take_bounded_memory():
    """Values beyond 16 MB are unknown, and the others keep their codes."""
    encoder = TableEncoder([Column("city", "category")])
    for part in range(30):
        encoder.admit({"city": [f"{part}-{i}-" + 50_000 * "x" for i in range(20)]})
    assert sum(map(len, encoder.values_of("city"))) < 2**24
    rows = {"city": [encoder.values_of("city")[0], f"29-19-{50_000 * 'x'}"]}
    assert encoder.encode(rows).tolist() == [[1.0], [-1.0]]
    assert TableEncoder([Column("city", "category")], values={"city": ["a"]}).n_values("city") == 1
