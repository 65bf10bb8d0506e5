"""Run the paper's experiments and judge its claims."""

from colk.experiments.chapter import Chapter, RunPlan
from colk.experiments.reproduce import STUDIES, reproduce

__all__ = ["STUDIES", "Chapter", "RunPlan", "reproduce"]
