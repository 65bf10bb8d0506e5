"""Turn data frames into what a method reads."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

__all__ = ["categories_of", "numbers", "scaled", "with_texts"]


def categories_of(X: Any) -> list[str]:
    """Return the names of the columns that are categories."""
    return [name for name in X.columns if isinstance(X[name].dtype, pd.CategoricalDtype)]


def numbers(X: Any) -> Any:
    """Return a transformer: medians for gaps, unit variance, and a column for each category."""
    categories = categories_of(X)
    rest = [name for name in X.columns if name not in categories]
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (make_pipeline(fill, StandardScaler()), rest), (encoder, categories)
    )


def scaled(X: Any, model: Any, is_classifier: bool) -> Any:
    """Return a pipeline that gives a model numbers; targets of regression have unit variance."""
    if not is_classifier:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    return make_pipeline(numbers(X), model)


def with_texts(X: Any) -> Any:
    """Return a data frame whose categories are texts, with the text "nan" for a gap."""
    found = X.copy()
    for name in categories_of(X):
        texts = X[name].to_numpy(dtype=object)
        found[name] = np.where(X[name].isna(), "nan", texts).astype(object)
    return found
