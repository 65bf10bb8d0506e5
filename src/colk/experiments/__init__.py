"""The paper's experiments, one file a figure."""

from colk.experiments.chapter import Chapter, Plan
from colk.experiments.reproduce import STUDIES, reproduce

__all__ = ["STUDIES", "Chapter", "Plan", "reproduce"]
