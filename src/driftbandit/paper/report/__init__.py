"""The report: one HTML file that needs nothing else."""

from driftbandit.paper.report.page import Colophon, page

__all__ = ["Colophon", "page"]
