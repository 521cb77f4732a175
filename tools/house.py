"""How the source is built, in numbers: of this project, or of several trees side by side with the change.

    python tools/house.py                         the project that this script lies in
    python tools/house.py BEFORE AFTER            two checkouts, or more; the change is from the first to the last
    python tools/house.py --json FILE [ROOT …]    write the numbers and the lists behind them
    python tools/house.py --quick [ROOT …]        read the source only, run nothing

Sizes. Files and lines of src/driftbandit, in all and by package.

Imports, read by `ast`. An edge goes from a module to one that it names; `from package import name` counts as the
module `package.name` if there is one, else as the package. *Fan-out* is the number of edges from a module, a *chain* a
path of edges. "At the top" leaves out imports inside functions and under TYPE_CHECKING, "late ones too" does not. A
*knot* is a set of modules that all reach each other.

Shape. An ignore is *about mixins* if its module has a method with `self: "Class"`. *Arguments* do not count `self`; a
function is *keyword-only* if at most two of them go by position. *Columns* are names for places in an array: unpacked
from a `range` at the top of a module, or three and more in a row there that are 0, 1, 2 and so on. *Underscores of
others* are attributes `x._name` where x is not `self` or `cls` (those of named tuples aside). *Names used twice* are
names of modules, or of classes at the top of a module, that two places share.

Tasks. How much a newcomer has to touch, counted on a thing of the same kind that is there already: see RECIPES.

Passed through. Files of the package in which a function is called, traced and not read, when everything was done
before: a `Bandit` of discounted Thompson sampling with 5 arms decides, tells the probability and takes a reward, and
`simulate` plays the same policy. *As it runs* a kernel is one call, in the file of its outermost function; *as plain
Python* nothing is compiled, and all source that takes part is met; *in the loop* is what the run loop, `play`, calls.
"""

import argparse
import ast
import fnmatch
import functools
import importlib
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.table import Table

PACKAGE = "driftbandit"
LONG, MANY = 60, 8
POLICY = """
    ? UniformRandom
    + policies/uniform_random.py
    * policies/__init__.py: UniformRandom
    * __init__.py: UniformRandom
    * tests/twins/weighted.py: class Uniform:
    * tests/twins/weighted.py: "uniform": Uniform
    * tests/examples.py: db.UniformRandom()
    * tests/test_public_api.py: "UniformRandom":
    - service/reports.py"""
RECIPES: dict[str, list[str]] = {
    # A task has a recipe for each state that the project was in, the latest first; the first that fits a tree counts.
    # "?" is a thing of the same kind, "+" the file of its own, which would be a new file. "*" is a file with a text:
    # every statement at the top of the file (a class, a function, an import) with that text is a place to change, once
    # for all its lines. "=" is what makes it possible to touch no more than that. "-" are files that name the thing,
    # and have nothing to do with others of its kind. A file or a text that is not there makes the recipe unfit, and a
    # file that names the thing and is not listed is told.
    "(a) a policy with two numbers": [POLICY],
    "(a′) a policy with many numbers": ["""
        = policies/rule.py: initial: Parameters
        = examples/policies/cusum_ucb.py: initial=(0.0, 0.0, 0.0, 0.0, 0.0)""" + POLICY],
    "(b) an environment by the clock": ["""
        ? Sinusoidal
        + environments/sinusoidal.py
        * environments/__init__.py: Sinusoidal
        * __init__.py: Sinusoidal
        * tests/naive.py: def sinusoidal
        * tests/naive.py: "sinusoidal": sinusoidal
        * tests/test_public_api.py: "Sinusoidal":"""],
    "(b′) an environment random by run": ["""
        ? Switching
        = environments/path.py: class Path
        + environments/switching.py
        * environments/__init__.py: Switching
        * __init__.py: Switching
        * tests/naive.py: class Switch:
        * tests/naive.py: "switching": Switch
        * tests/test_public_api.py: "Switching":"""],
    "(c) a field of the live state": ["""
        ? default_reward
        = online/state.py: UPGRADES
        * online/bandit.py: default_reward:
        * online/state.py: default_reward: float | None
        * tests/online/test_input.py: "default_reward"
        * tests/online/test_state.py: "settings.default_reward"
        - logs/*
        - contract.py
        - service/*
        - client/*""", """
        ? default_reward
        * online/bandit.py: default_reward:
        * online/bandit.py: if default_reward is None
        * online/state.py: "default_reward"
        * online/state.py: VERSION = 1
        * online/merging.py: default_reward=first
        * tests/online/test_input.py: "default_reward"
        * tests/online/test_state.py: "default_reward\""""],
    "(d) a figure of an existing kind": ["""
        = paper/experiments.py: EXPERIMENTS =
        * paper/experiments.py: Rested("""],
    "(d′) a figure of a new kind": ["""
        ? Rested
        + paper/kinds/rested.py
        = paper/experiment.py: class Experiment(abc.ABC)
        * paper/experiments.py: Rested(""", """
        ? Rested
        + paper/drawing/grids.py
        * paper/drawing/__init__.py: import prior_map, rested, two_oracles
        * paper/drawing/__init__.py: Rested
        * paper/experiment.py: class Rested(
        * paper/experiments.py:     Rested,
        * paper/experiments.py: yield Rested(
        * paper/tabulating.py: Rested
        * paper/report/page.py: "rested": ("""],
}  # fmt: skip


