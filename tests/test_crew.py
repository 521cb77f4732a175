"""Other processes answer what they can, and what they cannot is said to whoever asked."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftbandit import crew
from driftbandit.crew import Crew, Unanswered, hired

SCRIPT = """
import math
from driftbandit.crew import Crew
print("once")
with Crew(1) as crew:
    print(crew.ask(math.sqrt, 9.0).result())
"""


def test_questions_are_answered_and_mistakes_are_told() -> None:
    with Crew(2) as some:
        answers = [some.ask(math.sqrt, x) for x in (4.0, -1.0, 9.0)]
        assert answers[0].result() == 2.0
        assert answers[2].result() == 3.0
        with pytest.raises(Unanswered, match=r"^ValueError: "):
            answers[1].result()


def test_a_process_that_ends_is_replaced() -> None:
    with Crew(1) as one:
        lost, answered = one.ask(os._exit, 3), one.ask(math.sqrt, 4.0)
        with pytest.raises(Unanswered, match=r"^a process ended"):
            lost.result()
        assert answered.result() == 2.0


def test_what_cannot_be_sent_or_found_is_not_answered() -> None:
    class Here:
        pass

    with Crew(1) as one:
        for question in (one.ask(lambda: 0), one.ask(len, Here())):
            with pytest.raises(Unanswered):
                question.result()


def test_what_is_printed_is_no_answer() -> None:
    with Crew(1) as one:
        assert one.ask(print, "text").result() is None
        assert one.ask(math.sqrt, 1.0).result() == 1.0


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    answer = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, check=True)
    assert answer.stdout.split() == ["once", "3.0"]


def test_one_core_has_no_crew(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, most, expected in ((1, None, None), (16, 1, None), (2, None, 1), (16, 6, 5), (4, 99, 3)):
        monkeypatch.setattr(crew, "cores", lambda cores=cores: cores)
        with hired(most) as found:
            assert (found and found.size) == expected
