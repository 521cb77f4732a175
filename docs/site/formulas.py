"""Formulas as docstrings write them, in plain Unicode on one line, as MathML: no script is needed to read them.

    X_k + 2B·√(ξ·ln n / N_k),   n = Σ N_k

A letter is a variable, a word of two letters or more is upright, `_` and `^` lower and raise what follows (a run of
letters and digits, or a group in brackets), a digit after a letter is its index, √ covers the next group, a slash
between spaces is a fraction of the products beside it, and two spaces or more set pieces apart.
"""

import html
import re

FUNCTIONS = {"ln", "exp", "max", "min", "argmax", "kl", "sin", "reflect", "Beta", "Normal", "Uniform"}
OPENING, CLOSING = "([{⌊⌈", ")]}⌋⌉"
LOW = set("=≤≥<>≠∝~∼←→≈±+−,;:")
"""Where a product, and so a fraction, ends."""
MARKS = {
    "~": "<mo>∼</mo>",
    ",": '<mo separator="true" lspace="0" rspace="0.3em">,</mo>',
    ";": '<mo separator="true" lspace="0" rspace="0.35em">;</mo>',
    ":": '<mo lspace="0" rspace="0.35em">:</mo>',
}
SIGNS_BEFORE = "·/(=≤≥<>∝~←+−,;:|"
LARGE = set("Σ∏∫")
RAISED = {"²": "2", "³": "3", "⁺": "+", "⁻": "−", "¹": "1", "⁰": "0"}
VULGAR = {"¼": ("1", "4"), "½": ("1", "2"), "¾": ("3", "4")}
GREEK = "α-ωΑ-Ωℓ"
TOKEN = re.compile(
    rf"""(?P<code>\w+="[^"]*")
    |(?P<series>\dF\d(?=\())
    |(?P<number>\d*\.?\d+(?:e[−-]?\d+)?)
    |(?P<word>[A-Za-z]{{2,}}(?:'s)?)
    |(?P<letter>[A-Za-z{GREEK}](?P<index>\d*))
    |(?P<raised>[{"".join(RAISED)}]+)
    |(?P<vulgar>[{"".join(VULGAR)}])
    |(?P<space>\s+)
    |(?P<sign>.)""",
    re.VERBOSE,
)
PROSE = re.compile(r"[A-Za-z]{2,}(?:'s)?(?: (?!(?:ln|kl|max|min|exp)\b)(?:a(?= [a-z]{2})|[a-z]{2,}(?![_(])))*")
SCRIPT = re.compile(rf"[−-]?[A-Za-z0-9{GREEK}]+(?:\+1(?!\d))?(?:…[A-Za-z0-9]+)?|[{''.join(VULGAR)}]")
SIGNS = re.compile(r"[=≤≥<∝~√Σ∏∫·^±−+/∼←]")
INLINE = re.compile(
    rf"(?<![\w`.\\-])(?:[A-Za-z{GREEK}]\d*(?:[_^](?:\{{[^}}]*\}}|[A-Za-z0-9{GREEK}]+)|[²³])+|\d+\^[0-9a-z]+|[{GREEK}]\d*)(?![\w`])"
)
"""What is a formula in the middle of a sentence: a letter with something below or above it, or a Greek one."""


def looks_like_one(line: str) -> bool:
    """Whether an indented line is a formula rather than a table or code."""
    return bool(SIGNS.search(line)) and not line.lstrip().startswith((">>>", "...", "$ "))


def block(lines: list[str]) -> str:
    """Lines of formulas, each a row of pieces that may wrap on a narrow screen."""
    rows = []
    for line in lines:
        pieces = re.split(r"\s{2,}", re.sub(r"\s+=\s+", " = ", line.strip()))
        rows.append(f'<div class="row">{"".join(mathematics(piece, display=True) for piece in pieces)}</div>')
    return f'<div class="formula">{"".join(rows)}</div>'


