"""Compile every module that has a .pxd beside it; without a C compiler, install it uncompiled.

COLK_CHECKED=1 makes a build that checks its bounds; COLK_PURE=1 compiles nothing.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src")
CHECKED = os.environ.get("COLK_CHECKED") == "1"
PURE = os.environ.get("COLK_PURE") == "1"
DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # types are in the .pxd
    "infer_types": True,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
    "embedsignature.format": "python",
}
# Their .pxd is the compiled form: the source is a twin for where nothing is compiled.
TWINS = ("addresses", "blas", "lanes")
# Of the header's loops, only those that say so may reorder their sums.
FLAGS = {
    "unix": ["-O3", "-g0", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi"],
    "msvc": ["/O2"],
}


class BuildOrDoWithout(build_ext):
    """Where a module does not compile, its Python source does the work."""

    def build_extensions(self) -> None:
        self.parallel = self.parallel or os.cpu_count()
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS[kind]
            if kind == "unix" and sys.platform.startswith("linux"):
                extension.extra_link_args = ["-Wl,-s"]
        super().build_extensions()


def compiled_modules() -> list[Extension]:
    """Modules with a .pxd, but for those that only declare: they have a header or no source."""
    from Cython.Build import cythonize

    sources = [path.with_suffix(".py") for path in sorted(SOURCE.glob("colk/**/*.pxd"))]
    hot = [path for path in sources if path.exists() and path.stem not in TWINS]
    modules = [
        Extension(".".join(path.relative_to(SOURCE).with_suffix("").parts), [str(path)])
        for path in hot
    ]
    shared = Extension("colk._views", [str(SOURCE / "colk" / "_views.c")])
    for extension in [*modules, shared]:
        extension.include_dirs = [str(SOURCE / "colk")]
        extension.depends = [str(SOURCE / "colk" / "lanes.h")]
        extension.optional = True
    compiled: list[Extension] = cythonize(
        [*modules, shared],
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name="colk._views",
        build_dir="build/cython",
        nthreads=os.cpu_count() or 1,
    )
    return compiled


setup(
    ext_modules=[] if PURE else compiled_modules(),
    cmdclass={"build_ext": BuildOrDoWithout},
)
