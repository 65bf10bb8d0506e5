"""Export models as ONNX graphs of standard operators in double precision."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._version import __version__
from colk.export.formula import Formula, read, write_kernel
from colk.export.nodes import Nodes
from colk.export.pairs import add_count
from colk.export.rows_in_onnx import ML, ML_OPSET, add_encoding
from colk.kernels.formulas import Bandwidth, Columns, scales_of

__all__ = ["OPSET", "add_graph", "labels_of", "output_names", "to_onnx"]

# The first opset in which all reductions take their axes as inputs.
OPSET = 18
_IR_VERSION = 8


class GraphWriter:
    """Writes the kernel values of all points (n, p) and all atoms (M, p), of shape (n, M)."""

    def __init__(self, nodes: Nodes, points: str, formula: Formula) -> None:
        self.nodes, self.points, self.formula = nodes, points, formula
        self._pairs: dict[str, str] = {}

    def _paired(self, operator: str) -> str:
        """Combine points (n, 1, p) with atoms (1, M, p)."""
        if operator not in self._pairs:
            axis = self.nodes.constant(np.array([1], dtype=np.int64))
            rows = self.nodes.add("Unsqueeze", [self.points, axis])
            atoms = self.nodes.constant(self.formula.atoms[None])
            self._pairs[operator] = self.nodes.add(operator, [rows, atoms])
        return self._pairs[operator]

    def _differences(self, bandwidth: Bandwidth, ignored: Columns) -> str:
        width = self.formula.atoms.shape[1]
        scales = self.nodes.constant(scales_of(bandwidth, width, ignored))
        return self.multiply(self._paired("Sub"), scales)

    def _summed(self, values: str) -> str:
        axis = self.nodes.constant(np.array([2], dtype=np.int64))
        return self.nodes.add("ReduceSum", [values, axis], keepdims=0)

    def squared_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> str:
        """Σ_k ((x_k − d_k)/c_k)²."""
        scaled = self._differences(bandwidth, ignored)
        return self._summed(self.multiply(scaled, scaled))

    def city_block_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> str:
        """Σ_k |x_k − d_k|/c_k."""
        return self._summed(self.nodes.add("Abs", [self._differences(bandwidth, ignored)]))

    def mismatch(self, columns: Columns, weights: tuple[float, ...]) -> str:
        """Σ_k w_k [x_k ≠ d_k] over these columns."""
        spread = np.zeros(self.formula.atoms.shape[1])
        spread[list(columns)] = weights
        zero = self.nodes.constant(np.array(0.0))
        is_same = self._paired("Equal")
        return self._summed(self.nodes.add("Where", [is_same, zero, self.nodes.constant(spread)]))

    def inner_product(self, ignored: Columns = ()) -> str:
        """Σ_k x_k d_k.

        It does not use MatMul, because onnxruntime fuses a scaling into it in single precision.
        """
        products = self._paired("Mul")
        if ignored:
            counted = scales_of(1.0, self.formula.atoms.shape[1], ignored)
            products = self.multiply(products, self.nodes.constant(counted))
        return self._summed(products)

    def wave(self) -> str:
        """cos(2π(Σ_k x_k d_k + phase)), computed from the fraction of a turn."""
        turns = self.add(self.inner_product(), self.nodes.constant(self.formula.phases))
        part = self.nodes.add("Sub", [turns, self.nodes.add("Round", [turns])])
        return self.nodes.add("Cos", [self.multiply(part, self.number(2.0 * np.pi))])

    def number(self, value: float) -> str:
        """Return a constant."""
        return self.nodes.constant(np.array(value, dtype=np.float64))

    def add(self, a: str, b: str) -> str:
        """Return a + b."""
        return self.nodes.add("Add", [a, b])

    def multiply(self, a: str, b: str) -> str:
        """Return a·b."""
        return self.nodes.add("Mul", [a, b])

    def power(self, a: str, exponent: float) -> str:
        """Return a to a fixed exponent."""
        return self.nodes.add("Pow", [a, self.number(exponent)])

    def exp(self, a: str) -> str:
        """Return e^a."""
        return self.nodes.add("Exp", [a])

    def sqrt(self, a: str) -> str:
        """Return √a."""
        return self.nodes.add("Sqrt", [a])

    def minimum(self, a: str, bound: float) -> str:
        """Return the smaller of a and a fixed bound."""
        return self.nodes.add("Min", [a, self.number(bound)])

    def keep(self, a: str) -> str:
        """Return the same name, because a node is computed only once."""
        return a


def add_graph(formula: Formula, nodes: Nodes, points: str, outputs: list[str]) -> None:
    """Add the nodes of a formula, from the points to outputs with these names.

    A regressor has one output: the values, of shape (n,) or (n, q). A classifier has the labels as
    its first output; a second output has probabilities (n, C), or scores if the loss has no
    probabilities.
    """
    scores = _scores(formula, nodes, points)
    if formula.classes is None:
        if formula.is_vector:
            _squeezed(nodes, scores, outputs[0])
        else:
            nodes.add("Identity", [scores], outputs[0])
        return
    index = _label_indices(formula, nodes, scores)
    nodes.add("Gather", [nodes.constant(labels_of(formula)), index], outputs[0], axis=0)
    if len(outputs) > 1:
        _add_probabilities(formula, nodes, scores, outputs[1])


def _squeezed(nodes: Nodes, values: str, output: str | None = None) -> str:
    axis = nodes.constant(np.array([1], dtype=np.int64))
    return nodes.add("Squeeze", [values, axis], output)


def _scores(formula: Formula, nodes: Nodes, points: str) -> str:
    """Add nodes for scores (n, q), in the units of the targets."""
    if len(formula.atoms) == 0:  # add an atom of weight 0, as runtimes differ on empty products
        p, q = formula.atoms.shape[1], formula.n_outputs
        formula = replace(formula, atoms=np.zeros((1, p)), weights=np.zeros((1, q)))
    if formula.shift is not None and formula.stretch is not None:
        moved = nodes.add("Sub", [points, nodes.constant(formula.shift)])
        points = nodes.add("Div", [moved, nodes.constant(formula.stretch)])
    if formula.metric is not None:
        points = nodes.add("Gemm", [points, nodes.constant(formula.metric)])
    writer = GraphWriter(nodes, points, formula)
    values = write_kernel(formula.kernel, writer)
    # The value of a constant kernel is one number; adding zeros makes a row for each point.
    nothing = nodes.constant(np.zeros(formula.atoms.shape[::-1]))
    rows = nodes.add("MatMul", [points, nothing])
    weights = nodes.constant(formula.weights * formula.unit)
    totals = nodes.add("MatMul", [writer.add(values, rows), weights])
    scores = writer.add(totals, nodes.constant(formula.center))
    if not formula.is_sorted:
        return scores
    size = nodes.constant(np.array([formula.n_outputs], dtype=np.int64))
    return nodes.add("TopK", [scores, size], spare=1, axis=1, largest=0, sorted=1)


def _label_indices(formula: Formula, nodes: Nodes, scores: str) -> str:
    """Add nodes for the indices of the labels (n,)."""
    if formula.classes is not None and formula.count is not None:
        scores = add_count(nodes, scores, len(formula.classes), formula.count)
    if formula.n_outputs > 1:
        return nodes.add("ArgMax", [scores], axis=1, keepdims=0)
    zero = nodes.constant(np.array(0.0))
    positive = nodes.add("Greater", [_squeezed(nodes, scores), zero])
    return nodes.add("Cast", [positive], to=7)  # int64


def labels_of(formula: Formula) -> NDArray[Any]:
    """Return labels as ONNX stores them: strings, integers or floats."""
    values = [] if formula.classes is None else formula.classes.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    if all(isinstance(value, (int, float)) for value in values):
        return np.array(values, dtype=np.float64)
    raise TypeError(f"labels must be strings or numbers for ONNX, got {values[:3]}")


def _add_probabilities(formula: Formula, nodes: Nodes, scores: str, output: str) -> None:
    if formula.probability is None:
        nodes.add("Identity", [scores], output)
    elif formula.probability == "logistic":
        one = nodes.constant(np.array(1.0))
        # 1/(1 + e) or e/(1 + e) with e = exp(−|s|) cannot overflow.
        e = nodes.add("Exp", [nodes.add("Neg", [nodes.add("Abs", [scores])])])
        positive = nodes.add("Greater", [scores, nodes.constant(np.array(0.0))])
        upper = nodes.add("Where", [positive, one, e])
        p = nodes.add("Div", [upper, nodes.add("Add", [one, e])])
        nodes.add("Concat", [nodes.add("Sub", [one, p]), p], output, axis=1)
    else:
        axis = nodes.constant(np.array([1], dtype=np.int64))
        largest = nodes.add("ReduceMax", [scores, axis], keepdims=1)
        e = nodes.add("Exp", [nodes.add("Sub", [scores, largest])])
        total = nodes.add("ReduceSum", [e, axis], keepdims=1)
        nodes.add("Div", [e, total], output)


class _PlainNodes:
    """Nodes of a new graph."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, values: NDArray[Any]) -> str:
        name = f"/c{len(self.initializers)}"  # columns of a table may be named c0
        self.initializers.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def add(
        self, operator: str, inputs: list[str], output: str | None = None, spare: int = 0, **of: Any
    ) -> str:
        name = output or f"/v{len(self.nodes)}"
        names = [name, *(f"{name}_{k + 1}" for k in range(spare))]
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, names, **of))
        return name


