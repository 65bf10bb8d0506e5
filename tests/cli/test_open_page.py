"""`--open` opens the page at the end."""

import webbrowser

from colk.cli.paths import open_page


def test_the_page_is_opened_by_its_full_path(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    open_page(tmp_path / "report.html")
    assert opened == [(tmp_path / "report.html").resolve().as_uri()]
    assert capsys.readouterr().err == ""


def test_without_a_browser_the_path_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    open_page(tmp_path / "report.html")
    assert str(tmp_path / "report.html") in capsys.readouterr().err
