"""One decision has one mechanism: no rule of a fit or of a stream exists twice in the sources."""

import ast
from functools import cache
from pathlib import Path

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
# What makes a fitted model.
DOORS = ("model/", "estimators/", "river/", "tabular/", "distributed/", "cli/")


def callers(*functions):
    """Return the sources that call one of these functions by name."""
    return {
        path
        for path, node in nodes(ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id in functions
    }


# -- samples ----------------------------------------------------------------------------------


def test_one_rule_draws_the_sample_of_a_fit():
    """Random numbers of rows decide which rows a fit draws; blocks and partitions only pass on."""
    assert callers("uniforms") == {"model/sample.py"}
    draws = {path for path, node in nodes(ast.FunctionDef) if "argpartition" in names_in(node)}
    assert {path for path in draws if path.startswith(DOORS)} <= {"model/sample.py"}


# -- solvers ----------------------------------------------------------------------------------

# Former solvers, as classes, functions or modules; the one that stays has another name or place.
FORMER_SOLVERS = {"PassNewton", "sum_solver", "newton_solver"}


def test_one_solver_finds_weights_on_given_atoms():
    named = {path for path, node in nodes(ast.ClassDef) if node.name in FORMER_SOLVERS}
    former = named | {path for path in trees() if Path(path).stem in FORMER_SOLVERS}
    assert len(former) <= 1, former


def test_one_class_smooths_an_objective():
    homes = {
        f"{path}: {node.name}"
        for path, node in nodes(ast.ClassDef)
        if not path.startswith(BESIDE)
        and any(isinstance(part, ast.FunctionDef) and part.name == "smoothed" for part in node.body)
        and path.startswith("rkhs/")
    }
    losses = "rkhs/polishing/row_losses.py: RowLosses"  # those of the objective
    assert homes == {"rkhs/polishing/objective.py: SmoothedObjective", losses}, homes


# -- streams ----------------------------------------------------------------------------------


# Words in the names of methods that decide whether losses rose.
RISES = {"rises", "rose", "risen", "changed", "drifted"}


def judges_losses(node):
    """Whether a class decides by losses that they rose."""
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    asks = any(RISES & set(method.name.split("_")) for method in methods)
    return asks or any(method.name == "take" and len(method.body) > 2 for method in methods)


def test_one_class_decides_whether_losses_rose():
    homes = {
        f"{path}: {node.name}"
        for path, node in nodes(ast.ClassDef)
        if path.startswith(("_engine/", "learners/", "model/", "tabular/"))
        and path != "learners/feature_drift.py"  # it judges features
        and judges_losses(node)
    }
    assert homes == {"learners/drift.py: DriftDetector"}, homes


def test_one_class_keeps_the_rows_of_a_stream_until_the_choice():
    homes = {path for path in callers("KeptSamples") if not path.startswith("selection/")}
    assert homes == {"model/stream.py"}


def test_one_class_mixes_functions_by_their_losses():
    """The search for λ and the contest take one function; their files say what a mixture costs."""
    homes = {
        path
        for path, node in nodes(ast.AugAssign)
        if isinstance(node.op, ast.Mult) and "exp" in names_in(node.value)
    }
    assert homes == {"_engine/fixed_share.py"}, homes


# -- fits -------------------------------------------------------------------------------------


def test_one_function_leads_a_fit():
    """Only the fit of `model/` calls the polish, and what may follow it."""
    found = callers("final_polish", "polish_all_rows", "polish_groups", "solve_by_sums")
    assert {path.split("/")[0] for path in found} - {"rkhs"} == {"model"}, found