class House:
    """A tree: its modules, numbers by what they count, and the lists behind them."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "src" / PACKAGE
        self.numbers: dict[str, float | None] = {}
        self.lists: dict[str, list[str]] = {}
        files = {path.relative_to(self.folder).as_posix(): path for path in sorted(self.folder.rglob("*.py"))}
        self.texts = {file: path.read_text(encoding="utf-8") for file, path in files.items()}
        self.trees = {file: ast.parse(text) for file, text in self.texts.items()}
        self.names = {file: file[:-3].replace("/", ".").removesuffix("__init__").strip(".") for file in files}

    def count(self, what: str, found: list[str]) -> None:
        """A list and its length."""
        self.numbers[what], self.lists[what] = len(found), found


def measure(root: Path, quick: bool = False) -> House:
    """Everything about a tree."""
    house = House(root)
    parts = [measure_sizes, measure_imports, measure_functions, measure_names, measure_tasks]
    for part in parts if quick else [*parts, measure_traces]:
        part(house)
    return house


def measure_sizes(house: House) -> None:
    """Files and lines."""
    packages: dict[str, list[int]] = defaultdict(list)
    for file, text in house.texts.items():
        packages["in all"].append(text.count("\n"))
        packages[file.split("/")[0] if "/" in file else "in none"].append(text.count("\n"))
    for name, lines in packages.items():
        house.numbers[f"files, {name}"], house.numbers[f"lines, {name}"] = len(lines), sum(lines)


def imported(node: ast.AST, late: bool) -> Iterator[str]:
    """The full names that are imported below a node: at the top only, or late and for types too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, "imports are absolute here"
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module"):
            yield from (str(value.value) for value in child.args if isinstance(value, ast.Constant))
        hidden = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        hidden |= isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")
        if late or not hidden:
            yield from imported(child, late)


def graph(house: House, late: bool) -> dict[str, set[str]]:
    """The modules that each module imports."""
    known = {f"{PACKAGE}.{name}".rstrip("."): name for name in house.names.values()}
    edges = {}
    for file, name in house.names.items():
        full = [each if each in known else each.rpartition(".")[0] for each in imported(house.trees[file], late)]
        edges[name] = {known[each] for each in full if each in known} - {name}
    return edges


