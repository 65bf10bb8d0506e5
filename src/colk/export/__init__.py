"""Export models that run without colk: as an ONNX graph, or as Python source."""

from colk.export.onnx import to_onnx
from colk.export.python import to_python
from colk.export.skl2onnx import register_converters

__all__ = ["register_converters", "to_onnx", "to_python"]
