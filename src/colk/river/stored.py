"""The stored fields of a River model: parameters, columns, and learner."""

from inspect import signature
from typing import Any

from colk import _stored as stored
from colk.errors import FileFormatError
from colk.model import OnlineFit
from colk.river.columns import FeatureColumns

__all__ = ["FIELDS", "StoredModel"]

FIELDS: dict[str, stored.Field] = {
    "parameters": stored.Anything(),
    "columns": stored.Object(FeatureColumns),
    "online": stored.Optional(stored.Object(OnlineFit)),
}


class StoredModel:
    """Mixin that converts a River model to stored fields and back."""

    _columns: FeatureColumns
    _online: OnlineFit | None

    def _to_file(self) -> dict[str, Any]:
        return {
            "parameters": {name: getattr(self, name) for name in signature(type(self)).parameters},
            "columns": self._columns,
            "online": self._online,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Any:
        model: Any = cls(**values["parameters"])
        model._columns, online = values["columns"], values["online"]
        if online is not None:
            model._online = _checked(online).resume(model._settings(), model._columns.width)
        model._set_learned(values)
        model._connect()
        return model

    def _set_learned(self, values: dict[str, Any]) -> None:
        """Restore the state of the targets."""


def _checked(online: OnlineFit) -> OnlineFit:
    """Return the stream if a River model could have made it."""
    learner = online.learner
    if not learner.has_learned or learner.is_traced or learner.loss.kind == "binary":
        # The fast path writes samples to the stream directly, which has no place for a trace.
        raise FileFormatError("a River model does not make a learner with a trace or a margin loss")
    return online
