"""Run the paper's experiments and judge its claims."""

from colk_lab.reproduction.chapter import Chapter, RunPlan
from colk_lab.reproduction.reproduce import STUDIES, reproduce

__all__ = ["STUDIES", "Chapter", "RunPlan", "reproduce"]
