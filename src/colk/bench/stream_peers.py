"""Peers for streams, at the settings that River documents: each class is a row of the tables."""

from typing import Any

from colk._extras import needed_for

with needed_for("a peer of the benchmark", extra="bench"):
    from river import (
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

__all__ = ["STREAM_PEERS", "StreamPeer"]


class StreamPeer:
    """A method that learns one sample at a time. A subclass is a row of the tables."""

    name: str
    # Rough processor milliseconds of a sample.
    cost = 0.1

    def model(self, is_classifier: bool) -> Any:
        """Return a new model of River."""
        raise NotImplementedError

    def fits(self, is_classifier: bool) -> bool:
        """Whether the peer is for such streams."""
        return True


def _scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


class Colk(StreamPeer):
    """colk at its defaults."""

    name = "colk"

    def model(self, is_classifier: bool) -> Any:
        kind = colk_river.COLKClassifier if is_classifier else colk_river.COLKRegressor
        return _scaled(kind())


class Linear(StreamPeer):
    """Linear or logistic regression by stochastic gradients."""

    name = "linear"

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return _scaled(linear_model.SoftmaxRegression())
        return _scaled(linear_model.LinearRegression())


class HoeffdingTree(StreamPeer):
    """A tree that replaces branches when the stream changes."""

    name = "HoeffdingAdaptiveTree"

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return tree.HoeffdingAdaptiveTreeClassifier(seed=1)
        return _scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=1))


class AdaptiveForest(StreamPeer):
    """Adaptive random forest of ten trees."""

    name = "ARF"
    cost = 2.0

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return forest.ARFClassifier(seed=1)
        return _scaled(forest.ARFRegressor(seed=1))


class RandomPatches(StreamPeer):
    """Streaming random patches: ten trees on parts of the features."""

    name = "SRP"
    cost = 4.0

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return ensemble.SRPClassifier(n_models=10, seed=1)
        return _scaled(ensemble.SRPRegressor(n_models=10, seed=1))


class MondrianForest(StreamPeer):
    """Aggregated Mondrian forest of ten trees."""

    name = "AMF"
    cost = 1.5

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return forest.AMFClassifier(seed=1)
        return _scaled(forest.AMFRegressor(seed=1))


class Neighbours(StreamPeer):
    """Nearest neighbours among recent samples."""

    name = "KNN"
    cost = 1.0

    def model(self, is_classifier: bool) -> Any:
        kind = neighbors.KNNClassifier if is_classifier else neighbors.KNNRegressor
        return _scaled(kind())


class NoChange(StreamPeer):
    """The target before, as a yardstick."""

    name = "no change"
    cost = 0.01

    def model(self, is_classifier: bool) -> Any:
        if is_classifier:
            return dummy.NoChangeClassifier()
        return dummy.StatisticRegressor(stats.Shift(1))


STREAM_PEERS = {
    peer.name: peer
    for peer in (
        Colk(), Linear(), HoeffdingTree(), AdaptiveForest(), RandomPatches(), MondrianForest(),
        Neighbours(), NoChange(),
    )
}  # fmt: skip
