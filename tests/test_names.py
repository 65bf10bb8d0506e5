"""A class name stands for one thing; two classes share a name only for a reason given here."""

import ast
from collections import defaultdict
from pathlib import Path

import colk

FOLDER = Path(colk.__file__).parent
LAB = Path(__file__).parents[1] / "lab" / "src" / "colk_lab"

# Names of several classes, with the reason.
SHARED = {
    "COLK": "`colk.reference.COLK` is the specification of the learner",
    "COLKClassifier": "River: the classes of `colk.river` have the names of their models",
    "COLKQuantileRegressor": "River: the classes of `colk.river` have the names of their models",
    "COLKRegressor": "River: the classes of `colk.river` have the names of their models",
    "ConformalClassifier": "River: the classes of `colk.river` have the names of their models",
    "ConformalRegressor": "River: the classes of `colk.river` have the names of their models",
    "Task": "that of `colk_lab` runs in a process, that of the engine in a thread",
    "DriftDetector": "River: the detector of `colk.learners` with the base class of River",
}


def test_no_two_classes_share_a_name():
    places = defaultdict(list)
    for path in sorted([*FOLDER.rglob("*.py"), *LAB.rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    shared = {name: found for name, found in places.items() if len(found) > 1}
    unexplained = {name: found for name, found in shared.items() if name not in SHARED}
    assert not unexplained, f"rename one of each, or give a reason in {Path(__file__).name}"
    assert SHARED.keys() <= shared.keys(), "a reason is no longer needed"
