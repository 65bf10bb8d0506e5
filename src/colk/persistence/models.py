"""Which classes of models a file may hold, and how each is taken apart and put together.

A family says how: `pack` returns what its model is made of, `restore` makes the model of it and
refuses what does not fit. To let files hold another class, give it a line in `FAMILIES`.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from colk.persistence import (
    conformal,
    estimators,
    expansions,
    learners,
    online,
    pipelines,
    polished,
    selection,
    tabular,
)
from colk.persistence.memory import Memory

__all__ = ["FAMILIES", "Memory", "pack", "restore", "tag_of"]


class Family(NamedTuple):
    """Where classes live, and how their models are packed and restored."""

    home: str
    pack: Callable[[Any], dict[str, Any]]
    restore: Callable[[type[Any], dict[str, Any], Memory], Any]


_EXPANSION = Family("colk.rkhs.expansion", expansions.pack, expansions.restore)
_AFFINE = Family("colk.rkhs.interop", expansions.pack_affine, expansions.restore_affine)
_LEARNER = Family("colk.learners", learners.pack, learners.restore)
_EVALUATOR = Family("colk.rl", learners.pack, learners.restore)
_ESTIMATOR = Family("colk.estimators", estimators.pack, estimators.restore)
_SCALE = Family("colk.estimators.targets", estimators.pack_scale, estimators.restore_scale)
_RANDOM = Family("numpy.random", estimators.pack_random, estimators.restore_random)
_RIVER = Family("colk.river", online.pack, online.restore)
_RUNNING = Family("colk.river.scale", online.pack_scale, online.restore_scale)
_RACE = Family("colk.selection", selection.pack_race, selection.restore_race)
_KEPT = Family("colk.selection", selection.pack_kept, selection.restore_kept)
_POLISHED = Family("colk.rkhs.polishing", polished.pack, polished.restore)
_INTERVAL = Family("colk.conformal", conformal.pack_interval, conformal.restore_interval)
_CONFORMAL = Family("colk.conformal", conformal.pack, conformal.restore)
_RIVER_CONFORMAL = Family("colk.river", conformal.pack_river, conformal.restore_river)
_TABULAR = Family("colk.tabular", tabular.pack, tabular.restore)
_SCALER = Family("sklearn.preprocessing", pipelines.pack_scaler, pipelines.restore_scaler)
_PIPELINE = Family("sklearn.pipeline", pipelines.pack_pipeline, pipelines.restore_pipeline)
_COMPRESSOR = Family("colk.estimators", pipelines.pack_compressor, pipelines.restore_compressor)
_CERTIFICATE = Family(
    "colk.rkhs.compression", pipelines.pack_certificate, pipelines.restore_certificate
)
_MACHINE = Family("sklearn.svm", pipelines.pack_unfitted, pipelines.restore_unfitted)
_RIDGE = Family("sklearn.kernel_ridge", pipelines.pack_unfitted, pipelines.restore_unfitted)

FAMILIES: dict[str, Family] = {
    "KernelExpansion": _EXPANSION,
    "Affine": _AFFINE,
    "COLK": _LEARNER,
    "POLK": _LEARNER,
    "NewtonCOLK": _LEARNER,
    "BSGD": _LEARNER,
    "CompositionalBSGD": _LEARNER,
    "NPBSGD": _LEARNER,
    "NORMA": _LEARNER,
    "DoublySGD": _LEARNER,
    "RandomFeatureSGD": _LEARNER,
    "SCGD": _LEARNER,
    "AcceleratedSCGD": _LEARNER,
    "NASA": _LEARNER,
    "PolicyEvaluator": _EVALUATOR,
    "KernelTD": _EVALUATOR,
    "KernelLSTD": _EVALUATOR,
    "ResidualGradient": _EVALUATOR,
    "TDC": _EVALUATOR,
    "COLKRegressor": _ESTIMATOR,
    "COLKClassifier": _ESTIMATOR,
    "COLKQuantileRegressor": _ESTIMATOR,
    "Race": _RACE,
    "KeptSamples": _KEPT,
    "Polished": _POLISHED,
    "AdaptiveInterval": _INTERVAL,
    "ConformalRegressor": _CONFORMAL,
    "TargetScale": _SCALE,
    "RandomState": _RANDOM,
    "StandardScaler": _SCALER,
    "Pipeline": _PIPELINE,
    "KernelCompressor": _COMPRESSOR,
    "Compression": _CERTIFICATE,
    "SVR": _MACHINE,
    "NuSVR": _MACHINE,
    "SVC": _MACHINE,
    "NuSVC": _MACHINE,
    "KernelRidge": _RIDGE,
    "river.COLKRegressor": _RIVER,
    "river.COLKClassifier": _RIVER,
    "river.ConformalRegressor": _RIVER_CONFORMAL,
    "river.RunningScale": _RUNNING,
    "TableModel": _TABULAR,
}


def _name(tag: str) -> str:
    return tag.rpartition(".")[2]


def tag_of(value: Any) -> str | None:
    """Return the tag of a model's class, None where files do not know it.

    Examples
    --------
    >>> from colk import COLK
    >>> from colk.kernels import Gaussian
    >>> tag_of(COLK(Gaussian(0.5)))
    'COLK'
    """
    for tag, family in FAMILIES.items():
        home = sys.modules.get(family.home)
        if _name(tag) == type(value).__name__ and getattr(home, _name(tag), None) is type(value):
            return tag
    return None


def pack(tag: str, model: Any) -> dict[str, Any]:
    """Return what a model is made of."""
    return FAMILIES[tag].pack(model)


def restore(tag: str, parts: dict[str, Any], memory: Memory) -> Any:
    """Return the model that is made of these parts."""
    family = FAMILIES[tag]
    kind = getattr(import_module(family.home), _name(tag))
    return family.restore(kind, parts, memory)
