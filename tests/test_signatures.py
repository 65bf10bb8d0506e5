"""Editors and notebooks show the parameters of every public class, compiled or not."""

import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest

from colk.kernels import Kernel
from colk.losses import Huber
from colk.risks import CVaR

sys.path.append(str(Path(__file__).parents[1] / "docs" / "_ext"))

from inventory import public_modules


def public_classes():
    found = {}
    for module in map(import_module, public_modules()):
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if isinstance(thing, type) and not issubclass(thing, BaseException):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


CLASSES = public_classes()


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_class_has_a_signature(name):
    inspect.signature(CLASSES[name])


def test_a_signature_is_that_of_the_source():
    parameters = inspect.signature(CVaR).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert defaults == {"tail_fraction": 0.1, "weight": 1.0, "smoothing": 0.0, "level": None}
    assert inspect.signature(Huber).bind(2.0).arguments == {"threshold": 2.0}
    assert list(inspect.signature(Kernel).parameters) == []


def test_a_class_of_a_user_has_its_own_signature():
    class Mine(Huber):
        def __init__(self, width: int = 3) -> None:
            super().__init__(width)

    assert str(inspect.signature(Mine)) == "(width: int = 3) -> None"
