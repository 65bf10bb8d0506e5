"""Compile every module that has a .pxd beside it; without a C compiler, install it uncompiled.

COLK_CHECKED=1 makes a build that checks its bounds; COLK_PURE=1 compiles nothing.
"""

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Setuptools brings distutils, and has to be imported first.
from distutils.ccompiler import new_compiler  # isort: skip
from distutils.sysconfig import customize_compiler  # isort: skip

SOURCE = Path("src")
CHECKED = os.environ.get("COLK_CHECKED") == "1"
PURE = os.environ.get("COLK_PURE") == "1"
DEPENDENCIES = ["numpy>=1.26", "scipy>=1.12", "scikit-learn>=1.6"]
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
TWINS = ("addresses", "blas", "loops")
# No flag lets sums be reordered; loops that say so take the entries of a row in any order.
FLAGS = {
    "unix": [
        "-O1" if CHECKED else "-O3",
        "-g0",
        "-fopenmp-simd",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-Wno-psabi",
    ],
    "msvc": ["/O2"],
}
# A step runs through much code, most of it once: less of it is faster. No loop is copied for a
# special case, nothing is kept ready for the next turn of loops that have one, and numbers become
# vectors only where a loop says so. For GCC: where a compiler knows one of them not, it gets none.
BRIEF = [
    "-fno-plt",
    "-fvect-cost-model=very-cheap",
    "-fno-tree-slp-vectorize",
    "-fno-tree-loop-distribute-patterns",
    "-fno-unswitch-loops",
    "-fno-split-loops",
    "-fno-split-paths",
    "-fno-peel-loops",
    "-fno-version-loops-for-strides",
    "-fno-ipa-cp-clone",
    "-fno-predictive-commoning",
    "-fno-tree-partial-pre",
    "-fno-gcse-after-reload",
]


def failure(*flags: str) -> Exception | None:
    """What keeps a C file that includes Python's header from being compiled, if anything does."""
    compiler = new_compiler()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\n")
        try:
            customize_compiler(compiler)
            include = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
            compiler.compile([str(source)], folder, None, include, False, None, list(flags))
        except Exception as error:  # compilers have no one error for not being there
            return error
    return None


def has_compiler() -> bool:
    """Whether there is a C compiler; where there is none, that is said."""
    error = failure()
    if error is not None:
        print(f"colk is installed uncompiled, for there is no C compiler: {error}")
    return error is None


class CompileAtOnce(build_ext):
    """Extensions become C, and then machine code, only when they are built, side by side."""

    def build_extensions(self) -> None:
        """Compile all of them or fail: they call each other's C functions."""
        from Cython.Build import cythonize
        from Cython.Compiler import Options

        # An array travels as a structure of so many dimensions.
        Options.buffer_max_dims = 3

        self.parallel = self.parallel or os.cpu_count()
        in_c = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name="colk._engine._views",
            build_dir=str(Path(self.build_temp, "cython")),
            nthreads=self.parallel,
            quiet=True,
            show_all_warnings=False,
        )
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        flags = FLAGS[kind]
        if kind == "unix" and failure("-Werror", *BRIEF) is None:
            flags = [*flags, *BRIEF]
        for extension, translated in zip(self.extensions, in_c, strict=True):
            extension.sources = translated.sources
            extension.depends = translated.depends
            extension.extra_compile_args = flags
            if kind == "unix" and sys.platform.startswith("linux"):
                extension.extra_link_args = ["-Wl,-s"]
        super().build_extensions()


def compiled_modules() -> list[Extension]:
    """Modules with a .pxd, but for those whose .pxd is the compiled form or that have no source."""
    sources = [path.with_suffix(".py") for path in sorted(SOURCE.glob("colk/**/*.pxd"))]
    hot = [path for path in sources if path.exists() and path.stem not in TWINS]
    headers = sorted(SOURCE.glob("colk/_engine/simd/*.h"))
    # What modules share is one module more, whose source is made with theirs.
    return [
        Extension(
            ".".join(path.relative_to(SOURCE).with_suffix("").parts),
            [str(path)],
            include_dirs=[str(SOURCE / "colk/_engine/simd")],
            depends=[str(header) for header in headers],
        )
        for path in [*hot, SOURCE / "colk/_engine/_views.c"]
    ]


compiled = not PURE and has_compiler()
setup(
    ext_modules=compiled_modules() if compiled else [],
    # Sources that run as they are read `cython.compiled`.
    install_requires=DEPENDENCIES if compiled else [*DEPENDENCIES, "cython>=3.2"],
    cmdclass={"build_ext": CompileAtOnce},
    # What is compiled with checks is never taken for what is compiled without, nor the reverse.
    options={"build": {"build_base": "build/checked"}} if CHECKED else {},
)