def to_onnx(model: Any) -> Any:
    """Return the model as an ONNX graph of standard operators in double precision.

    Its input is `X`, points of shape (n, p). The graph of a `TableModel` has an input of shape
    (n, 1) for each feature, with the feature's name: strings for a category, where the empty
    string is a gap; doubles for numbers and for dates, in seconds since 1970, where NaN is a gap.
    It uses the operator LabelEncoder of ONNX's machine-learning set.

    The output is `values`, in the shape of `predict`. A classifier has the outputs `labels` and
    `probabilities` (n, C), or `scores` if the loss has no probabilities. A compressed SVC of
    several classes has a score for each pair of classes.

    Parameters
    ----------
    model : object
        A fitted function, learner, estimator, River model or policy evaluator of colk, or a
        scikit-learn pipeline that ends in one; skl2onnx converts its other steps.

    Returns
    -------
    onnx.ModelProto
        The graph; `graph.SerializeToString()` returns the bytes of an .onnx file.

    Examples
    --------
    >>> from colk import KernelExpansion
    >>> from colk.export import to_onnx
    >>> from colk.kernels import Gaussian
    >>> graph = to_onnx(KernelExpansion(Gaussian(0.5), [[0.0]], [1.0]))
    >>> graph.graph.output[0].name
    'values'
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs ONNX: pip install 'colk[onnx]'") from error
    if any(kind.__module__ == "sklearn.pipeline" for kind in type(model).__mro__):
        from colk.export import skl2onnx

        return skl2onnx.convert_pipeline(model)
    formula, nodes = read(model), _PlainNodes(onnx)
    inputs, outputs = _inputs(formula, onnx), _outputs(formula, onnx)
    clash = {each.name for each in inputs} & {each.name for each in outputs}
    if clash:
        raise ValueError(
            f"the column {clash.pop()!r} has the name of an output of the graph: rename the column"
        )
    points = "X" if formula.encoder is None else add_encoding(formula.encoder, nodes)
    add_graph(formula, nodes, points, [output.name for output in outputs])
    graph = onnx.helper.make_graph(
        nodes.nodes, type(model).__name__, inputs, outputs, nodes.initializers
    )
    sets = {"": OPSET} if formula.encoder is None else {"": OPSET, ML: ML_OPSET}
    made = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid(*each) for each in sets.items()],
        ir_version=_IR_VERSION,
        producer_name="colk",
        producer_version=__version__,
    )
    onnx.checker.check_model(made)
    return made


def output_names(formula: Formula) -> list[str]:
    """Return the names of the outputs of a graph."""
    if formula.classes is None:
        return ["values"]
    return ["labels", "scores" if formula.probability is None else "probabilities"]


def _inputs(formula: Formula, onnx: Any) -> list[Any]:
    """Return names, types and shapes of the inputs of the graph."""
    info, kinds = onnx.helper.make_tensor_value_info, onnx.TensorProto
    if formula.encoder is None:
        return [info("X", kinds.DOUBLE, [None, formula.n_features])]
    return [
        info(name, kinds.STRING if kind == "category" else kinds.DOUBLE, [None, 1])
        for name, kind in formula.encoder.columns
    ]


def _outputs(formula: Formula, onnx: Any) -> list[Any]:
    """Return names, types and shapes of the outputs of the graph."""
    info, double = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    first, *others = output_names(formula)
    if formula.classes is None:
        return [info(first, double, [None] if formula.is_vector else [None, formula.n_outputs])]
    kind = onnx.helper.np_dtype_to_tensor_dtype(labels_of(formula).dtype)
    columns = formula.n_outputs if formula.probability is None else len(formula.classes)
    return [info(first, kind, [None]), info(others[0], double, [None, columns])]
