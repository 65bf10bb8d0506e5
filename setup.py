"""Compile every module that has a .pxd file; without a C compiler, install the sources only.

COLK_CHECKED=1 compiles with bounds checks; COLK_PURE=1 compiles nothing.
"""

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Setuptools provides distutils and must be imported first.
from distutils.ccompiler import new_compiler  # isort: skip
from distutils.sysconfig import customize_compiler  # isort: skip

SOURCE = Path("src")
CHECKED = os.environ.get("COLK_CHECKED") == "1"
PURE = os.environ.get("COLK_PURE") == "1"
DEPENDENCIES = ["numpy>=1.26", "scipy>=1.12", "scikit-learn>=1.6"]
DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # the types are in the .pxd files
    "infer_types": True,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
    "auto_pickle": False,  # classes define their own pickling
    "embedsignature": True,
    "embedsignature.format": "python",
}
# For these modules the .pxd file is the compiled version; the .py file is for the uncompiled build.
TWINS = ("addresses", "blas", "lapack", "loops", "sparse_rows")
# No flag allows reordering of sums. Loops with a pragma may take the entries of a row in any order.
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
# A step executes much code only once, so smaller code is faster. These flags prevent copies of
# loops for special cases, and vectorisation without a pragma. The last one starts every function in
# a cache line, so that its speed does not depend on the code before it. Loops are not aligned: with
# few atoms the padding before them costs more than it saves. The flags are for GCC; if a compiler
# does not know one of them, none is used.
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
    "-falign-functions=64",
]


def failure(*flags: str) -> Exception | None:
    """Return the error of compiling a C file that includes Python.h, or None."""
    compiler = new_compiler()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\n")
        try:
            customize_compiler(compiler)
            include = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
            compiler.compile([str(source)], folder, None, include, False, None, list(flags))
        except Exception as error:  # compilers raise different errors
            return error
    return None


def has_compiler() -> bool:
    """Return whether there is a C compiler; print a message if not."""
    error = failure()
    if error is not None:
        print(f"colk is installed uncompiled, because there is no C compiler: {error}")
    return error is None


class CompileAtOnce(build_ext):
    """Translate all extensions to C and compile them in parallel when they are built."""

    def finalize_options(self) -> None:
        """Keep what an editable installation compiles: the next one compiles only what changed."""
        super().finalize_options()
        if self.editable_mode:
            kept = Path("build", "checked" if CHECKED else "editable")
            self.build_lib, self.build_temp = str(kept / "lib"), str(kept / "temp")

    def build_extensions(self) -> None:
        """Compile all extensions or fail, because they call each other's C functions."""
        from Cython.Build import cythonize
        from Cython.Compiler import Options

        # The largest number of dimensions of an array.
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
            extension.depends = [*translated.depends, "setup.py"]
            extension.extra_compile_args = flags
            if kind == "unix" and sys.platform.startswith("linux"):
                extension.extra_link_args = ["-Wl,-s"]
        super().build_extensions()


def compiled_modules() -> list[Extension]:
    """Return an extension for every module with a .pxd file that has to be compiled."""
    sources = [path.with_suffix(".py") for path in sorted(SOURCE.glob("colk/**/*.pxd"))]
    hot = [path for path in sources if path.exists() and path.stem not in TWINS]
    headers = sorted(SOURCE.glob("colk/_engine/simd/*.h"))
    # Code that the modules share is an additional module; Cython generates its source.
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
    # The uncompiled sources read `cython.compiled`.
    install_requires=DEPENDENCIES if compiled else [*DEPENDENCIES, "cython>=3.2"],
    cmdclass={"build_ext": CompileAtOnce},
    # Keep builds with and without bounds checks apart.
    options={"build": {"build_base": "build/checked"}} if CHECKED else {},
)
