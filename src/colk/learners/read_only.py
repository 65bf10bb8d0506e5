"""Settings of a learner: read-only attributes; the repr is the constructor call."""

from inspect import signature
from typing import Any

from colk._engine.terms import show
from colk._notebook import facts_table
from colk.schedules import PowerDecay

__all__ = ["ReadOnly"]


class ReadOnly:
    """An object whose public attributes are its settings, which cannot be changed."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and hasattr(self, name):
            raise AttributeError(
                f"{name} of a {type(self).__name__} is read-only, because the learned state "
                "depends on it; make another learner"
            )
        super().__setattr__(name, value)

    def _keep(self, settings: dict[str, Any]) -> None:
        """Set attributes, also read-only ones."""
        for name, value in settings.items():
            object.__setattr__(self, name, value)  # `vars(self)` would slow down each attribute

    def _repr_html_(self) -> str:
        sizes = {"atoms": "n_atoms", "samples": "n_samples"}
        learned = {
            name: getattr(self, attribute)
            for name, attribute in sizes.items()
            if isinstance(getattr(self, attribute, None), int)
        }
        return facts_table(type(self).__name__, self._settings_shown() | learned)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={text}" for name, text in self._settings_shown().items())
        return f"{type(self).__name__}({settings})"

    def _settings_shown(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, as text."""
        shown: dict[str, Any] = {}
        for name, parameter in signature(type(self)).parameters.items():
            default = parameter.default
            value = getattr(self, "is_traced" if name == "trace" else name, default)
            if isinstance(value, PowerDecay) and value.power == 0.0:
                value = value.initial
            if value is not default and (default is parameter.empty or value != default):
                shown[name] = show(value)
        return shown