def knots(edges: dict[str, set[str]]) -> list[frozenset[str]]:
    """The sets of modules that reach each other."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen: set[str] = set()
        todo = [start]
        while todo:
            new = edges[todo.pop()] - seen
            seen |= new
            todo += new
        reached[start] = seen
    return sorted({frozenset(b for b in reached[a] if a in reached[b]) for a in edges if a in reached[a]}, key=len)


def longest_chain(edges: dict[str, set[str]]) -> tuple[str, ...]:
    """The longest path of imports; inside a knot there is none."""
    tied = {name: knot for knot in knots(edges) for name in knot}

    @functools.cache
    def chain(name: str) -> tuple[str, ...]:
        return (name, *max((chain(to) for to in sorted(edges[name] - tied.get(name, set()))), key=len, default=()))

    return max((chain(name) for name in sorted(edges)), key=len, default=())


def measure_imports(house: House) -> None:
    """Fan-out, chains and knots."""
    for late, words in ((False, "at the top"), (True, "late ones too")):
        edges = graph(house, late)
        fan_out = Counter({name: len(to) for name, to in sorted(edges.items())})
        house.numbers[f"imports, {words}"] = fan_out.total()
        house.numbers[f"mean fan-out, {words}"] = round(fan_out.total() / len(edges), 2)
        house.numbers[f"largest fan-out, {words}"] = max(fan_out.values())
        house.lists[f"largest fan-out, {words}"] = [f"{name} {n}" for name, n in fan_out.most_common(5)]
        house.count(f"longest chain, {words}", list(longest_chain(edges)))
        house.count(f"knots, {words}", [", ".join(sorted(knot)) for knot in knots(edges)])
        house.numbers[f"modules in knots, {words}"] = sum(map(len, knots(edges)))


def measure_functions(house: House) -> None:
    """Functions with many arguments or many lines."""
    many, long = [], []
    for file, tree in house.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                where, args = f"{house.names[file]}.{node.name}", node.args
                by_place = [each.arg for each in (*args.posonlyargs, *args.args) if each.arg not in ("self", "cls")]
                count = len(by_place) + len(args.kwonlyargs) + (args.vararg is not None) + (args.kwarg is not None)
                lines = (node.end_lineno or 0) - node.lineno + 1
                many += [f"{where} {count}" + " keyword-only" * (len(by_place) <= 2)] if count > MANY else []
                long += [f"{where} {lines}"] if lines > LONG else []
    house.count(f"functions of more than {MANY} arguments", many)
    house.numbers["of them keyword-only"] = sum("keyword-only" in each for each in many)
    house.count(f"functions of more than {LONG} lines", long)


def measure_names(house: House) -> None:
    """Columns, names used twice, underscores, and what a type checker is told to overlook."""
    ignores, mixins = [], []
    columns, private = Counter[str](), Counter[str]()
    named: dict[str, list[str]] = defaultdict(list)
    for file, tree in house.trees.items():
        lines = enumerate(house.texts[file].splitlines(), start=1)
        told = [f"{file}:{i}" for i, line in lines if "# type: ignore" in line]
        ignores += told
        mixins += told if 'self: "' in house.texts[file] else []
        columns[file] += sum(1 for _ in column_names(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and re.match(r"_(?!_|replace|fields|asdict|make)", node.attr):
                private[file] += ast.unparse(node.value) not in ("self", "cls")
        named[f"module {house.names[file].rpartition('.')[2]}"].append(house.names[file])
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                named[f"class {node.name}"].append(house.names[file])
    house.count("type: ignore", ignores)
    house.count("type: ignore about mixins", mixins)
    for what, found in (("columns", columns), ("underscores of others", private)):
        house.numbers[what], house.lists[what] = found.total(), [f"{file} {n}" for file, n in found.items() if n]
    house.count("names used twice", [f"{n}: {', '.join(where)}" for n, where in sorted(named.items()) if where[1:]])


def column_names(tree: ast.Module) -> Iterator[str]:
    """Names of a module that stand for places in an array."""
    row: list[str] = []
    for node in (*tree.body, ast.Pass()):
        names, values = [""], [""]
        if isinstance(node, ast.Assign):
            names, value = ast.unparse(node.targets[0]).strip("()").split(", "), ast.unparse(node.value)
            values = value.strip("()").split(", ")
            if len(names) > 1 and "range(" in value:
                yield from names
        for name, value in zip(names, values, strict=False):
            if value != str(len(row)):
                yield from row if len(row) > 2 else ()
                row = []
            row += [name] if value == str(len(row)) else []


def measure_tasks(house: House) -> None:
    """How many places each task takes, in the package and in tests."""
    for task, recipes in RECIPES.items():
        tried = [followed(house, recipe) for recipe in recipes]
        inside, tests, missing = next((each for each in tried if not each[2]), tried[0])
        files = {place.split(":")[0] for place in inside}
        for what, found in ((", places", len(inside)), (", files", len(files)), (", places in tests", len(tests))):
            house.numbers[task + what] = None if missing else found
        house.lists[f"{task}, places"], house.lists[f"{task}, in no recipe"] = inside, missing
        peer = re.search(r"\? (\w+)", recipes[0])
        naming = {file for file, text in house.texts.items() if peer and re.search(rf"\b{peer[1]}\b", text)}
        others = set(re.findall(r"^ *- (\S+)", recipes[0], re.MULTILINE))
        house.lists[f"{task}, unlisted"] = sorted(
            file for file in naming - files if not any(fnmatch.fnmatchcase(file, each) for each in others)
        )


def followed(house: House, recipe: str) -> tuple[list[str], list[str], list[str]]:
    """The places that a recipe names in the package and in tests, and what of it is not there."""
    inside: list[str] = []
    tests: list[str] = []
    missing: list[str] = []
    for kind, file, text in re.findall(r"([+*=]) ([^\s:]+)(?:: (.+))?", recipe):
        outside = file.startswith(("tests/", "examples/"))
        path = (house.root if outside else house.folder) / file
        source = path.read_text(encoding="utf-8") if path.is_file() else ""
        hits = [f"{file}: new"] if kind == "+" and source else [f"{file}: {place}" for place in places(source, text)]
        missing += [] if hits else [f"{file}: {text}"]
        (tests if outside else inside).extend(hits if kind != "=" else ())
    return list(dict.fromkeys(inside)), list(dict.fromkeys(tests)), missing


def places(source: str, text: str) -> Iterator[str]:
    """The statements at the top of a module in which a text stands, each by its first line."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        if any(text in line for line in lines[first - 1 : node.end_lineno]):
            yield f"{node.lineno} {lines[node.lineno - 1]}"


