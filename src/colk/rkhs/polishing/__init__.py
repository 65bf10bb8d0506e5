"""Optimal weights on given atoms over all data, by Newton's method."""

from colk.rkhs.polishing.all_rows import polish_all_rows
from colk.rkhs.polishing.blocks import Block, Blocks, RowBlocks
from colk.rkhs.polishing.final import FinalPolish, final_polish
from colk.rkhs.polishing.folds import CrossPolished, cross_polish
from colk.rkhs.polishing.groups import polish_groups
from colk.rkhs.polishing.outliers import OutlierRule
from colk.rkhs.polishing.path_result import PathPoint, RiskPath
from colk.rkhs.polishing.stages import SearchState, solve_by_sums
from colk.rkhs.polishing.under_risk import polish_under_risk
from colk.rkhs.polishing.weights import Polished, polish, predict_left_out

__all__ = [
    "Block",
    "Blocks",
    "CrossPolished",
    "FinalPolish",
    "OutlierRule",
    "PathPoint",
    "Polished",
    "RiskPath",
    "RowBlocks",
    "SearchState",
    "cross_polish",
    "final_polish",
    "polish",
    "polish_all_rows",
    "polish_groups",
    "polish_under_risk",
    "predict_left_out",
    "solve_by_sums",
]
