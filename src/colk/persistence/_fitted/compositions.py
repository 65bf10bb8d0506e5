"""Estimators that consist of other estimators."""

from colk._stored import Field, Flag, ListOf, Object, Optional
from colk.persistence._fitted.fields import (
    Absent,
    ColumnChoice,
    DictOf,
    Estimator,
    Plain,
    Step,
    Whole,
    steps,
)
from colk.persistence._fitted.state import State, state

__all__ = ["COMPOSITIONS"]

_NO_FUNCTIONS: dict[str, Field] = {"func": Absent(), "inverse_func": Absent()}

COMPOSITIONS: dict[str, State] = {
    "compose.ColumnTransformer": state(
        {
            "transformers_": steps(has_columns=True),
            "_columns": ListOf(ColumnChoice()),
            "_remainder": Step(has_columns=True),
            "_transformer_to_input_indices": DictOf(ColumnChoice()),
            "output_indices_": DictOf(Object(slice)),
            "sparse_output_": Flag(),
        },
        {"_transformers_feature_names_out": Plain("features out")},
        parameters={"transformers": steps(has_columns=True)},
    ),
    "compose.TransformedTargetRegressor": State(
        {
            "regressor_": Estimator(),
            "transformer_": Optional(Estimator()),
            "_training_dim": Whole(1, 2),
        },
        parameters=_NO_FUNCTIONS,
    ),
    "frozen.FrozenEstimator": State({}, parameters={"estimator": Estimator()}),
    "pipeline.FeatureUnion": State({}, parameters={"transformer_list": steps()}),
    "pipeline.Pipeline": State({}, parameters={"steps": steps()}),
}
