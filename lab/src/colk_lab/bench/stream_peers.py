"""Peers for streams, at the settings that River documents; each class is a row of the tables."""

from typing import Any

from river import (
    compose,
    dummy,
    ensemble,
    forest,
    linear_model,
    neighbors,
    preprocessing,
    stats,
    tree,
)

from colk import river as colk_river
from colk.river import drop_missing
from colk_lab.bench.capymoa_peers import CapyMoa
from colk_lab.bench.peers import absence

__all__ = ["STREAM_PEERS", "StreamPeer", "as_numbers", "last_target"]


class StreamPeer:
    """A method that learns one sample at a time. A subclass is a row of the tables."""

    name: str
    # Approximate processor milliseconds per sample.
    cost = 0.1
    # Whether its results depend on this package.
    uses_package = False

    def model(self, is_classifier: bool) -> Any:
        """Return a new model with River's interface."""
        raise NotImplementedError


def as_numbers(model: Any) -> Any:
    """Give a model numbers: scaled, none for a gap, and a column for each text."""
    texts = compose.SelectType(str) | preprocessing.OneHotEncoder()
    scaled = compose.SelectType(int, float) | preprocessing.StandardScaler()
    return (scaled + texts) | model


class ColkStream(StreamPeer):
    """colk at its defaults."""

    name = "colk"
    cost = 0.3
    uses_package = True

    def model(self, is_classifier: bool) -> Any:
        kind = colk_river.COLKClassifier if is_classifier else colk_river.COLKRegressor
        kept: Any = compose.FuncTransformer(drop_missing)
        scaled = kept | compose.SelectType(int, float) | preprocessing.StandardScaler()
        return (scaled + compose.SelectType(str)) | kind()


class LinearStream(StreamPeer):
    """Linear or logistic regression by stochastic gradients."""

    name = "linear"
    cost = 0.05

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return as_numbers(linear_model.SoftmaxRegression())
        return as_numbers(linear_model.LinearRegression())


class HoeffdingTree(StreamPeer):
    """A tree that replaces branches when the stream changes."""

    name = "HoeffdingAdaptiveTree"
    cost = 0.2

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return as_numbers(tree.HoeffdingAdaptiveTreeClassifier(seed=1))
        return as_numbers(tree.HoeffdingAdaptiveTreeRegressor(seed=1))


class AdaptiveForest(StreamPeer):
    """Adaptive random forest of ten trees."""

    name = "ARF"
    cost = 1.2

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return as_numbers(forest.ARFClassifier(seed=1))
        return as_numbers(forest.ARFRegressor(seed=1))


class RandomPatches(StreamPeer):
    """Streaming random patches: ten trees on subsets of the features."""

    name = "SRP"
    cost = 2.5

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return as_numbers(ensemble.SRPClassifier(n_models=10, seed=1))
        return as_numbers(ensemble.SRPRegressor(n_models=10, seed=1))


class MondrianForest(StreamPeer):
    """Aggregated Mondrian forest of ten trees."""

    name = "AMF"
    cost = 0.6

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return as_numbers(forest.AMFClassifier(seed=1))
        return as_numbers(forest.AMFRegressor(seed=1))


class Neighbours(StreamPeer):
    """Nearest neighbours among the last 1000 samples.

    The search is exact. River's default search is approximate and draws at random, and its models
    share a set of points: results would depend on the models that ran before in the process.
    """

    name = "KNN"
    cost = 0.3

    def model(self, is_classifier: bool) -> Any:
        kind = neighbors.KNNClassifier if is_classifier else neighbors.KNNRegressor
        return as_numbers(kind(engine=neighbors.LazySearch(window_size=1000)))


def last_target() -> Any:
    """Return a model that predicts the latest target.

    In River, `Shift(0)` is the latest target and `Shift(1)` the one before it.
    """
    return dummy.StatisticRegressor(stats.Shift(0))


class NoChange(StreamPeer):
    """The previous target as a baseline."""

    name = "no change"
    cost = 0.01

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return dummy.NoChangeClassifier()
        return last_target()


class MoaForest(StreamPeer):
    """CapyMOA's adaptive random forest of ten trees."""

    name = "ARF of CapyMOA"
    cost = 1.0

    def model(self, is_classifier: bool) -> Any:
        from capymoa.classifier import AdaptiveRandomForestClassifier
        from capymoa.regressor import AdaptiveRandomForestRegressor

        kind = AdaptiveRandomForestClassifier if is_classifier else AdaptiveRandomForestRegressor
        return CapyMoa(lambda schema: kind(schema, random_seed=1, ensemble_size=10), is_classifier)


class MoaBest(StreamPeer):
    """CapyMOA's SOKNL for numbers and streaming random patches for labels, with ten trees."""

    name = "SOKNL / SRP of CapyMOA"
    cost = 1.0

    def model(self, is_classifier: bool) -> Any:
        from capymoa.classifier import StreamingRandomPatches
        from capymoa.regressor import SOKNL

        kind = StreamingRandomPatches if is_classifier else SOKNL
        return CapyMoa(lambda schema: kind(schema, random_seed=1, ensemble_size=10), is_classifier)


def _known() -> list[StreamPeer]:
    peers = [ColkStream(), LinearStream(), HoeffdingTree(), AdaptiveForest(), RandomPatches()]
    peers += [MondrianForest(), Neighbours(), NoChange()]
    return peers if absence("capymoa") else [*peers, MoaForest(), MoaBest()]


STREAM_PEERS = {peer.name: peer for peer in _known()}
