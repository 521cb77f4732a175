"""The reproduction of Raj and Kalyani (2017): experiments as data, parameter tables, claims, report."""

from driftbandit.paper.experiments import EXPERIMENTS
from driftbandit.paper.profiles import PROFILES
from driftbandit.paper.reproduction import Reproduction, reproduce

__all__ = ["EXPERIMENTS", "PROFILES", "Reproduction", "reproduce"]
