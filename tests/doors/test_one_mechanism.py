"""One decision has one mechanism: no rule of a fit or of a stream exists twice in the sources."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import colk

FOLDER = Path(colk.__file__).parent


@cache
def trees():
    """Return the syntax tree of each source, by its path within the package."""
    return {
        str(path.relative_to(FOLDER)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.rglob("*.py"))
    }


def nodes(kind):
    """Yield each node of a kind, with the path of its source."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, kind):
                yield path, node


def names_in(node):
    """Return the names of an expression: `Mean` of `Mean`, `risks.Mean` and `(Mean, CVaR)`."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


# `reference/` says again what a class computes.
BESIDE = ("reference/",)
# A class of River has the name of the estimator that it stands for.
OF_RIVER = {"COLKClassifier", "COLKQuantileRegressor", "COLKRegressor", "DriftDetector"}


def classes():
    """Return the sources of each public class, by its name."""
    found = defaultdict(set)
    for path, node in nodes(ast.ClassDef):
        if not node.name.startswith("_") and not path.startswith(BESIDE):
            found[node.name].add(path)
    return found


@pytest.mark.xfail(strict=True, reason="RowSample, Record, Block, Rows, Feed, Choice, LeftOut, …")
def test_a_name_stands_for_one_class():
    shared = {name: paths for name, paths in classes().items() if len(paths) > 1}
    assert {name: paths for name, paths in shared.items() if name not in OF_RIVER} == {}


# -- samples ----------------------------------------------------------------------------------


# Former ways to draw the rows of a fit; at most the one in `model/` stays.
FORMER_SAMPLES = {"RowSample", "sample_rows", "stratified_rows"}


def draws_a_sample(node):
    """Whether a class keeps the rows with the smallest random numbers."""
    called = names_in(node)
    return "argpartition" in called and bool({"uniform", "random_sample"} & called)


@pytest.mark.xfail(
    strict=True, reason="estimators, batches, tables and partitions draw differently"
)
def test_one_rule_draws_the_sample_of_a_fit():
    homes = {
        path
        for path, node in nodes(ast.ClassDef | ast.FunctionDef)
        if not path.startswith((*BESIDE, "_engine/"))
        and (node.name in FORMER_SAMPLES or draws_a_sample(node))
    }
    assert len(homes) == 1, homes


# -- solvers ----------------------------------------------------------------------------------

# Former solvers, as classes, functions or modules; the one that stays has another name or place.
FORMER_SOLVERS = {"PassNewton", "sum_solver", "newton_solver"}


@pytest.mark.xfail(strict=True, reason="in memory, by sums, and in passes over a file")
def test_one_solver_finds_weights_on_given_atoms():
    named = {path for path, node in nodes(ast.ClassDef) if node.name in FORMER_SOLVERS}
    former = named | {path for path in trees() if Path(path).stem in FORMER_SOLVERS}
    assert len(former) <= 1, former


@pytest.mark.xfail(strict=True, reason="Terms, RoundedTerms, SumObjective and RowTerms")
def test_one_class_smooths_an_objective():
    former = {"Terms", "RoundedTerms", "SumObjective", "RowTerms"} & classes().keys()
    assert len(former) <= 1, former


# -- streams ----------------------------------------------------------------------------------


# Words in the names of methods that decide whether losses rose.
RISES = {"rises", "rose", "risen", "changed", "drifted"}


def judges_losses(node):
    """Whether a class decides by losses that they rose."""
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    asks = any(RISES & set(method.name.split("_")) for method in methods)
    return asks or any(method.name == "take" and len(method.body) > 2 for method in methods)


@pytest.mark.xfail(strict=True, reason="LossStatistics, Contest and DriftDetector decide alone")
def test_one_class_decides_whether_losses_rose():
    homes = {
        f"{path}: {node.name}"
        for path, node in nodes(ast.ClassDef)
        if path.startswith(("_engine/", "learners/drift", "recipe/", "model/", "trackers"))
        and judges_losses(node)
    }
    assert len(homes) == 1, homes


def test_one_class_keeps_the_rows_of_a_stream_until_the_choice():
    homes = {
        path
        for path, node in nodes(ast.Call)
        if isinstance(node.func, ast.Name)
        and node.func.id == "KeptSamples"
        and not path.startswith("selection/")
    }
    assert homes == {"model/stream.py"}


@pytest.mark.xfail(strict=True, reason="four mixtures of functions beside f")
def test_one_class_mixes_functions_by_their_losses():
    former = {"ExpertMixture", "RiskCompanion", "PriorSearch", "Contest"} & classes().keys()
    assert len(former) <= 1, former


# -- fits -------------------------------------------------------------------------------------


def test_one_function_leads_a_fit():
    """Only the fit of `model/` calls the polish, and what may follow it."""
    steps = {"final_polish", "polish_all_rows", "polish_groups", "solve_by_sums"}
    callers = {
        path.split("/")[0]
        for path, node in nodes(ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id in steps
    }
    assert callers - {"rkhs"} == {"model"}, callers
