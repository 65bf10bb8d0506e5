"""The scripts of the tables: each can be imported, and the documents name no others."""

import re
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("river")

import colk
from colk_lab.tables.__main__ import FOLDER, main, scripts
from colk_lab.tables.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
MODULES = {path.stem for path in FOLDER.glob("[!_]*.py")}
NAMED = re.compile(r"(?:colk_lab\.tables\.|python -m colk_lab\.tables )(\w+)")


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_script_can_be_imported(name):
    import_module(f"colk_lab.tables.{name}")


def test_every_script_is_listed_with_what_it_does(capsys):
    main([])
    printed = capsys.readouterr().out
    assert len(scripts()) > 40
    for name, said in scripts().items():
        assert said, name
        assert re.search(rf"^{name} +{re.escape(said)}$", printed, re.M)


def test_a_name_that_is_no_script_is_told():
    with pytest.raises(SystemExit, match="no script 'weather'"):
        main(["weather"])


def test_the_documents_name_scripts_that_exist():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    named = {name for page in pages for name in NAMED.findall(page.read_text("utf-8"))}
    assert len(named) > 20
    assert named - MODULES - {"NAME", "output"} == set()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.original.strip())
def test_every_mutant_changes_one_place(mutant):
    source = (Path(colk.__file__).parent / mutant.file).read_text("utf-8")
    assert source.count(mutant.original) == 1
