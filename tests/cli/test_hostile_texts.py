"""Names and values of a table reach neither the terminal as codes nor a spreadsheet as formulas."""

import csv
import io
from contextlib import suppress

import numpy as np
import pytest

from colk.cli import main
from colk.cli.csv_cells import csv_line
from colk.cli.live import LiveLine
from colk.cli.terminal import plain_output

pytestmark = pytest.mark.filterwarnings("ignore:one value in all rows")
CODE = "\x1b[31m"
TARGET = f"y{CODE}"


def write(path, targets, last=()):
    rng = np.random.default_rng(0)
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([f"x{CODE}", f"c\r{CODE}", "same\u202e", TARGET])
        for k in range(200):
            x = rng.normal()
            rows.writerow([x, f"v{CODE}{k % 3}", f"q{CODE}", targets(x)])
        rows.writerows(last)
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table of labels and one of numbers with an unusable row, and a model of each."""
    tmp_path = tmp_path_factory.mktemp("hostile")
    labels = write(tmp_path / "labels.csv", lambda x: f"{CODE}{'low' if x < 0 else 'high'}")
    bad = [f"bad{CODE}", "v", "q", f"bad{CODE}"]
    numbers = write(tmp_path / "numbers.csv", lambda x: 2.0 * x, [bad])
    found = {"labels": labels, "numbers": numbers}
    for name in ("labels", "numbers"):
        found[f"m {name}"] = str(tmp_path / f"{name}.colk")
        assert main(["fit", found[name], "--target", TARGET, "--model", found[f"m {name}"]]) == 0
    return found


LINES = {
    "fit labels": ["fit", "labels", "--target", TARGET, "--model", "m"],
    "fit numbers": ["fit", "numbers", "--target", TARGET, "--model", "m"],
    "no column": ["fit", "numbers", "--target", f"z{CODE}", "--model", "m"],
    "strict": ["fit", "numbers", "--target", TARGET, "--model", "m", "--strict"],
    "no feature": ["fit", "numbers", "--target", TARGET, "--model", "m", "--features", f"q{CODE}"],
    "no option": ["fit", "numbers", f"--{CODE}"],
    "no choice": ["fit", "numbers", "--target", TARGET, "--kernel", CODE, "--model", "m"],
    "show labels": ["show", "m labels"],
    "show numbers": ["show", "m numbers"],
    "evaluate labels": ["evaluate", "m labels", "labels"],
    "evaluate numbers": ["evaluate", "m numbers", "numbers"],
    "predict": ["predict", "m numbers", "numbers", "--out", "out.csv"],
    "no column to keep": ["predict", "m numbers", "numbers", "--keep", f"q{CODE}"],
    "no file": ["predict", f"none{CODE}", "numbers"],
    "merge": ["merge", "m labels", "m numbers", "--out", "m"],
}


@pytest.mark.parametrize("line", LINES)
def test_the_terminal_gets_no_codes_of_a_table(line, files, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    with suppress(SystemExit):
        main([files.get(word, word) for word in LINES[line]])
    told = capsys.readouterr()
    text = told.out + told.err
    assert text
    assert not [
        character for character in text if not (character.isprintable() or character == "\n")
    ]


def test_the_line_of_progress_is_still_drawn(capsys):
    with plain_output(), LiveLine(1.0, "error") as line:
        line._shown = 0.0
        line.show("scan", 10, 0.5, 0.1, 3)
    assert "\\x1b" not in capsys.readouterr().err


def test_formulas_are_quoted_on_request(tmp_path, capsys):
    table = "=x,id,y\n" + "".join(f"{k},{'=-+@'[k % 4]}{k} {k},{k % 7}\n" for k in range(60))
    path, model, out = tmp_path / "a.csv", str(tmp_path / "m"), tmp_path / "out.csv"
    path.write_text(table)
    options = ["--target=y", "--task=classification", f"--model={model}", "--id=id"]
    assert main(["fit", str(path), *options]) == 0
    line = ["predict", model, str(path), "--keep", "=x", "--out"]
    assert main([*line, str(out)]) == 0
    assert out.read_text().startswith("id,=x,")
    assert main([*line, str(out), "--safe-csv"]) == 0
    rows = list(csv.reader(io.StringIO(out.read_text())))
    assert rows[0][:2] == ["id", "'=x"]
    assert [row[0][:2] for row in rows[1:5]] == ["'=", "'-", "'+", "'@"]
    assert main([*line, str(tmp_path / "out.jsonl"), "--safe-csv"]) == 2
    assert "--safe-csv is for CSV" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1", "'=1"), ("-7", "-7"), ("+1.5e-3", "+1.5e-3"), ("-3,5", '"-3,5"'), ("-a1", "'-a1"),
        ("-e5", "'-e5"), ("@a", "'@a"), ("-", "-"), ("", ""), ("a=b", "a=b"), ("\t=1", "'\t=1"),
        (-7.5, "-7.5"), (None, '""'),
    ],
)  # fmt: skip
def test_what_is_a_formula(cell, written):
    assert csv_line([cell], safe=True) in (f"{written}\n", '""\n')
    assert csv_line([cell], safe=True).strip() == written or cell in ("", None)


def test_reasons_in_the_file_of_rejected_rows_are_no_formulas(tmp_path):
    path, out = tmp_path / "a.csv", tmp_path / "rejects.csv"
    path.write_text("=a,y\n" + "".join(f"{k},{k}\n" for k in range(60)) + "no number,1\n")
    assert (
        main(["fit", str(path), "--target=y", f"--model={tmp_path / 'm'}", f"--rejects={out}"]) == 0
    )
    assert list(csv.reader(io.StringIO(out.read_text())))[1][2].startswith("'=a is 'no number'")
