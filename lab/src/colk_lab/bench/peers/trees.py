"""Boosted trees, which read categories and gaps themselves, at their defaults."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from colk_lab.bench.peers.base import BatchPeer, Draws
from colk_lab.bench.peers.encoding import categories_of, with_texts

__all__ = ["PEERS"]


class Boosting(BatchPeer):
    """scikit-learn's gradient boosting on histograms."""

    name = "HistGradientBoosting"
    seconds = (0.3, 0.6)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        kind = HistGradientBoostingClassifier if is_classifier else HistGradientBoostingRegressor
        return kind(categorical_features="from_dtype", random_state=0)


class LightGbm(BatchPeer):
    """LightGBM, on one thread."""

    name = "LightGBM"
    needs = "lightgbm"
    seconds = (0.2, 0.4)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMClassifier if is_classifier else LGBMRegressor
        return kind(n_jobs=1, random_state=0, verbose=-1)


class CatBoostPeer(BatchPeer):
    """CatBoost, on one thread."""

    name = "CatBoost"
    needs = "catboost"
    seconds = (1.2, 4.0)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        from catboost import CatBoostClassifier, CatBoostRegressor

        model = (CatBoostClassifier if is_classifier else CatBoostRegressor)(
            cat_features=categories_of(X),
            thread_count=1,
            random_seed=0,
            verbose=0,
            allow_writing_files=False,
        )
        return make_pipeline(FunctionTransformer(with_texts), model)


PEERS: list[BatchPeer] = [CatBoostPeer(), LightGbm(), Boosting()]
