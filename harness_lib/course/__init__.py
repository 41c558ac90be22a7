"""All that serves teaching: checks, comparisons, contracts. Nothing of the library imports it."""

from harness_lib.course.check import check
from harness_lib.course.compare import compare, show

__all__ = ["check", "compare", "show"]
