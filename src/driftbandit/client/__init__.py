"""Programs that ask a decision service (docs/service.md): `Client`, and `AsyncClient` for those that await.

    bandit = db.Bandit(["red", "green"], policy, step_seconds=1.0)          # in this process
    bandit = Client().create("headline", ["red", "green"], policy)          # the same bandit, kept by a service

What both say and understand is in `questions`, when they try again in `attempts`; neither does any I/O.
"""

from driftbandit.client.awaited import AsyncClient, AsyncRemoteBandit
from driftbandit.client.blocking import Client, RemoteBandit
from driftbandit.client.questions import UNCHANGED, LogPage
from driftbandit.client.served_decision import ServedDecision
from driftbandit.contract import ArmView, ExperimentLine, ExperimentView, History, Point, Report, ReportedValue

__all__ = [
    "UNCHANGED",
    "ArmView",
    "AsyncClient",
    "AsyncRemoteBandit",
    "Client",
    "ExperimentLine",
    "ExperimentView",
    "History",
    "LogPage",
    "Point",
    "RemoteBandit",
    "Report",
    "ReportedValue",
    "ServedDecision",
]
