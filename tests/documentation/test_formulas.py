"""Formulas of docstrings become mathematics: every one of them, and as it is meant."""

import inspect
import re
from xml.etree import ElementTree

import pytest

import driftbandit as db

from .sources import docstrings, formulas, reference

POLICIES = [value for value in reference.names().values() if reference._is_policy(value)]


def shape(text: str) -> str:
    """A formula as nested brackets, names without their beginning: easier to read in a test."""

    def told(element: ElementTree.Element) -> str:
        inner = "".join(told(each) for each in element) or (element.text or "")
        name = element.tag.removeprefix("m")
        return inner if name in ("i", "n", "o", "text", "row", "ath") else f"{name}[{inner}]" if inner else ""

    return told(ElementTree.fromstring(formulas.mathematics(text)))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("X_k + √(c·ln n / N_k)", "sub[Xk]+sqrt[frac[c·lnnsub[Nk]]]"),
        ("(S_k + α0) / (S_k + F_k)", "frac[sub[Sk]+sub[α0]sub[Sk]+sub[Fk]]"),
        ("X_k = Σ γ^s·r / Σ γ^s over the rewards", "sub[Xk]=frac[∑sup[γs]·r∑sup[γs]]\xa0over the rewards"),
        ("p_k = ∫_M^1 f_k·∏_{j≠k} F_j dθ", "sub[pk]=subsup[∫M1]sub[fk]·under[∏j≠k]sub[Fj]dθ"),
        ("ln(3·n^(3/2)/δ)", "ln(3·sup[n3/2]/δ)"),
        ("3F2(a1, b; 1)", "multiscripts[F2prescripts[]3](sub[a1],b;1)".replace("prescripts[]", "")),
        ("exp(X_k / temperature)", "exp(frac[sub[Xk]\xa0temperature])".replace("\xa0", "")),
        ("½·(c + √(c² + 4γ²))", "frac[12]·(c+sqrt[sup[c2]+4sup[γ2]])"),
        ("|J|·ln |J| / (e − 1)", "frac[|J|·ln|J|e−1]"),
        ("g⁺ ← max(0, g⁺ + r)", "sup[g+]←max(0,sup[g+]+r)"),
        ("θ' = γ·θ", "θ′=γ·θ"),
        ("w_new = h", "sub[wnew]=h"),
    ],
)
def test_a_formula_is_read_as_it_is_meant(text: str, meant: str) -> None:
    assert shape(text) == meant


def test_what_cannot_be_read_is_said_with_its_place() -> None:
    with pytest.raises(ValueError, match="nothing to lower or raise"):
        formulas.mathematics("X_ + 1")


@pytest.mark.parametrize("policy", POLICIES, ids=lambda value: value.name)
def test_every_formula_of_every_policy_is_mathematics_that_browsers_read(policy: type[db.Policy]) -> None:
    text = inspect.getdoc(policy) or ""
    blocks = [lines for kind, lines in docstrings._blocks(text.splitlines()) if kind == "formula"]
    for lines in blocks:
        found = ElementTree.fromstring(formulas.block(lines))
        assert len(found) == len(lines)
        written = "".join(found.itertext())
        for number in re.findall(r"(?<![\d\w.])\d{2,}", " ".join(lines)):
            assert number in written
    assert bool(blocks) == bool(re.search(r"\n\n {4}\S", text))


def test_most_policies_have_one() -> None:
    has = [policy for policy in POLICIES if "    " in (inspect.getdoc(policy) or "") and ".. formula::" in "\n".join(
        docstrings.restructured(inspect.getdoc(policy) or "", {}.get))]  # fmt: skip
    assert len(has) > 0.8 * len(POLICIES)


def test_a_docstring_is_taken_apart() -> None:
    text = "Choose *one* `UCB1` at γ^s.\n\n    X_k / N_k\n\n"
    text += "Parameters:\n    low, high: (B) both\n        ends.\n\n>>> 1\n1\n"
    lines = docstrings.restructured(
        text + "\nReferences:\n    Neu (2015), Explore.\n", {"UCB1": "driftbandit.UCB1"}.get
    )
    assert [line for line in lines if line] == [
        "Choose \\ *one*\\  \\ :py:obj:`UCB1 <driftbandit.UCB1>`\\  at \\ :formula:`γ^s`\\ .",
        ".. formula::",
        "    X_k / N_k",
        ".. rubric:: Parameters",
        "``low``, ``high``",
        "    :formula:`B`: both ends.",
        ">>> 1",
        "1",
        ".. rubric:: References",
        "- Neu (2015), Explore.",
    ]
