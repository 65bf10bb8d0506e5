"""Make the .pxd files of compiled modules from the annotations of their .py files.

    python tools/declarations.py           writes the files
    python tools/declarations.py --check   prints the files that are stale, and fails if one is
    python tools/declarations.py --list    prints the files that are kept by hand

A .pxd file that begins with the line `HEADER` is made by this script. The others are kept by hand.
`docs/develop/engine.md` says how an annotation becomes a declaration.
"""

import ast
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
HEADER = "# Made from the .py file by tools/declarations.py."
NUMBERS = {
    "float": "double",
    "int": "Py_ssize_t",
    "bool": "bint",
    "CInt": "int",
    "Word": "unsigned long long",
    "Address": "size_t",
    "loops.Loop | None": "loops.Columns",
    "Pointer": "double*",
    "ConstPointer": "const double*",
    "Vector": "double[::1]",
    "ConstVector": "const double[::1]",
    "Matrix": "double[:, ::1]",
    "ConstMatrix": "const double[:, ::1]",
    "Indices": "Py_ssize_t[::1]",
    "ConstIndices": "const Py_ssize_t[::1]",
}
CONTAINERS = {"dict", "list", "tuple"}
# What a C function returns if an exception was raised in it.
RAISED = {"int": "except -1", "Py_ssize_t": "except -1", "bint": "except -1"}
RAISED |= {"double": "except? -1.5e300", "void": "noexcept"}
MARK = re.compile(r"#\s*(cdef|cpdef)\b([^#]*)")


@dataclass
class Module:
    """A compiled module: its source, and what it imports."""

    lines: list[str]
    body: list[ast.stmt]
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: module, its name

    def mark(self, node: ast.stmt) -> re.Match[str] | None:
        """Return the `# cdef` or `# cpdef` comment of a function, or of an assignment."""
        last = node.body[0].lineno - 1 if isinstance(node, ast.FunctionDef) else node.end_lineno
        above = self.lines[node.lineno - 2]
        lines = [above] if above.strip().startswith("#") else []
        found = (MARK.search(line) for line in [*lines, *self.lines[node.lineno - 1 : last]])
        return next((mark for mark in found if mark), None)


def read(path: Path) -> Module:
    """Read a source and its imports."""
    text = path.read_text(encoding="utf-8")
    module = Module(text.splitlines(), ast.parse(text, type_comments=True).body)
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                module.imported[alias.asname or alias.name] = (node.module, alias.name)
    return module


def declarations_of(module: str) -> Path:
    """Return the path of the .pxd file of a module."""
    return SOURCE / (module.replace(".", "/") + ".pxd")


def is_generated(path: Path) -> bool:
    """Return whether this script makes the .pxd file."""
    return path.read_text(encoding="utf-8").startswith(HEADER)


def declared_names(module: str) -> set[str]:
    """Return the names that other modules can cimport from a module."""
    path = declarations_of(module)
    if not path.exists():
        return set()
    if not is_generated(path):
        return set(
            re.findall(r"^c(?:p?def|typedef) [^(\n]*?\b(\w+) *[(:\n]", path.read_text(), re.M)
        )
    found = read(path.with_suffix(".py"))
    functions = {
        node.name for node in found.body if isinstance(node, ast.FunctionDef) and found.mark(node)
    }
    return functions | {node.name for node in classes(found)}


def classes(module: Module) -> list[ast.ClassDef]:
    """Return the classes that become C types: those whose base is a C type, or without a base."""
    found: list[ast.ClassDef] = []
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            base = ast.unparse(node.bases[0]) if node.bases else None
            home, there = module.imported.get(base or "", ("", ""))
            own = base in {other.name for other in found}
            if base is None or own or (home and there in declared_names(home)):
                found.append(node)
    return found