def mathematics(text: str, display: bool = False) -> str:
    """One formula as a `math` element."""
    style = ' displaystyle="true"' if display else ""
    return f'<math{style} alttext="{html.escape(text, quote=True)}">{_Reader(text).everything()}</math>'


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.bars = 0

    def everything(self) -> str:
        found = self.row("")
        if self.at < len(self.text):
            raise ValueError(f"cannot read {self.text!r} beyond {self.text[: self.at]!r}")
        return found

    def row(self, closing: str) -> str:
        """Everything up to a closing bracket: products, and what stands between them."""
        done: list[str] = []
        product: list[str] = []
        waiting: list[str] | None = None  # the numerator, while its denominator is read
        while self.at < len(self.text) and not (closing and self.text[self.at] in closing):
            if closing == "|" and self.text[self.at] == "|":
                break
            over = re.match(r" / ", self.text[self.at :])
            spaced = re.match(r" · ", self.text[self.at :])
            if over:
                self.at += 3
                waiting, product = product, []
                continue
            kind, value = self.piece()
            ends = bool(spaced) or kind == "low" or (kind == "word" and bool(product))
            if spaced:
                kind, value = self.piece() if kind == "space" else (kind, value)
            if kind == "word" and waiting is not None and not product:
                ends = False
            if ends:
                done += [_fraction(waiting, product)] if waiting is not None else product
                waiting, product = None, []
                done.append(value)
                if spaced:
                    self.skip()
            elif kind == "word" and waiting is None:
                done.append(value)
            else:
                product.append(value)
        done += [_fraction(waiting, product)] if waiting is not None else product
        return "".join(done)

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def piece(self) -> tuple[str, str]:
        """The next thing with what is below and above it, and its kind: space, word, low, or anything else."""
        match = TOKEN.match(self.text, self.at)
        assert match
        self.at = match.end()
        kind, value = str(match.lastgroup), match.group()
        if match["letter"]:
            kind = "letter"
        if kind == "space":
            beside = (
                re.match(r"[\w\u0370-\u03ff∫∏Σ√]", self.text[self.at :])
                and self.text[match.start() - 1] not in SIGNS_BEFORE
            )
            return "space", '<mspace width="0.17em"/>' if beside else ""
        if kind == "code":
            return "word", f'<mtext class="code">{html.escape(value)}</mtext>'
        if value == "dx":
            return "atom", "<mi>d</mi><mi>x</mi>"
        if kind == "word" and value not in FUNCTIONS and not self.follows("_"):
            return self.prose(match.start())
        if kind == "sign" and value in LOW:
            return "low", MARKS.get(value) or f"<mo>{html.escape(value)}</mo>"
        atom = self.atom(kind, value, match)
        return "atom", self.scripts(atom, value)

    def prose(self, start: int) -> tuple[str, str]:
        """Words in a row, with the spaces around them."""
        found = PROSE.match(self.text, start)
        assert found
        self.at = found.end()
        before = (
            "\xa0" if start > 1 and self.text[start - 1] == " " and self.text[start - 2] not in SIGNS_BEFORE else ""
        )
        after = "\xa0" if re.match(r" [\w\"(\[√|]", self.text[self.at :]) else ""
        return "word", f"<mtext>{before}{html.escape(found.group())}{after}</mtext>"

    def follows(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def atom(self, kind: str, value: str, match: re.Match[str]) -> str:
        if kind == "series":
            after, before = f"<mn>{value[2]}</mn><none/>", f"<mn>{value[0]}</mn><none/>"
            return f"<mmultiscripts><mi>F</mi>{after}<mprescripts/>{before}</mmultiscripts>"
        if kind == "number":
            return f"<mn>{value}</mn>"
        if kind == "vulgar":
            return "<mfrac><mn>{}</mn><mn>{}</mn></mfrac>".format(*VULGAR[value])
        if kind == "word":
            return f"<mi>{value}</mi>"
        if kind == "letter" and value != "Σ":
            index = match["index"]
            return f"<msub><mi>{value[0]}</mi><mn>{index}</mn></msub>" if index else f"<mi>{value}</mi>"
        if value == "√":
            return f"<msqrt>{self.under()}</msqrt>"
        if value == "|":
            inner = self.row("|")
            self.at += 1
            return f"<mrow><mo>|</mo>{inner}<mo>|</mo></mrow>"
        if value in OPENING:
            inner = self.row(CLOSING)
            end = self.text[self.at : self.at + 1]
            self.at += 1
            return f"<mrow><mo>{value}</mo>{inner}<mo>{end}</mo></mrow>"
        if value in LARGE or value == "Σ":
            return f'<mo movablelimits="false">{value.replace("Σ", "∑")}</mo>'
        tight = ' lspace="0" rspace="0"' if value in "/.…!" else ""
        return f"<mo{tight}>{html.escape(value)}</mo>"

    def under(self) -> str:
        """What a root covers: a group without its brackets, or one thing."""
        if not self.follows("("):
            return self.piece()[1]
        self.at += 1
        inner = self.row(CLOSING)
        self.at += 1
        return inner

    def scripts(self, base: str, value: str) -> str:
        """The base with what stands below and above it."""
        below = above = ""
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "_" and not below:
                self.at += 1
                below = self.script()
            elif sign == "^" and not above:
                self.at += 1
                above = self.script()
            elif sign in RAISED and not above:
                run = re.match(f"[{''.join(RAISED)}]+", self.text[self.at :])
                assert run
                self.at += run.end()
                above = _run("".join(RAISED[each] for each in run.group()))
            elif sign == "'":
                self.at += 1
                base += '<mo lspace="0" rspace="0">′</mo>'
            else:
                break
        below, above = (f"<mrow>{each}</mrow>" if each else "" for each in (below, above))
        if not below and not above:
            return base
        names = ("munder", "mover", "munderover") if value in "Σ∏" else ("msub", "msup", "msubsup")
        name = names[2] if below and above else names[0] if below else names[1]
        return f"<{name}>{base}{below}{above}</{name}>"

    def script(self) -> str:
        if self.text[self.at] in "({":
            self.at += 1
            inner = self.row(CLOSING)
            self.at += 1
            return inner
        run = SCRIPT.match(self.text, self.at)
        if not run:
            raise ValueError(f"nothing to lower or raise in {self.text!r} after {self.text[: self.at]!r}")
        self.at = run.end()
        return _run(run.group())


def _run(text: str) -> str:
    """Letters and digits below or above something: indices side by side, or a word."""
    if re.fullmatch(r"[A-Za-z]{3,}", text):
        return f"<mtext>{text}</mtext>"
    parts = re.findall(rf"\d+|[A-Za-z{GREEK}]|.", text)
    return "".join(
        f"<mn>{part}</mn>" if part.isdigit()
        else "<mfrac><mn>{}</mn><mn>{}</mn></mfrac>".format(*VULGAR[part]) if part in VULGAR
        else f"<mi>{part}</mi>" if part.isalpha()
        else f"<mo>{part}</mo>"
        for part in parts
    )  # fmt: skip


def _fraction(numerator: list[str], denominator: list[str]) -> str:
    above, below = (_bare("".join(each)) for each in (numerator, denominator))
    return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def _bare(inner: str) -> str:
    """A group alone above or below a line needs no brackets."""
    start, end = "<mrow><mo>(</mo>", "<mo>)</mo></mrow>"
    alone = inner.startswith(start) and inner.endswith(end)
    if alone:
        depth = 0
        for tag in re.finditer(r"<(/?)mrow>", inner):
            depth += -1 if tag[1] else 1
            if depth == 0 and tag.end() < len(inner):
                alone = False
    return inner[len(start) : -len(end)] if alone else inner
