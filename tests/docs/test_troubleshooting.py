"""The troubleshooting page covers every message of the sources, and nothing else."""

import ast
import re
from pathlib import Path

import messages
import pytest

import colk.errors

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guide" / "troubleshooting.md").read_text("utf-8")
TEXTS = [
    line
    for block in re.findall(r"```{messages}\n(.*?)```", PAGE, re.S)
    for line in block.split("\n")
]
TEXTS = [line for line in TEXTS if line.strip()]


@pytest.fixture(scope="module")
def found():
    """All messages of the sources. Every process collects the tests, but only one needs these."""
    return messages.all_messages()


def test_every_message_is_there(found):
    missing = [f"{each.place} {each.line}" for each in found if not messages.matches(each, TEXTS)]
    assert missing == [], "add a text of each message to docs/guide/troubleshooting.md"


def test_every_text_is_that_of_a_message(found):
    idle = [text for text in TEXTS if not any(messages.matches(each, [text]) for each in found)]
    assert idle == []


def test_no_class_of_python_is_a_family():
    """Only classes of this package cover all of their messages."""
    classes = [text[:-1] for text in TEXTS if re.fullmatch(r"\w+:", text)]
    assert set(classes) == messages.FAMILIES
    assert all(len(text) > 5 for text in TEXTS)


@pytest.mark.parametrize("name", colk.errors.__all__)
def test_every_class_is_explained(name):
    assert f"`{name}`" in PAGE


def test_what_is_raised_is_found():
    source = """
message = "is named"
def f(x):
    warnings.warn(f"too {x} by far", ConvergenceWarning, stacklevel=2)
    raise ValueError(message)
    raise errors.FileFormatError("a " + x + " b")
    raise OSError(errno.EACCES, "denied", x)
"""
    found = [each.line for each in messages.messages_in(ast.parse(source), "here")]
    assert sorted(found) == [
        "ConvergenceWarning: too … by far",
        "FileFormatError: a … b",
        "OSError: denied",
        "ValueError: is named",
    ]
