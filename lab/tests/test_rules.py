"""Each rule that `rules` switches off has the constants that it names."""

import pytest

from colk_lab.tables.rule_list import RULES
from colk_lab.tables.rule_tasks import check_not_a_default, fit_score, switched


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_its_constants_exist(rule):
    with switched(rule.changes):
        pass


def test_a_rule_is_off_inside_and_on_again_after():
    from colk.model import growth

    before = growth._ALL
    with switched({"colk.model.growth:_ALL": 0}):
        assert growth._ALL == 0
    assert before == growth._ALL > 0


def test_a_constant_that_is_a_default_of_a_parameter_is_refused(tmp_path, monkeypatch):
    (tmp_path / "with_default.py").write_text("MOST = 8\n\ndef f(most=MOST): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit, match="default of a parameter"):
        check_not_a_default("with_default", "MOST")


def test_a_fit_without_metrics_differs():
    without = {"colk.selection.race:_with_metrics": "call:no list"}
    found = [fit_score(changes, "rotated features", 0)["loss"] for changes in ({}, without)]
    assert found[0] != found[1]
