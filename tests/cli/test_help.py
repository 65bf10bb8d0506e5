"""Help comes without asking, errors speak of options, and shells complete both."""

import subprocess
from importlib.resources import files

import pytest

from colk.cli import main
from colk.cli.main import whole_parser

LIDAR = str(files("colk.data") / "lidar.csv")


def test_colk_alone_prints_its_help(capsys):
    assert main([]) == 0
    assert "learn a model from a table" in capsys.readouterr().out


def test_the_help_of_fit_begins_with_the_options_that_most_fits_use(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{title}:") for title in ("most used", "data", "columns", "method")]
    assert places == sorted(places)
    first = shown[places[0] : places[1]]
    for option in ("--target", "--model", "--report", "--task", "--intervals"):
        assert option in first


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--step-size=-1",), "--step-size must be"),
        (("--forgetting=0.9",), "--forgetting 0.9 would be ignored beside --solver gradient"),
        (("--kernel=foo",), "--kernel 'foo' is unknown"),
    ],
)
def test_an_error_names_the_option(options, said, tmp_path, capsys):
    model = tmp_path / "m.colk"
    assert main(["fit", LIDAR, "--target=logratio", f"--model={model}", *options]) == 2
    assert said in capsys.readouterr().err


def test_bash_completes_an_option(tmp_path, capsys):
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "colk.sh"
    script.write_text(capsys.readouterr().out)
    lines = f"source {script}; COMP_WORDS=(colk fit --tar); COMP_CWORD=2; _shtab_colk"
    shown = subprocess.run(
        ["bash", "-c", f"{lines} colk --tar fit; echo ${{COMPREPLY[@]}}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout.split() == ["--target"]


def test_every_command_can_be_completed():
    whole_parser()  # raises if a module of a command has no parser
