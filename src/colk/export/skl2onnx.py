"""Converters of colk's estimators for skl2onnx, which can then convert whole pipelines."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.export.formula import Formula, read
from colk.export.onnx import OPSET, add_graph, labels_of, output_names

__all__ = ["convert_pipeline", "register_converters"]


class _ContainerNodes:
    """Nodes of a graph of skl2onnx."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def constant(self, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name: str = self.scope.get_unique_variable_name("c")
        self.container.initializers.append(numpy_helper.from_array(values, name))
        return name

    def add(
        self, operator: str, inputs: list[str], output: str | None = None, spare: int = 0, **of: Any
    ) -> str:
        unique = self.scope.get_unique_variable_name
        name: str = output or unique("v")
        names = [name, *(unique("v") for _ in range(spare))]
        node = self.scope.get_unique_operator_name(operator)
        self.container.add_node(operator, inputs, names, name=node, op_version=OPSET, **of)
        return name


def register_converters() -> None:
    """Register colk's estimators with skl2onnx, so that it converts pipelines with them.

    Points must be doubles (`DoubleTensorType`). For a classifier `zipmap` must be off, because ONNX
    dictionaries have single precision. `to_onnx` sets both.

    Examples
    --------
    >>> from colk.export import register_converters
    >>> register_converters()
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("pipelines need skl2onnx: pip install 'colk[onnx]'") from error
    from colk.estimators import (
        COLKClassifier,
        COLKQuantileRegressor,
        COLKRegressor,
        KernelCompressor,
    )

    options = {"zipmap": [True, False, "columns"], "nocl": [True, False]}
    for kind in (COLKRegressor, COLKQuantileRegressor, COLKClassifier, KernelCompressor):
        classifies = kind is COLKClassifier
        update_registered_converter(
            kind,
            f"Colk{kind.__name__}",
            _shape_of_labels if classifies else _shape_of_values,
            _convert,
            overwrite=True,
            options=options if classifies else None,
        )


def _label_type(formula: Formula) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    kinds = {"O": StringTensorType, "i": Int64TensorType, "f": DoubleTensorType}
    return kinds[labels_of(formula).dtype.kind]([None])


def _shape_of_values(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    formula = read(operator.raw_operator)
    if formula.classes is None:
        operator.outputs[0].type = DoubleTensorType([None, formula.n_outputs])
    else:
        operator.outputs[0].type = _label_type(formula)


def _shape_of_labels(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    formula = read(operator.raw_operator)
    operator.outputs[0].type = _label_type(formula)
    operator.outputs[1].type = DoubleTensorType([None, None])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of an estimator to that of its pipeline, in which values are a column."""
    names = [output.full_name for output in operator.outputs]
    formula = replace(read(operator.raw_operator), is_vector=False)
    add_graph(formula, _ContainerNodes(scope, container), operator.inputs[0].full_name, names)


def convert_pipeline(pipeline: Any) -> Any:
    """Return a pipeline as one graph, with the outputs of its last step.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted pipeline of scikit-learn that ends in an estimator of this package.
    """
    register_converters()
    from onnx import TensorProto, helper, numpy_helper
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType
    from sklearn.base import ClassifierMixin

    last = pipeline.steps[-1][1]
    formula = read(last)
    model = convert_sklearn(
        pipeline,
        initial_types=[("X", DoubleTensorType([None, pipeline.n_features_in_]))],
        target_opset={"": OPSET, "ai.onnx.ml": 3},
        options={id(last): {"zipmap": False}} if isinstance(last, ClassifierMixin) else None,
    )
    graph, wanted = model.graph, output_names(formula)
    axis = numpy_helper.from_array(np.array([1], dtype=np.int64), "axis_of_values")
    for output, name in zip(graph.output, wanted, strict=False):
        if formula.classes is None and formula.is_vector:
            graph.initializer.append(axis)
            graph.node.append(helper.make_node("Squeeze", [output.name, axis.name], [name]))
            value = helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None])
            output.CopyFrom(value)
        elif output.name != name:
            graph.node.append(helper.make_node("Identity", [output.name], [name]))
            output.name = name
    return model
