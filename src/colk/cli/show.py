"""`colk show`: describe a model."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.interrupts import interruptible
from colk.cli.options import add_command, need
from colk.cli.paths import check_file
from colk.cli.relevance import tell_relevance
from colk.kernels import Mixed

if TYPE_CHECKING:
    from colk.tabular import TableModel

__all__ = ["add_parser"]

_DESCRIPTION = """\
Print the task, the columns, the settings, the number of atoms and the error of a model.

    colk show houses.colk --plot houses.png
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser of `colk`."""
    parser = add_command(commands, "show", _DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="file of the model")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw the function along each feature into this .png, .svg or .pdf file",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from colk.cli.models import load_model, load_table_model
    from colk.tabular import TableModel

    if arguments.plot is not None:
        need("show --plot", "matplotlib")
        check_file(arguments.plot, "--plot")
        if arguments.plot.suffix not in (".png", ".svg", ".pdf"):
            raise ValueError(f"--plot {arguments.plot}: name a .png, .svg or .pdf file")
    model = load_model(arguments.model)
    told = _table(model) if isinstance(model, TableModel) else _any(model)
    for name, text in told.items():
        print(f"{name:<11}{text}")
    if arguments.plot is not None:
        from colk.cli.figures import features
        from colk.cli.pages.drawing import draw
        from colk.persistence.atomic import write_whole

        paint, n_rows = features(load_table_model(arguments.model))
        pictures = draw(paint, 9.0, 0.6 + 2.4 * n_rows, arguments.plot.suffix[1:])
        with interruptible():
            write_whole(arguments.plot, pictures)
        print(f"{'plot':<11}{arguments.plot}")


def _table(model: "TableModel") -> dict[str, str]:
    from colk.cli.summary import error_lines, kernel_of
    from colk.tabular.record import RunRecord

    told = {}
    if "record" in model.notes or "quality" in model.notes:
        told = error_lines(model, RunRecord(model.notes.get("record")))
    told |= {"task": model.task, "target": model.target}
    if model.task == "regression":
        told["target"] += f" (mean {model.target_center:.4g}, deviation {model.target_unit:.4g})"
    else:
        told["labels"] = ", ".join(model.labels)
    told["features"] = ", ".join(_features(model))
    told |= model.description() | {"kernel": kernel_of(model)}
    scales = _scales(model)
    if scales:
        told["scales"] = scales
    told |= tell_relevance(model.feature_relevance, model.relevance, model.columns)
    if model.path is not None:
        told["path"] = model.path.told
    told |= {
        "rows": f"{model.rows:,}",
        "atoms": str(model.n_atoms),
        "norm": f"{model.function.norm():.6g}",
        "risk state": _numbers(model.inner_estimate),
    }
    return told


def _features(model: "TableModel") -> list[str]:
    """Return each feature with its mean and deviation, or the number of its values."""
    middle = dict(zip(model.columns, zip(model.center, model.unit, strict=True), strict=True))
    found = []
    for name in model.features:
        mean, unit = middle.get(name, (0.0, 0.0))
        years = " years since 2000" if name in model.dates else ""
        text = f"{name} ({mean:.4g} ± {unit:.4g}{years})"
        if name in model.categorical:
            text = f"{name} ({len(model.category_values(name))} values)"
        found.append(text)
    return found


def _scales(model: "TableModel") -> str:
    """Return the bandwidth of each column in deviations, and the weights of categories, by name."""
    kernel: Any = model.kernel
    coded = kernel.categorical if isinstance(kernel, Mixed) else ()
    weights = kernel.weights if isinstance(kernel, Mixed) else ()
    numbers = getattr(kernel.kernel if isinstance(kernel, Mixed) else kernel, "bandwidth", None)
    names = [name for place, name in enumerate(model.columns) if place not in coded]
    if not isinstance(numbers, tuple) or len(numbers) != len(names):
        return ""
    ordered = sorted(zip(numbers, names, strict=True))
    found = ", ".join(f"{name} {width:.3g}" for width, name in ordered)
    told = f"{found} (deviations over which the function changes, the shortest first)"
    if isinstance(weights, tuple) and len(weights) == len(coded):
        of = zip(coded, weights, strict=True)
        told += "; categories " + ", ".join(f"{model.columns[k]} {w:.3g}" for k, w in of)
    return told


def _any(model: Any) -> dict[str, str]:
    """Describe a function, a learner or an estimator."""
    told = {"class": f"{type(model).__module__}.{type(model).__name__}", "settings": repr(model)}
    for name in ("steps", "n_steps_", "feature_names_in_", "inner_estimate", "inner_estimate_"):
        if hasattr(model, name):
            told[name.strip("_").replace("_", " ")[:10]] = _numbers(getattr(model, name))
    function = model
    for name in ("function", "function_"):
        function = getattr(function, name, function)
    if getattr(model, "relevance_", None) is not None:
        names = [name for name, _ in model.encoder_.columns]
        features = dict(zip(names, model.feature_relevance_.tolist(), strict=True))
        told |= tell_relevance(features, model.relevance_, model.encoder_.names)
    if hasattr(function, "norm"):
        told |= {"atoms": str(function.n_atoms), "norm": f"{function.norm():.6g}"}
    return told


def _numbers(values: Any) -> str:
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, list):
        return str(listed)
    return ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in listed) or "none"
