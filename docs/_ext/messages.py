"""Collect the messages of all errors and warnings from the sources of both packages."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "src" / "colk", ROOT / "lab" / "src" / "colk_lab")
HOLE = "…"
# All messages of these classes have the same solution, so the class name covers them.
FAMILIES = {
    "AssertionError",
    "ConvergenceWarning",
    "DivergenceError",
    "FileFormatError",
    "SlowFunctionWarning",
    "UncompiledWarning",
}


@dataclass(frozen=True)
class Message:
    """An error class, its message with `…` for inserted values, and the line that raises it."""

    kind: str
    text: str
    place: str

    @property
    def line(self) -> str:
        """The message as Python prints it."""
        return f"{self.kind}: {self.text}"


def text_of(node: ast.expr, names: dict[str, str]) -> str:
    """Return the text of an expression, with `…` for every inserted value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, names) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left, names) + text_of(node.right, names)
    return names.get(node.id, HOLE) if isinstance(node, ast.Name) else HOLE


def messages_in(tree: ast.AST, place: str) -> Iterator[Message]:
    """Yield the exceptions that a module creates and the warnings that it issues."""
    nodes = list(ast.walk(tree))
    names = {
        node.targets[0].id: text_of(node.value, {})
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = ast.unparse(node.func).split(".")[-1]
        if name in ("warn", "warn_explicit", "warn_caller") and len(node.args) > 1:
            name = ast.unparse(node.args[1]).split(".")[-1]
        elif not name.endswith(("Error", "KeyboardInterrupt")) or name.startswith("_"):
            continue
        # The first argument of an OSError may be the error number.
        which = 1 if name == "OSError" and len(node.args) > 1 else 0
        yield Message(name, text_of(node.args[which], names), f"{place}:{node.lineno}")


def all_messages() -> list[Message]:
    """Return all messages of both packages that contain a fixed text."""
    found = [
        message
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
        for message in messages_in(
            ast.parse(path.read_text("utf-8")), path.relative_to(package).as_posix()
        )
    ]
    return [message for message in found if message.text.replace(HOLE, "").strip(" :,.()[]{}")]


def matches(message: Message, texts: list[str]) -> bool:
    """Return whether a message contains one of the texts, or its class is among them."""
    if message.kind in FAMILIES:
        return f"{message.kind}:" in texts
    return any(text in message.line for text in texts)
