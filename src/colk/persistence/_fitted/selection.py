"""Selection of features, and linear models that rank them."""

from colk._stored import Array, Either, Field, Optional, Text
from colk.persistence._fitted.fields import Estimator, Numbers, Plain, Real, Report, Whole
from colk.persistence._fitted.state import State, state

__all__ = ["SELECTION"]

# Statistics of columns, which are NaN where a column has no values.
_COLUMN = Numbers("p", finite=False)
_COLUMNS = Optional(_COLUMN)
_SCORES = state({"scores_": _COLUMN, "pvalues_": _COLUMNS})
_SUPPORT = Array("p", dtype=bool)
_ELIMINATION: dict[str, Field] = {
    "estimator_": Estimator(),
    "n_features_": Whole(),
    "support_": _SUPPORT,
    "ranking_": Numbers("p", kinds="iu"),
}
_COEFFICIENTS: dict[str, Field] = {
    "coef_": Either(Numbers("p"), Numbers("t", "p")),
    "intercept_": Either(Real(), Numbers("t")),
}
_DESCENT = state(
    {**_COEFFICIENTS, "n_iter_": Report(), "dual_gap_": Report()}, {"l1_ratio": Real()}
)

SELECTION: dict[str, State] = {
    "feature_selection.GenericUnivariateSelect": _SCORES,
    "feature_selection.RFE": state(_ELIMINATION),
    "feature_selection.RFECV": state({**_ELIMINATION, "cv_results_": Report()}),
    "feature_selection.SelectFdr": _SCORES,
    "feature_selection.SelectFpr": _SCORES,
    "feature_selection.SelectFromModel": State(
        {"estimator_": Estimator()}, {"max_features_": Whole()}
    ),
    "feature_selection.SelectFwe": _SCORES,
    "feature_selection.SelectKBest": _SCORES,
    "feature_selection.SelectPercentile": _SCORES,
    "feature_selection.SequentialFeatureSelector": state(
        {"n_features_to_select_": Whole(), "support_": _SUPPORT}
    ),
    "feature_selection.VarianceThreshold": state({"variances_": _COLUMN}),
    "linear_model.ElasticNet": _DESCENT,
    "linear_model.Lasso": _DESCENT,
    "linear_model.LinearRegression": state(
        _COEFFICIENTS, {"rank_": Report(), "singular_": Report()}
    ),
    "linear_model.LogisticRegression": state(
        {**_COEFFICIENTS, "classes_": Plain("c"), "n_iter_": Report()}
    ),
    "linear_model.Ridge": state({**_COEFFICIENTS, "n_iter_": Report()}, {"solver_": Text()}),
}
