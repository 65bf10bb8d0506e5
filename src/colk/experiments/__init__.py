"""Run the paper's experiments and judge its claims."""

from colk.experiments.chapter import Chapter, Plan
from colk.experiments.reproduce import STUDIES, reproduce

__all__ = ["STUDIES", "Chapter", "Plan", "reproduce"]
