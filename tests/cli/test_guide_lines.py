"""The lines of the guide "The command line" run, and it names every option."""

import argparse
import gzip
import re
import shlex
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join((DOCS / name).read_text("utf-8") for name in ("guide/command.md", "options.md"))
LINES = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.S) for line in block.splitlines()
]
# Commands of which the page names every option.
COMMANDS = ("fit", "predict", "evaluate", "show", "compress", "export")


@pytest.fixture
def tables(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for name, n in (("houses.csv", 400), ("new.csv", 60)):
        size, age = rng.normal(100.0, 30.0, n), rng.uniform(0.0, 50.0, n)
        city = rng.choice(["Bonn", "Rome", "Oslo"], n)
        price = 2.0 * size + 40.0 * np.sin(age / 8.0) + 30.0 * (city == "Rome")
        price += rng.normal(0.0, 5.0, n)
        rows = zip(range(n), size.round(1), age.round(1), city, price.round(2), strict=True)
        lines = ["number,size,age,city,price", *(",".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    data = (tmp_path / "houses.csv").read_bytes()
    (tmp_path / "houses.csv.gz").write_bytes(gzip.compress(data))
    german = data.decode().replace(",", ";").replace(".", ",")
    (tmp_path / "german.csv").write_text(german)
    monkeypatch.chdir(tmp_path)


def form(text):
    """A text without its numbers."""
    return re.sub(r"\d[\d.,]*\d|\d", "N", text)


def test_the_lines_of_the_page_run(colk, tables):
    assert len(LINES) > 10
    for line in LINES:
        words = shlex.split(line)
        assert words[0] == "colk"
        # Pictures and pages take long to draw, and have their own tests.
        drawn = [i for i, word in enumerate(words) if word in ("--report", "--plot")]
        for place in reversed(drawn):
            del words[place : place + 2]
        code, out, error = colk(*words[1:])
        assert code == 0, (line, error)
        if words[1] == "fit" and "--id" in words:
            table = re.search(r"```text\n(column.*?)```", PAGE, re.S)[1]
            assert out.startswith(table)
        if words[1] == "fit" and "--holdout" in words:
            shown = re.search(r"```text\n(error.*?)```", PAGE, re.S)[1]
            assert form(out.partition("\n\n")[2]).startswith(form(shown))
    head = Path("sure.csv").read_text().splitlines()[0]
    assert head == "number,city,prediction,lower,upper"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_names_every_option(command):
    parser = argparse.ArgumentParser()
    import_module(f"colk.cli.{command}").add_parser(parser.add_subparsers())
    (made,) = parser._subparsers._group_actions[0].choices.values()
    options = {text for action in made._actions for text in action.option_strings}
    missing = {text for text in options - {"-h", "--help"} if not re.search(rf"{text}\b", PAGE)}
    assert missing == set()


def test_the_page_names_no_option_that_is_not_there():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    for command in COMMANDS:
        import_module(f"colk.cli.{command}").add_parser(commands)
    made = parser._subparsers._group_actions[0].choices.values()
    options = {text for each in made for action in each._actions for text in action.option_strings}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) - options == set()
