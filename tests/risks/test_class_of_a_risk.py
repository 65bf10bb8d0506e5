"""A risk decides with its own methods: no other room asks which risk it is."""

import ast
from pathlib import Path

import colk
from colk import risks
from colk.risks import PREDICTION_RISKS, RISKS, Risk

FOLDER = Path(colk.__file__).parent
KINDS = {
    name
    for name in risks.__all__
    if isinstance(getattr(risks, name), type) and issubclass(getattr(risks, name), Risk)
}
# The base class says what is a risk at all, where a user passes one.
NAMED = KINDS - {"Risk"}


def names_in(node):
    """Names of classes in the second argument of isinstance: a name, an attribute or a tuple."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def asked_by(node):
    """The expression with the classes that a call or a comparison asks for, or None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        return node.args[1] if node.func.id in ("isinstance", "issubclass") else None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In):
        return node.comparators[0]
    return None


def questions(tree):
    """Lines that ask whether something is a certain risk."""
    for node in ast.walk(tree):
        asked = asked_by(node)
        if asked is not None and set(names_in(asked)) & {*NAMED, "RISKS", "PREDICTION_RISKS"}:
            yield node.lineno


def test_only_risks_know_which_risk_they_are():
    found = [
        f"{path.relative_to(FOLDER)}:{line}"
        for path in sorted(FOLDER.rglob("*.py"))
        if path.parent.name != "risks"
        for line in questions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_the_search_finds_such_questions():
    asked = [
        "isinstance(risk, CVaR)",
        "isinstance(self.risk, (risks.AUC, GroupRisk))",
        "type(risk) is Mean",
        "type(risk) in RISKS.values()",
        "kind is PREDICTION_RISKS['group']",
    ]
    for line in asked:
        assert list(questions(ast.parse(line))) == [1], line
    assert list(questions(ast.parse("isinstance(risk, Risk)"))) == []
    assert {*RISKS.values(), *PREDICTION_RISKS.values()} <= {getattr(risks, n) for n in NAMED}
