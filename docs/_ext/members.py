"""Skip members that a class inherits from other packages."""

from typing import Any

from sphinx.application import Sphinx


def skip(app: Sphinx, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Skip members that a class inherits from other packages."""
    owner = getattr(thing, "__objclass__", None) or getattr(thing, "fget", None) or thing
    module = getattr(owner, "__module__", None) or ""
    foreign = bool(module) and not module.startswith("colk")
    return True if foreign or name.endswith(("_request", "_routing")) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register `skip`."""
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
