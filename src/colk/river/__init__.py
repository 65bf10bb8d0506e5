"""COLK for River: dictionaries of features, one sample at a time."""

try:
    import river  # noqa: F401  # to say what to install where it is missing
except ImportError as error:
    raise ImportError("colk.river needs River: pip install 'colk[river]'") from error

from colk.river.classifier import COLKClassifier
from colk.river.regressor import COLKRegressor

__all__ = ["COLKClassifier", "COLKRegressor"]
