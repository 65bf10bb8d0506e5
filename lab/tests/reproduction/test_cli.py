"""The command line: readable help and one-line errors."""

import pytest

from colk.cli import main


@pytest.mark.parametrize("arguments", [["--help"], ["reproduce", "--help"], ["--version"]])
def test_help(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 100 for line in out.splitlines())
    assert "colk" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["unknown"], "invalid choice: 'unknown'"),
        (["reproduce", "nothing"], "invalid choice: 'nothing'"),
        (["reproduce", "outliers", "--runs", "many"], "invalid int value: 'many'"),
        (["reproduce", "outliers", "--runs", "1"], "runs must be at least 2, got 1"),
        (["reproduce", "outliers", "--scale", "2"], "scale must lie in (0, 1], got 2.0"),
        (["reproduce", "outliers", "--jobs", "0"], "jobs must be at least 1, got 0"),
    ],
)
def test_errors_are_one_line(arguments, message, capsys):
    try:
        code = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    error = capsys.readouterr().err
    assert code == 2
    lines = [line for line in error.splitlines() if "error" in line]
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in error


def test_reproduce_tries_its_folder_first(capsys, tmp_path, monkeypatch):
    def never(*arguments):
        raise AssertionError("work began")

    monkeypatch.setattr("colk_lab.runner.Runner.__init__", never)
    file = tmp_path / "README.md"
    file.write_text("a file")
    assert main(["reproduce", "outliers", "--runs", "2", "--out", str(file)]) == 2
    assert "it is not a folder" in capsys.readouterr().err