def measure_traces(house: House) -> None:
    """The files that a decision and a simulation pass through, each in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(house.root / "src")}
    for mode, words in (("compiled", "as it runs"), ("plain", "as plain Python")):
        command = [sys.executable, __file__, "--trace", mode, str(house.root)]
        told = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        for what, files in json.loads(told).items():
            house.count(what if "loop" in what else f"{what}, {words}", files)


def trace(root: Path, plain: bool) -> dict[str, list[str]]:
    """Files met by a decision, its probability, its reward and a simulation, in the order in which they are met."""
    db: Any = importlib.import_module(PACKAGE)
    folder = f"{root / 'src' / PACKAGE}{os.sep}"
    assert db.__file__.startswith(folder), f"{db.__file__} is not of {root}"
    if plain:
        leave_uncompiled()
    policy = db.DiscountedThompsonSampling(discount=0.95)
    bandit = db.Bandit([f"arm {k}" for k in range(5)], policy, seed=1)
    play = functools.partial(db.simulate, policy, db.Slow(n_arms=5), horizon=30, runs=20, threads=1, progress=False)
    play()
    for _ in range(30):
        decision = bandit.select()
        assert decision.probability > 0
        bandit.reward(decision.id, 1.0)
    found: dict[str, list[str]] = {}

    def traced(what: str, action: Callable[[], Any]) -> Any:
        met: dict[str, None] = {}
        looped: dict[str, None] = {}

        def note(frame: FrameType, event: str, _: Any) -> None:
            file = frame.f_code.co_filename
            if event == "call" and file.startswith(folder):
                met[file.removeprefix(folder)] = None
                above: FrameType | None = frame if plain else None
                while above and not (above.f_code.co_name == "play" and f"{folder}engine" in above.f_code.co_filename):
                    above = above.f_back
                if above:
                    looped[file.removeprefix(folder)] = None

        threading.setprofile(note)
        sys.setprofile(note)
        try:
            return action()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            found[what] = [*met]
            if looped:
                found["a simulated step, in the loop"] = [*looped]

    decision = traced("select()", bandit.select)
    traced(".probability", lambda: decision.probability)
    traced("reward()", functools.partial(bandit.reward, decision.id, 1.0))
    traced("simulate()", play)
    return found


def leave_uncompiled() -> None:
    """Kernels stay plain Python from now on."""
    importlib.import_module(f"{PACKAGE}.exact")  # which has a target of its own
    ours = [vars(each) for name, each in sys.modules.items() if name.startswith(PACKAGE)]
    processor = next(each["Processor"] for each in ours if "Processor" in each)
    for target in (processor, *processor.__subclasses__()):
        target.compile_inner = lambda self, function: function
        target.compile_outer = lambda self, function, digest: function
        target.replacements = {}
    warnings.simplefilter("ignore")  # NumPy warns of infinities that kernels mean


def show(houses: dict[str, House]) -> None:
    """The numbers as a table, then the lists."""
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, markup=False)
    table = Table("", *houses, *["change"] * (len(houses) > 1))
    for what in dict.fromkeys(what for house in reversed(houses.values()) for what in house.numbers):
        row = [house.numbers.get(what) for house in houses.values()]
        first, last = row[0], row[-1]
        change = "" if first is None or last is None or first == last else f"{last - first:+g}"
        table.add_row(what, *("–" if n is None else f"{n:g}" for n in row), *[change] * (len(row) > 1))
    console.print(table)
    for name, house in houses.items():
        console.rule(name)
        for what, items in house.lists.items():
            if items:
                console.print(f"{what} ({len(items)})", style="bold")
                console.print("  " + "; ".join(items), soft_wrap=True)


def main() -> int:
    """Measure and show; the exit status is 1 where a task of the last tree fits no recipe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", type=Path, default=[Path(__file__).parents[1]], metavar="ROOT")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers and the lists")
    parser.add_argument("--quick", action="store_true", help="read the source only, run nothing")
    parser.add_argument("--trace", choices=["compiled", "plain"], help=argparse.SUPPRESS)
    told = parser.parse_args()
    roots = [root.resolve() for root in told.roots]
    if told.trace:
        print(json.dumps(trace(roots[0], told.trace == "plain")))
        return 0
    alike = len({root.name for root in roots}) < len(roots)
    houses = {str(root) if alike else root.name: measure(root, told.quick) for root in roots}
    show(houses)
    if told.json:
        content = {name: {"numbers": house.numbers, "lists": house.lists} for name, house in houses.items()}
        told.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(None in [*houses.values()][-1].numbers.values())


if __name__ == "__main__":
    sys.exit(main())
