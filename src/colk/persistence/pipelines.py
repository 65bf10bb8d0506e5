"""What stands around an estimator in files: scalers, pipelines, compressed machines."""

from typing import Any

import numpy as np

from colk._validation import check_number, check_vector
from colk.errors import FileFormatError
from colk.persistence.estimators import is_labels, is_names
from colk.persistence.memory import Memory
from colk.persistence.parts import take, whole
from colk.rkhs.expansion import KernelExpansion

__all__ = [
    "pack_certificate",
    "pack_compressor",
    "pack_pipeline",
    "pack_scaler",
    "pack_unfitted",
    "restore_certificate",
    "restore_compressor",
    "restore_pipeline",
    "restore_scaler",
    "restore_unfitted",
]

_MOST = 2**53


def _split(model: Any, known: set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return parameters, and those attributes of a fitted model that files know."""
    parameters = model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name in known}
    return parameters, fitted


# -- scalers ---------------------------------------------------------------------------------

_VECTORS = ("mean_", "var_", "scale_")
_OF_SCALERS = {*_VECTORS, "n_samples_seen_", "n_features_in_", "feature_names_in_"}


def pack_scaler(scaler: Any) -> dict[str, Any]:
    """Return the parameters of a StandardScaler, and its means and deviations."""
    parameters, fitted = _split(scaler, _OF_SCALERS)
    return {"parameters": parameters, "fitted": fitted}


def restore_scaler(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the scaler, with a finite number for each feature."""
    parameters, fitted = take(parts, "parameters", "fitted")
    scaler = kind(**parameters)
    if not fitted:
        return scaler
    names = fitted.pop("feature_names_in_", None)
    take(fitted, *_OF_SCALERS - {"feature_names_in_"})
    p = whole(fitted["n_features_in_"], 1, _MOST, "the number of features")
    for name in _VECTORS:
        if fitted[name] is not None:
            fitted[name] = check_vector(fitted[name], p, name).copy()
    fitted["n_samples_seen_"] = _check_counts(fitted["n_samples_seen_"], p)
    if names is not None:
        fitted["feature_names_in_"] = _check_names(names, p)
    vars(scaler).update(fitted)
    return scaler


def _check_counts(seen: Any, n_features: int) -> Any:
    """Return how many samples were seen, as a scalar of NumPy's or as one for each feature."""
    counts = np.array(seen)
    if counts.shape not in ((), (n_features,)) or counts.dtype not in (np.int64, np.float64):
        raise FileFormatError("the samples that a scaler has seen are not counted")
    if not ((counts >= 0) & (counts <= _MOST)).all():
        raise FileFormatError("the samples that a scaler has seen are beyond all counting")
    return counts[()]


def _check_names(names: Any, n_features: int) -> Any:
    if not is_names(names) or len(names) != n_features:
        raise FileFormatError(f"there are no names for {n_features} features")
    return names


# -- pipelines -------------------------------------------------------------------------------


def pack_pipeline(pipeline: Any) -> dict[str, Any]:
    """Return the steps of a pipeline."""
    if pipeline.memory is not None:
        raise TypeError("a pipeline with a cache cannot be saved; set memory=None")
    return {"steps": list(pipeline.steps), "verbose": pipeline.verbose}


def restore_pipeline(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the pipeline of scalers and an estimator."""
    steps, verbose = take(parts, "steps", "verbose")
    if not isinstance(steps, list) or not steps or type(verbose) is not bool:
        raise FileFormatError("a pipeline has no steps")
    for step in steps:
        if not isinstance(step, tuple) or len(step) != 2 or not isinstance(step[0], str):
            raise FileFormatError("a step of a pipeline is no name and model")
        if step[1] not in (None, "passthrough") and not hasattr(step[1], "get_params"):
            raise FileFormatError(f"{step[0]!r} of a pipeline is no estimator")
    return kind(steps, verbose=verbose)


# -- compressed machines ---------------------------------------------------------------------

_OF_COMPRESSORS = {
    "certificate_",
    "intercept_",
    "n_features_in_",
    "classes_",
    "feature_names_in_",
}


def pack_unfitted(machine: Any) -> dict[str, Any]:
    """Return the parameters of an estimator of scikit-learn's that has not been fitted."""
    if hasattr(machine, "n_features_in_"):
        raise TypeError(
            f"a fitted {type(machine).__name__} cannot be saved; save from_sklearn(model) of it"
        )
    return {"parameters": machine.get_params(deep=False)}


def restore_unfitted(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the estimator; it checks its parameters when it is fitted."""
    (parameters,) = take(parts, "parameters")
    return kind(**parameters)


def pack_compressor(compressor: Any) -> dict[str, Any]:
    """Return the parameters of a KernelCompressor and the small function, not the large one."""
    from sklearn.base import clone
    from sklearn.frozen import FrozenEstimator

    parameters, fitted = _split(compressor, _OF_COMPRESSORS)
    machine = parameters["estimator"]
    is_frozen = isinstance(machine, FrozenEstimator)
    parameters["estimator"] = clone(machine.estimator if is_frozen else machine)
    return {"parameters": parameters, "fitted": fitted, "is_frozen": is_frozen}


def restore_compressor(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the compressor without the original that it has compressed."""
    from sklearn.base import is_classifier
    from sklearn.frozen import FrozenEstimator

    from colk.rkhs.compression import Compression

    parameters, fitted, is_frozen = take(parts, "parameters", "fitted", "is_frozen")
    compressor = kind(**parameters)
    if not hasattr(compressor.estimator, "get_params") or type(is_frozen) is not bool:
        raise FileFormatError("a KernelCompressor has no estimator")
    if is_frozen:
        compressor.estimator = FrozenEstimator(compressor.estimator)
    if not fitted:
        return compressor
    if is_classifier(compressor) != ("classes_" in fitted):
        raise FileFormatError("a KernelCompressor has labels or a classifier, but not both")
    names, classes = fitted.pop("feature_names_in_", None), fitted.pop("classes_", None)
    certificate, intercept, p = take(fitted, "certificate_", "intercept_", "n_features_in_")
    if not isinstance(certificate, Compression) or certificate.function.n_features != p:
        raise FileFormatError(f"a KernelCompressor has no function of {p!r} features")
    if isinstance(intercept, np.ndarray):
        check_vector(intercept, certificate.function.n_outputs, "the intercept")
    else:
        check_number(intercept, "the intercept")
    if names is not None:
        fitted["feature_names_in_"] = _check_names(names, p)
    if classes is not None:
        fitted["classes_"] = _check_classes(classes, compressor, certificate.function.n_outputs)
    vars(compressor).update(fitted)
    return compressor


def _check_classes(classes: Any, compressor: Any, n_outputs: int) -> Any:
    """Two classes share a function; more have one each, or one for each pair of them."""
    if not is_labels(classes):
        raise FileFormatError("a KernelCompressor has no labels")
    n = len(classes)
    expected = n * (n - 1) // 2 if compressor._is_of_pairs() else n
    if n_outputs != (1 if n == 2 else expected):
        raise FileFormatError(f"a KernelCompressor has {n_outputs} functions for {n} classes")
    return classes


def pack_certificate(certificate: Any) -> dict[str, Any]:
    """Return the compressed function, its error, and which atoms stayed."""
    names = ("function", "error", "kept", "removed")
    return {name: getattr(certificate, name) for name in names}


def restore_certificate(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the certificate."""
    function, error, kept, removed = take(parts, "function", "error", "kept", "removed")
    if not isinstance(function, KernelExpansion):
        raise FileFormatError("a certificate has no function")
    places = [_check_places(values) for values in (kept, removed)]
    return kind(function, check_number(error, "the error", at_least=0.0), *places)


def _check_places(values: Any) -> Any:
    if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.ndim != 1:
        raise FileFormatError("a certificate does not say which atoms stayed")
    return values.copy()
