"""The modules that `import colk` loads, and when."""

import subprocess
import sys

import pytest

import colk


def alone(code):
    """Run code in its own process."""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_modules_are_found_by_attribute():
    alone(
        "import colk, sys\n"
        "assert 'numpy' not in sys.modules\n"
        "assert colk.kernels.Gaussian(1.0).bandwidth == 1.0\n"
        "assert colk.learners.COLK is colk.COLK\n"
    )
    assert {"kernels", "river", "COLK", "objective"} <= set(dir(colk))
    with pytest.raises(AttributeError, match="has no attribute 'kernel'"):
        colk.kernel  # noqa: B018


def test_every_name_is_there():
    for name in dir(colk):
        assert getattr(colk, name) is not None
    for name in dir(colk.estimators):
        assert getattr(colk.estimators, name).__module__.startswith("colk.estimators")
    with pytest.raises(AttributeError, match="has no attribute 'Regressor'"):
        colk.estimators.Regressor  # noqa: B018


def test_an_estimator_loads_neither_pictures_nor_compilers():
    alone(
        "import sys, sklearn\n"
        "before = set(sys.modules)\n"
        "from colk import COLKRegressor\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "unwanted = {'matplotlib', 'numba', 'river', 'gymnasium', 'pandas', 'jinja2', 'rich'}\n"
        "assert not loaded & unwanted, loaded\n"
        "assert 'colk.rkhs.compression' not in sys.modules\n"
    )


@pytest.mark.parametrize(
    ("missing", "extra", "use"),
    [
        ("river", "river", "import colk; colk.river"),
        ("gymnasium", "rl", "from colk.rl import rollout; rollout('Pendulum-v1', abs, 1)"),
        ("matplotlib", "plot", "import colk; colk.estimators.ModelOrderDisplay([], []).plot()"),
        ("matplotlib", "cli", "from colk.cli.pages.drawing import draw; draw(abs, 1, 1)"),
        ("jinja2", "cli", "import colk.cli.pages.render"),
    ],
)
def test_a_missing_extra_is_named(missing, extra, use):
    alone(
        f"import sys; sys.modules[{missing!r}] = None\n"
        "try:\n"
        f"    {use}\n"
        "except ImportError as error:\n"
        f"    assert \"needs {missing}: pip install 'colk[{extra}]'\" in str(error), error\n"
        "else:\n"
        "    raise AssertionError\n"
    )
