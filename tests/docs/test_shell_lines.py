"""Shell lines of all pages: a test runs each, the command knows them, extras and options exist."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from colk.cli.main import _parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PAGES}
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
# A command in a sentence, such as `colk fit --intervals 0.9`.
SPAN = re.compile(r"`colk ([a-z]+)( [^`]*)`")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def commands():
    """Return the commands `colk …` of all blocks; those after && too, without a path."""
    for page, text in TEXTS.items():
        for block in BLOCK.findall(text):
            for line in block.replace("\\\n", " ").splitlines():
                for part in re.split(r"&&|\|", line):
                    words = shlex.split(part, comments=True)
                    if words and words[0].rpartition("/")[2] == "colk":
                        yield page, words[1:]


# Which test runs the lines of a page.
RUN_BY = {
    "README.md": "tests/cli/test_readme_lines.py",
    "docs/guide/command.md": "tests/cli/test_guide_lines.py",
    "docs/guide/comparison.md": "lab/tests/bench/test_bench.py",
    "docs/guide/serving.md": "tests/serving/test_documented_lines.py",  # asks the server by curl
}
# Lines that install the package; CI runs the same steps.
INSTALLS = ("pip install", "python3 -m venv")


def test_a_test_runs_the_lines_of_every_page():
    pages = {
        page
        for page, text in TEXTS.items()
        for block in BLOCK.findall(text)
        if not block.startswith(INSTALLS)
    }
    assert pages == set(RUN_BY)
    for page, test in RUN_BY.items():
        assert Path(page).name in (ROOT / test).read_text("utf-8"), test


def options_of(command):
    made = _parser([command])._subparsers._group_actions[0].choices[command]
    return {text for action in made._actions for text in action.option_strings}


def test_the_command_understands_every_line():
    found = list(commands())
    assert {"README.md", "docs/guide/command.md", "docs/guide/comparison.md"} <= {
        p for p, _ in found
    }
    for page, words in found:
        try:
            _parser(words).parse_args(words)
        except SystemExit:
            pytest.fail(f"{page}: colk {shlex.join(words)}")


def test_options_in_sentences_exist():
    found = [
        (page, command, option)
        for page, text in TEXTS.items()
        for command, rest in SPAN.findall(text)
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest)
    ]
    assert len(found) > 5
    assert [each for each in found if each[2] not in options_of(each[1])] == []


INSTALL = re.compile(r"pip install (.*?)(?=&&|$)", re.M)


def requirements(arguments):
    """Return what `pip install` is asked for, without its options."""
    return [word for word in shlex.split(arguments, comments=True) if not word.startswith("-")]


def test_no_line_installs_colk_from_an_index():
    """No index has colk: blocks install a folder, or other packages."""
    asked = [
        (page, each)
        for page, text in TEXTS.items()
        for block in BLOCK.findall(text)
        for arguments in INSTALL.findall(block)
        for each in requirements(arguments)
    ]
    assert {"README.md", "docs/index.md", "docs/install.md"} <= {page for page, _ in asked}
    assert [each for each in asked if re.match(r"colk\b(?!/)", each[1])] == []


def test_sentences_install_colk_only_to_add_an_extra():
    """pip takes an installed colk for `colk[extra]`, but looks for a plain `colk` in an index."""
    asked = [
        (page, each)
        for page, text in TEXTS.items()
        for arguments in re.findall(r"`pip install ([^`]*)`", BLOCK.sub("", text))
        for each in requirements(arguments)
    ]
    assert len(asked) > 5
    assert [each for each in asked if re.fullmatch(r"colk([=<>~!].*)?", each[1])] == []


def test_pip_adds_an_extra_to_the_installed_colk():
    """As messages advise: `pip install 'colk[cli]'` needs no index for colk itself."""
    if not any(metadata.distributions(name="colk")):
        pytest.skip("needs an installed colk")
    pytest.importorskip("pip")
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--dry-run", "colk[data]"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "Requirement already satisfied: colk[data]" in found.stdout
    assert "Would install" not in found.stdout


def test_extras_exist():
    named = {
        (page, name)
        for page, text in TEXTS.items()
        for names in re.findall(r"[\"'](?:colk|\.)\[([a-z,]+)\]", text)
        for name in names.split(",")
    }
    assert len(named) > 5
    assert {each for each in named if each[1] not in EXTRAS} == set()
