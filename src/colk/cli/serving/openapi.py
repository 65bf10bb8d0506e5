"""The OpenAPI description of a service."""

from typing import Any

from colk._encoding.columns import LARGEST
from colk._version import __version__
from colk.cli.serving.service import LONGEST_KEY, LONGEST_TEXT, MOST_ROWS, Service
from colk.tabular import TableModel

__all__ = ["describe"]


def describe(service: Service, needs_token: bool) -> dict[str, Any]:
    """Return the description of a service in OpenAPI 3.1.

    Parameters
    ----------
    service : Service
        The service.
    needs_token : bool
        Whether requests need a token.
    """
    model = service.model
    features = {name: _cell(model, name) for name in model.features}
    target = {model.target: _plain() if model.task == "classification" else _number()}
    row = {"type": "object", "additionalProperties": False}
    known = row | {"properties": features | target, "required": [model.target]}
    row |= {"properties": features | {model.target: {"description": "not used"}}}
    coverage = {"coverage": _share()} if len(model.residuals) else {}
    rows = {"type": "array", "minItems": 1, "maxItems": MOST_ROWS}
    paths: dict[str, Any] = {
        "/health": {"get": _get("whether the server answers", _object({"status": _label()}))},
        "/model": {"get": _get("a description of the model", {"type": "object"})},
        "/predict": {
            "post": _post(
                "predict rows; a row may lack features",
                _object({"rows": rows | {"items": row}, **coverage}, required=["rows"]),
                _predictions(model.task == "classification"),
            )
        },
    }
    if service.learns:
        paths["/learn"] = {
            "post": _post(
                "predict rows, then learn them",
                _object({"rows": rows | {"items": known}, "key": _key()}, required=["rows"]),
                _object(
                    {
                        "rows": {"type": "integer"},
                        "learned": {"type": "integer"},
                        "predictions": {"type": ["array", "null"]},
                        "warning": _label(),
                    }
                ),
            )
        }
    description: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": f"colk: {model.target}", "version": __version__},
        "paths": paths,
    }
    if needs_token:
        scheme = {"type": "http", "scheme": "bearer"}
        description["components"] = {"securitySchemes": {"token": scheme}}
        description["security"] = [{"token": []}]
    return description


def _cell(model: TableModel, name: str) -> dict[str, Any]:
    if name in model.categorical:
        return _plain("null")
    if name in model.dates:
        dates = [{"type": "string", "format": each} for each in ("date", "date-time")]
        return {
            "anyOf": [*dates, _number(), {"enum": [None, ""]}],
            "description": "a date or time, or seconds since 1970",
        }
    return _number() | {"type": ["number", "null"]}


def _plain(*more: str) -> dict[str, Any]:
    """Return the schema of a text, which may also be sent as a number, or as true or false."""
    return {"type": ["string", "number", "boolean", *more], "maxLength": LONGEST_TEXT}


def _key() -> dict[str, Any]:
    return {
        "type": ["string", "null"],
        "minLength": 1,
        "maxLength": LONGEST_KEY,
        "description": "a request with the key of an earlier one learns nothing",
    }


def _number() -> dict[str, Any]:
    return {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}


def _label() -> dict[str, Any]:
    return {"type": "string"}


def _share() -> dict[str, Any]:
    return {"type": ["number", "null"], "exclusiveMinimum": 0.0, "exclusiveMaximum": 1.0}


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return shape | ({"required": required} if required else {})


def _predictions(is_classification: bool) -> dict[str, Any]:
    numbers = {"type": "array", "items": {"type": "number"}}
    found: dict[str, Any] = {"rows": {"type": "integer"}, "lower": numbers, "upper": numbers}
    found["predictions"] = {"type": "array", "items": _label()} if is_classification else numbers
    found["probabilities"] = {"type": "array", "items": {"type": "object"}}
    return _object(found, required=["rows", "predictions"])


def _json(shape: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": shape}}}


def _get(summary: str, answer: dict[str, Any]) -> dict[str, Any]:
    responses = {"200": {"description": "the answer", **_json(answer)}, **_errors("401")}
    return {"summary": summary, "responses": responses}


def _post(summary: str, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    responses = {"200": {"description": "the answer", **_json(answer)}}
    responses |= _errors("400", "401", "408", "409", "413", "415", "422", "503")
    return {
        "summary": summary,
        "requestBody": {"required": True, **_json(body)},
        "responses": responses,
    }


def _errors(*codes: str) -> dict[str, Any]:
    error = _object({"error": _label()}, required=["error"])
    return {code: {"description": "an error, with one message", **_json(error)} for code in codes}
