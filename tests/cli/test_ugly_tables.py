"""Files as spreadsheets, databases and instruments write them are read as they are."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from colk.tabular.reading import Columns, Source

N = 60
SIZES = np.random.default_rng(0).uniform(0.5, 10.0, N).round(2).tolist()
PRICES = np.round(1000.0 + 400.0 * np.sin(SIZES) + np.arange(N), 2).tolist()
CITIES = [["Köln", "Zürich", "Málaga"][i % 3] for i in range(N)]
DAYS = [datetime(2024, 1, 1) + timedelta(days=7 * i, hours=i % 24) for i in range(N)]


def german(number):
    return f"{number:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def table(line, head="", names="size{0}city{0}when{0}price", mark=",", end="\n"):
    """Return a table whose rows are written by `line`."""
    rows = [line(*row) for row in zip(SIZES, CITIES, DAYS, PRICES, strict=True)]
    return head + end.join([names.format(mark), *rows]) + end


def excel(s, c, d, p):
    return f"{german(s)};{c};{d:%d.%m.%Y};{german(p)}"


UGLY = {
    "Excel, German": (
        table(excel, "sep=;\r\n", mark=";", end="\r\n").encode("cp1252"),
        "--encoding cp1252 --delimiter ';' --decimal , --header 2",
    ),
    "Excel, Unicode text": (
        table(lambda s, c, d, p: f"{s}\t{c}\t{d:%d/%m/%Y %H:%M}\t{p}", mark="\t").encode("utf-16"),
        "--encoding utf-16 --delimiter tab",
    ),
    "money in quotes": (
        table(lambda s, c, d, p: f'"{s}","{c}","{d:%m/%d/%Y}","${p:,.2f}"', "\ufeff").encode(),
        "",
    ),
    "a database": (
        table(lambda s, c, d, p: f"{s}|{c}|{d.isoformat()}Z|{p}", mark="|").encode(),
        "--delimiter '|'",
    ),
    "a report with a title": (
        table(
            lambda s, c, d, p: f"{s},{c},{d:%Y-%m-%d},{p}", "Sales, all\nMade 2026-11-19\n\n"
        ).encode(),
        "--header 4",
    ),
    "pandas with its index": (
        table(
            lambda s, c, d, p: f"{SIZES.index(s)},{s},{c},{d},{p},", names=",size,city,when,price,"
        ).encode(),
        "",
    ),
    "months as words": (
        table(lambda s, c, d, p: f"{s},{c},{d:%d-%b-%Y},{p}").encode(),
        "",
    ),
    "American dates": (
        table(lambda s, c, d, p: f'{s},{c},"{d:%B %d, %Y %I:%M %p}",{p} USD').encode(),
        "",
    ),
    "French": (
        table(
            lambda s, c, d, p: (
                f"{german(s)};{c};{d:%d/%m/%y};"
                + f"{p:,.2f} €".replace(",", "\u202f").replace(".", ",")
            ),
            mark=";",
        ).encode(),
        "--delimiter ';' --decimal ,",
    ),
    "decimal commas in quotes": (
        table(lambda s, c, d, p: f'"{german(s)}",{c},{d:%Y-%m-%d},"{german(p)}"').encode(),
        "--decimal ,",
    ),
    "old Mac": (
        table(lambda s, c, d, p: f"{s};{c};{d:%Y/%m/%d};{p}", mark=";", end="\r").encode("latin-1"),
        "--encoding cp1252 --delimiter ';'",
    ),
    "percent": (
        table(lambda s, c, d, p: f"{s} %,{c},{d:%Y-%m-%d},{p}").encode(),
        "",
    ),
}


@pytest.mark.parametrize("name", UGLY)
def test_an_ugly_file_is_read(colk, tmp_path, name):
    data, found = UGLY[name]
    path = tmp_path / "ugly.csv"
    path.write_bytes(data)
    with Source([str(path)]) as source:
        first = source.first_rows
        assert first.dates == {"when"}
        wanted = Columns(("size", "price"), ("city",), (), ("when",), (), tuple(first.month_first))
        (rows,) = source.rows(wanted)
    assert rows.rejects == []
    assert rows.columns["city"].tolist() == CITIES
    np.testing.assert_allclose(rows.columns["size"], SIZES, rtol=1e-12)
    np.testing.assert_allclose(rows.columns["price"], PRICES, rtol=1e-12)
    days = [(each - datetime(1970, 1, 1)).total_seconds() for each in DAYS]
    np.testing.assert_allclose(rows.columns["when"], days, atol=86400.0)
    code, out, error = colk(
        "fit", path, "--target", "price", "--model", tmp_path / "m", "--max-atoms", 9, "--no-polish"
    )
    assert (code, error) == (0, "")
    assert (f"found: {found}\n" in out) if found else ("found:" not in out)
    assert "60 learned, 0 rejected" in out
    code, out, _ = colk("predict", tmp_path / "m", path)
    assert code == 0
    assert len(out.splitlines()) == N + 1


def test_rows_are_not_a_feature(colk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(UGLY["pandas with its index"][0])
    _, out, _ = colk("fit", path, "--target", "price", "--model", tmp_path / "m", "--no-polish")
    assert "column 1  numbers         0 %    left out: row numbers" in out


def test_two_columns_of_one_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,a,a (2),\n1,2,3,\n")
    with Source([str(path)]) as source:
        assert list(source.kinds) == ["a", "a (3)", "a (2)", "column 4"]


def test_the_line_of_the_names_can_be_given(colk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("unit,m,EUR\nsize,age,price\n" + "1,2,3\n2,3,4\n" * 20)
    fit = ("fit", path, "--target", "price", "--model", tmp_path / "m", "--no-polish")
    assert "has no column 'price'" in colk(*fit)[2]
    code, out, _ = colk(*fit, "--header", 2)
    assert code == 0
    assert "40 learned, 0 rejected" in out


def test_letters_that_come_late(tmp_path):
    """The first two blocks are ASCII, so they do not show the encoding."""
    path = tmp_path / "t.csv"
    lines = ["city,size\n", *["Bonn,1\n"] * 300_000, *["Köln,2\n"] * 20]
    path.write_bytes("".join(lines).encode("cp1252"))
    with Source([str(path)]) as source:
        assert source.found["encoding"] == "cp1252"
        assert sum(len(rows.rejects) for rows in source.rows(Columns(("size",), ("city",)))) == 0


def test_advice_names_options(colk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2\n3,4\n")
    _, _, error = colk("fit", path, "--target", "y", "--model", tmp_path / "m")
    assert "set --columns to their names" in error


@pytest.mark.parametrize("text", ["12-34-5678", "99.99.2020", "31 Foo 2020", "2026-13"])
def test_what_is_no_date_is_text(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text("code,size\n" + f"{text},1\n" * 20)
    with Source([str(path)]) as source:
        assert source.first_rows.dates == set()
