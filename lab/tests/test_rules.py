"""Each rule that `rules` switches off has the constants that it names."""

import pytest

from colk_lab.tables.rule_list import RULES
from colk_lab.tables.rule_tasks import fit_score, switched


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_its_constants_exist(rule):
    with switched(rule.changes):
        pass


def test_a_rule_is_off_inside_and_on_again_after():
    from colk.model import growth

    changes = {"colk.model.growth:_STEPS": ()}
    before = growth._STEPS
    with switched(changes):
        assert growth._STEPS == ()
    assert before == growth._STEPS


def test_a_fit_without_metrics_differs():
    without = {"colk.selection.race:_with_metrics": "call:no list"}
    found = [fit_score(changes, "rotated features", 0)["loss"] for changes in ({}, without)]
    assert found[0] != found[1]
