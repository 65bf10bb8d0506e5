"""Commands of the package colk-lab: without it, a line says how to get them."""

import sys

import pytest

from colk.cli import main


@pytest.fixture(autouse=True)
def no_lab(monkeypatch):
    monkeypatch.setattr(sys.modules["colk.cli.main"], "entry_points", lambda **_: ())


@pytest.mark.parametrize("command", ["bench", "reproduce"])
def test_without_the_laboratory_one_line_says_how_to_install_it(command, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([command, "--quick"])
    assert exit_.value.code == 2
    out, error = capsys.readouterr()
    assert out == ""
    (line,) = error.splitlines()
    assert f"colk {command} needs colk-lab: run pip install ./lab" in line


def test_the_list_of_commands_has_them_either_way(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["--help"])
    assert exit_.value.code == 0
    out = capsys.readouterr().out
    assert "reproduce" in out
    assert "bench" in out
