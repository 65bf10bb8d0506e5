"""Scalers, expansions, encoders and imputers of columns."""

from colk._stored import (
    Array,
    Count,
    Either,
    Field,
    Flag,
    ListOf,
    OneOf,
    Optional,
    Record,
    TupleOf,
)
from colk.persistence._fitted.checks import (
    bins,
    one_hot,
    ordinal,
    polynomials,
    splines,
    target_means,
)
from colk.persistence._fitted.fields import (
    Absent,
    Categories,
    DType,
    Estimator,
    Numbers,
    NumericType,
    ObjectsOf,
    Plain,
    Real,
    Spline,
    Whole,
)
from colk.persistence._fitted.state import State, state

__all__ = ["COLUMNS"]

# Statistics of columns, which are NaN where a column has no values.
_COLUMN = Numbers("p", finite=False)
_COLUMNS = Optional(_COLUMN)
_SEEN = Either(Real(), Numbers("p"))
_SUPPORT = Array("p", dtype=bool)
_INDICATOR = Optional(Estimator("MissingIndicator"))
_CATEGORIES: dict[str, Field] = {"categories_": ListOf(Categories(), "p", at_least=1)}
_GROUPED: dict[str, Field] = {**_CATEGORIES, "_infrequent_enabled": Flag()}
_INDICES = Optional(Numbers(None, kinds="iu"))
_GROUPS: dict[str, Field] = {
    "_infrequent_indices": ListOf(_INDICES),
    "_default_to_infrequent_mappings": ListOf(_INDICES),
}
_DROPPED = Optional(Plain("p"))
_NO_FUNCTIONS: dict[str, Field] = {"func": Absent(), "inverse_func": Absent()}

COLUMNS: dict[str, State] = {
    # scalers
    "preprocessing.Binarizer": state({}),
    "preprocessing.KernelCenterer": state({"K_fit_rows_": Numbers("p"), "K_fit_all_": Real()}),
    "preprocessing.MaxAbsScaler": state(
        {"n_samples_seen_": _SEEN, "max_abs_": _COLUMN, "scale_": _COLUMN}
    ),
    "preprocessing.MinMaxScaler": state(
        {
            "n_samples_seen_": _SEEN,
            **dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _COLUMN),
        }
    ),
    "preprocessing.Normalizer": state({}),
    "preprocessing.PowerTransformer": state(
        {"lambdas_": _COLUMN}, {"_scaler": Estimator("StandardScaler")}
    ),
    "preprocessing.QuantileTransformer": state(
        {
            "n_quantiles_": Whole(1, same="q"),
            "references_": Numbers("q", ascending=True),
            "quantiles_": Numbers("q", "p", finite=False, ascending=True),
        }
    ),
    "preprocessing.RobustScaler": state({"center_": _COLUMNS, "scale_": _COLUMNS}),
    "preprocessing.StandardScaler": state(
        {"n_samples_seen_": _SEEN, "mean_": _COLUMNS, "var_": _COLUMNS, "scale_": _COLUMNS}
    ),
    # expansions
    "preprocessing.FunctionTransformer": state({}, parameters=_NO_FUNCTIONS),
    "preprocessing.KBinsDiscretizer": state(
        {
            "n_bins_": Numbers("p", kinds="iu", at_least=1),
            "bin_edges_": ObjectsOf(Numbers(None, finite=False, ascending=True), "p"),
        },
        {"_encoder": Estimator("OneHotEncoder")},
        bins,
    ),
    "preprocessing.PolynomialFeatures": state(
        dict.fromkeys(("_min_degree", "_max_degree", "n_output_features_", "_n_out_full"), Whole()),
        check=polynomials,
        parameters={"degree": Either(Count(0, 100), TupleOf(Count(0, 100), at_least=2))},
    ),
    "preprocessing.SplineTransformer": state(
        {"bsplines_": ListOf(Spline("degree", "k"), "p", at_least=1), "n_features_out_": Whole()},
        check=splines,
        parameters={"degree": Count(0, 100, same="degree")},
    ),
    # encoders
    "preprocessing.OneHotEncoder": state(
        {
            **_GROUPED,
            "_drop_idx_after_grouping": _DROPPED,
            "drop_idx_": _DROPPED,
            "_n_features_outs": ListOf(Whole(), "p"),
        },
        _GROUPS,
        one_hot,
        parameters={"dtype": NumericType()},
    ),
    "preprocessing.OrdinalEncoder": state(
        {**_GROUPED, "_missing_indices": Record({}, keeps_rest=True)},
        _GROUPS,
        ordinal,
        parameters={"dtype": NumericType()},
    ),
    "preprocessing.TargetEncoder": state(
        {
            **_CATEGORIES,
            "_infrequent_enabled": OneOf(False),
            "target_type_": OneOf("continuous", "binary", "multiclass"),
            "classes_": Optional(Plain("c")),
            "target_mean_": Either(Real(), Numbers("c")),
            "encodings_": ListOf(Numbers(None)),
        },
        check=target_means,
    ),
    # imputers
    "impute.KNNImputer": state(
        {
            "_fit_X": Numbers("n", "p", finite=False),
            "_mask_fit_X": Array("n", "p", dtype=bool),
            "_valid_mask": _SUPPORT,
            "indicator_": _INDICATOR,
        }
    ),
    "impute.MissingIndicator": State(
        {
            "_n_features": Whole(1, same="p"),
            "features_": Numbers("k", kinds="iu", at_least=0, below="p"),
            "_precomputed": Flag(),
        },
        {"n_features_in_": Whole(same="p")},
    ),
    "impute.SimpleImputer": state(
        {"statistics_": Plain("p"), "_fit_dtype": DType(), "indicator_": _INDICATOR},
        {"_fill_dtype": DType()},
    ),
}
