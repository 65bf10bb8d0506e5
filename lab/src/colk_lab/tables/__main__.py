"""List the scripts, or run one of them.

python -m colk_lab.tables
python -m colk_lab.tables NAME [OPTIONS OF THE SCRIPT]
"""

import ast
import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def scripts() -> dict[str, str]:
    """Return the first line of the description of each script."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        text = path.read_text("utf-8")
        if '__name__ == "__main__"' in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return found


def main(arguments: list[str]) -> None:
    """Run the script that the first argument names; without one, list all."""
    known = scripts()
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        print("\n".join(f"{name:<20}{said}" for name, said in known.items()))
        return
    name, *rest = arguments
    if name not in known:
        raise SystemExit(f"there is no script {name!r}; python -m colk_lab.tables lists them")
    sys.argv = [f"python -m colk_lab.tables {name}", *rest]
    runpy.run_module(f"colk_lab.tables.{name}", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