class Types:
    """The C types of the annotations of a module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.own = {node.name for node in classes(module)}

    def of(self, annotation: ast.expr | None) -> str:
        """Return the C type of an annotation, "object" if it has none."""
        if annotation is None:
            return "object"
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        name = ast.unparse(annotation)
        if name in NUMBERS:
            return NUMBERS[name]
        if isinstance(annotation, ast.BinOp):  # `Term | None`
            inner = self.of(annotation.left)
            return "object" if inner in NUMBERS.values() else inner
        if isinstance(annotation, ast.Subscript):
            name = ast.unparse(annotation.value)
            return name if name in CONTAINERS else "object"
        if name in CONTAINERS or name in self.own:
            return name
        home, there = self.module.imported.get(name, ("", ""))
        if home and there in declared_names(home):
            return name
        return "object"

    def of_result(self, annotation: ast.expr | None, safe: bool) -> str:
        """Return the C type of a result; an `int` is a status if the function can raise."""
        if isinstance(annotation, ast.Constant) and annotation.value is None:
            return "void"
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "tuple":
            parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
            return f"({', '.join(self.of(part) for part in parts)})"
        found = self.of(annotation)
        return "int" if found == "Py_ssize_t" and not safe else found


def constant_type(value: ast.expr) -> str:
    """Return the C type of a float or bool constant, "object" of another expression."""
    if isinstance(value, ast.UnaryOp):
        return constant_type(value.operand)
    constant = value.value if isinstance(value, ast.Constant) else None
    if isinstance(constant, float) or ast.unparse(value) in ("math.inf", "math.nan"):
        return "double"
    return "bint" if isinstance(constant, bool) else "object"


def local_types(function: ast.FunctionDef, types: Types) -> dict[str, str]:
    """Return the types of local variables.

    An annotation says them, or a type comment if several are assigned at once. A variable that
    begins as a float or a bool constant, or counts a range, needs none.
    """
    said: dict[str, str] = {}
    found: dict[str, str] = {}
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
    for node in sorted(statements, key=lambda node: node.lineno):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            said[node.target.id] = types.of(node.annotation)
        elif isinstance(node, ast.Assign):
            if node.type_comment:
                said |= commented(node, types)
            for target in node.targets:
                for name, value in pairs(target, node.value):
                    found.setdefault(name, constant_type(value))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            counts = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"
            found.setdefault(node.target.id, "Py_ssize_t" if counts else "object")
    arguments = {arg.arg for arg in function.args.args}
    both = {name: kind for name, kind in (found | said).items() if kind != "object"}
    return {name: both[name] for name in sorted(both.keys() - arguments)}


def commented(node: ast.Assign, types: Types) -> dict[str, str]:
    """Return the types that a comment `# type: float, int` says of the variables of a line."""
    kinds = ast.parse(f"({node.type_comment},)", mode="eval").body
    names = node.targets[0]
    assert isinstance(kinds, ast.Tuple) and isinstance(names, ast.Tuple)  # noqa: PT018
    both = zip(names.elts, kinds.elts, strict=True)
    return {ast.unparse(name): types.of(kind) for name, kind in both}


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Return the names that an assignment sets, each with its value."""
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        both = zip(target.elts, value.elts, strict=True)
        return [pair for t, v in both for pair in pairs(t, v)]
    return []


def function_lines(node: ast.FunctionDef, mark: re.Match[str], types: Types) -> list[str]:
    """Return the declaration of a function, from its annotations and its `# cdef` comment."""
    words, _, raised = mark[2].strip().partition("except")
    said = words.removesuffix("no").split()
    safe = words.endswith("no")
    flags = [word for word in said if word in ("inline", "final", "gil", "nogil")]
    given = " ".join(word for word in said if word not in flags)
    result = given or types.of_result(node.returns, safe)
    clause = "noexcept" if safe or result[0] == "(" else RAISED.get(result, "")
    if raised and not safe:
        clause = "except" + raised.rstrip()
    nogil = "gil" not in flags and (mark[1] == "cdef" or "nogil" in flags)
    arguments = []
    bare = len(node.args.args) - len(node.args.defaults)
    for i, arg in enumerate(node.args.args):
        kind = types.of(arg.annotation) if arg.arg != "self" else "object"
        default = "=*" if i >= bare else ""
        arguments.append(("" if kind == "object" else f"{kind} ") + arg.arg + default)
    lines = ["@cython.final"] if "final" in flags else []
    found = local_types(node, types)
    if found:
        inner = ", ".join(f'{k}="{v}"' for k, v in found.items())
        lines.append(f"@cython.locals({inner})")
    head = [mark[1], *(["inline"] if "inline" in flags else [])]
    head += [result] if result != "object" else []
    tail = [part for part in (clause, "nogil" if nogil else "") if part]
    lines.append(" ".join([*head, f"{node.name}({', '.join(arguments)})", *tail]))
    return lines


