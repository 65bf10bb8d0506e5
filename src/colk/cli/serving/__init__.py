"""Serve models over HTTP: predictions, learning, and a page that shows the progress.

The commands `colk serve`, `colk watch` and `colk fit --live` use this package. It needs
`pip install "colk[serve]"`.
"""

from typing import TYPE_CHECKING

from colk._lazy import lazy_attributes

if TYPE_CHECKING:
    from colk.cli.serving.app import make_app
    from colk.cli.serving.feed import LiveFeed
    from colk.cli.serving.service import RequestError, Service

__all__ = ["LiveFeed", "RequestError", "Service", "make_app"]

__getattr__ = lazy_attributes(
    "colk.cli.serving",
    {
        "LiveFeed": "colk.cli.serving.feed",
        "RequestError": "colk.cli.serving.service",
        "Service": "colk.cli.serving.service",
        "make_app": "colk.cli.serving.app",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