def attribute(node: ast.AnnAssign, types: Types) -> str | None:
    """Return the declaration of an attribute of a class; None for a class variable."""
    annotation, visible = node.annotation, ""
    if isinstance(annotation, ast.Subscript):
        name = ast.unparse(annotation.value)
        if name == "ClassVar":
            return None
        if name in ("Readonly", "Public"):
            annotation, visible = annotation.slice, f"{name.lower()} "
    return f"cdef {visible}{types.of(annotation)} {ast.unparse(node.target)}"


def class_lines(node: ast.ClassDef, module: Module, types: Types) -> list[str]:
    """Return the declaration of a class: its attributes and marked methods."""
    inner: list[str] = []
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            inner.append(attribute(part, types) or "")
        elif isinstance(part, ast.FunctionDef):
            mark = module.mark(part)
            inner += function_lines(part, mark, types) if mark else []
    base = ast.unparse(node.bases[0]) if node.bases else ""
    head = f"cdef class {node.name}({base}):" if base else f"cdef class {node.name}:"
    is_final = "# final" in module.lines[node.lineno - 1]
    body = [f"    {line}" for line in inner if line] or ["    pass"]
    return ["", *(["@cython.final"] if is_final else []), head, *body]


def constant_lines(module: Module, types: Types) -> list[str]:
    """Return the declarations of annotated numbers and arrays, and of marked assignments."""
    lines = []
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and types.of(node.annotation) in NUMBERS.values():
            lines.append(f"cdef {types.of(node.annotation)} {ast.unparse(node.target)}")
        elif isinstance(node, ast.Assign):
            mark = module.mark(node)
            names = ast.unparse(node.targets[0]).strip("()").replace("*", "")
            lines += [f"cdef {mark[2].strip()} {names}"] if mark else []
    return lines


def mentioned(module: Module) -> set[str]:
    """Return the names in annotations and bases of a module."""
    found: list[ast.expr | None] = []
    for node in (inner for part in module.body for inner in ast.walk(part)):
        if isinstance(node, ast.AnnAssign | ast.arg):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.ClassDef):
            found += node.bases
    return {word for node in found if node for word in re.findall(r"\w+", ast.unparse(node))}


def cimports(module: Module) -> list[str]:
    """Return the cimports of compiled modules, declared functions, and the types of annotations."""
    lines, types = set(), mentioned(module)
    for name, (home, there) in module.imported.items():
        is_declared = there in declared_names(home) and (name in types or name[0].islower())
        if is_declared or declarations_of(f"{home}.{there}").exists():
            lines.add(f"from {home} cimport {there}" + (f" as {name}" if name != there else ""))
    if any(isinstance(node, ast.Import) and node.names[0].name == "math" for node in module.body):
        lines.add("from colk._engine.simd cimport maths as math")
    return sorted(lines)


def generate(path: Path) -> str:
    """Return the .pxd file of a source."""
    module = read(path)
    types = Types(module)
    constants = constant_lines(module, types)
    body = [line for node in classes(module) for line in class_lines(node, module, types)]
    functions = [""]
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            mark = module.mark(node)
            functions += function_lines(node, mark, types) if mark else []
    text = [*body, *(functions if functions[1:] else [])]
    head = ["cimport cython"] if any("@cython" in line for line in text) else []
    head += cimports(module)
    blank = [""] if constants else []
    return "\n".join([HEADER, *head, *blank, *constants, *text]) + "\n"


def main(arguments: list[str]) -> int:
    """Write, check or list the .pxd files; return 1 if one is stale."""
    paths = sorted(SOURCE.glob("colk/**/*.pxd"))
    made = [path for path in paths if is_generated(path)]
    if "--list" in arguments:
        print("\n".join(str(path.relative_to(SOURCE)) for path in paths if path not in made))
        return 0
    texts = {path: generate(path.with_suffix(".py")) for path in made}
    stale = [path for path in made if path.read_text(encoding="utf-8") != texts[path]]
    for path in stale:
        print(path.relative_to(SOURCE))
        if "--check" not in arguments:
            path.write_text(texts[path], encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
