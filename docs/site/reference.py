"""The reference: a page for every policy, and one for each group of other names, from docstrings."""

import ast
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import driftbandit
from driftbandit.policies.policy import FAMILIES

GROUPS = {
    "simulation": ("Simulation", ["simulate", "Result", "engine.Estimates", "Estimate"]),
    "rules": (
        "Policies of your own",
        ["Policy", "Rule", "Posterior", "Sampler", "Beliefs", "Clock", "ago", "kept", "gittins_index"],
    ),
    "environments": ("Environments", ["Environment", "Path"]),
    "live": ("Live decisions", ["Bandit", "Decision", "RewardStatus"]),
    "logs": ("Logs and tables", ["Log", "Value", "Tuning", "replay", "Replay"]),
    "exact": ("Exact probabilities", ["selection_probabilities", "suboptimal_probability", "ratio_density"]),
    "errors": ("Errors", ["DriftbanditError"]),
}
"""Pages and the names that come first on them; the others follow by what they are."""
MODULES = {
    "arena": "The arena", "client": "The client of a service", "datasets": "Recorded tables", "exact": "exact",
    "figures": "Figures", "numerics": "Numerics", "paper": "The paper", "replica": "Replicas",
    "specification": "Specifications",
}  # fmt: skip
"""Titles of modules that have a page of their own; another one is called by its name."""
INTERNAL = {"driftbandit.cli"}
LONGEST = 80
"""Letters of a value that is shown."""
BESIDE = ("driftbandit.figures", "driftbandit.replica", "driftbandit.specification")
"""Modules without a public list whose functions and classes are meant to be used."""


def modules() -> Iterator[ModuleType]:
    """The public submodules: those that say what is public."""
    for found in pkgutil.iter_modules(driftbandit.__path__, "driftbandit."):
        wanted = (found.ispkg and found.name not in INTERNAL) or found.name in BESIDE
        if wanted and not found.name.startswith("driftbandit._"):
            module = importlib.import_module(found.name)
            if hasattr(module, "__all__") or found.name in BESIDE:
                yield module


def listed(module: ModuleType) -> list[str]:
    """What a module says is public; where it says nothing, the functions and classes that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def names() -> dict[str, Any]:
    """Every public name with its value, by the shortest path to it."""
    found = {f"driftbandit.{name}": getattr(driftbandit, name) for name in driftbandit.__all__}
    known = {id(value) for value in found.values()}
    for module in modules():
        for name in listed(module):
            value = getattr(module, name)
            if id(value) not in known:
                known.add(id(value))
                found[f"{module.__name__}.{name}"] = value
    return found


def write(folder: Path) -> list[str]:
    """Write all pages, and say which of them are the chapter."""
    pages = _grouped(names())
    for page, (title, full) in pages.items():
        (folder / "reference").mkdir(parents=True, exist_ok=True)
        text = [title, "=" * len(title), "", *_introduction(page)]
        for name, value in full:
            text += _entry(name, value)
        (folder / "reference" / f"{page}.rst").write_text("\n".join(text) + "\n", encoding="utf-8")
    policies = _policies(folder)
    first = ["simulation", policies, "rules", "environments", "live", "logs", "exact"]
    return [f"reference/{page}" for page in [*first, *(page for page in pages if page not in first)]]


def _grouped(public: dict[str, Any]) -> dict[str, tuple[str, list[tuple[str, Any]]]]:
    """The names of every page, policies apart."""
    pages: dict[str, tuple[str, list[tuple[str, Any]]]] = {page: (title, []) for page, (title, _) in GROUPS.items()}
    for page, (_, first) in GROUPS.items():
        pages[page][1].extend((name, public[name]) for name in (f"driftbandit.{short}" for short in first))
    placed = {name for _, entries in pages.values() for name, _ in entries}
    for name, value in public.items():
        if name not in placed and not _is_policy(value):
            page, title = _page_of(name, value)
            pages.setdefault(page, (title, []))[1].append((name, value))
    return dict(sorted(pages.items(), key=lambda item: (item[0] not in GROUPS, item[0])))


def _is_policy(value: Any) -> bool:
    """Whether it has a page of its own: a policy that can be asked for by its name."""
    return inspect.isclass(value) and issubclass(value, driftbandit.Policy) and bool(getattr(value, "name", ""))


def _page_of(name: str, value: Any) -> tuple[str, str]:
    """The page on which a name is, and the title of a page that is not among the groups."""
    if inspect.isclass(value) and issubclass(value, driftbandit.Environment):
        return "environments", ""
    if inspect.isclass(value) and issubclass(value, driftbandit.Policy):
        return "rules", ""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return "errors", ""
    module = name.split(".")[1] if name.count(".") > 1 else ""
    if module in ("online", "logs", "exact", "engine") or not module:
        home = getattr(value, "__module__", "driftbandit.package").split(".")[1]
        known = {"online": "live", "logs": "logs", "exact": "exact", "engine": "simulation"}
        return (known[home], "") if home in known else ("package", "The package")
    if module in ("policies", "environments"):
        return {"policies": "rules"}.get(module, module), ""
    return module, MODULES.get(module, f"driftbandit.{module}")


def _introduction(page: str) -> list[str]:
    """What a module with a page of its own says of itself."""
    if page in GROUPS or page == "package":
        return []
    return [f".. automodule:: driftbandit.{page}", "   :no-members:", ""]


def _entry(name: str, value: Any) -> list[str]:
    """A directive that documents a name."""
    if inspect.isclass(value):
        own = _is_policy(value)  # how its rule is made is nothing to call
        more = ["   :undoc-members:"] if issubclass(value, str) or _is_enum(value) else []
        return [f".. autoclass:: {name}", "   :members:", *(["   :exclude-members: rule"] if own else []), *more, ""]
    if callable(value):
        return [f".. autofunction:: {name}", ""]
    if inspect.ismodule(value):  # has a page of its own
        return []
    module, _, short = name.rpartition(".")
    shown = [f"   :value: {value!r}"] if len(repr(value)) < LONGEST else []
    return [f".. py:currentmodule:: {module}", "", f".. py:data:: {short}", *shown, "", f"   {_said(name)}", ""]


def _is_enum(value: type) -> bool:
    return "__members__" in dir(value)


def _said(name: str) -> str:
    """The docstring below a constant in the source of its package."""
    module, _, short = name.rpartition(".")
    for path in sorted(Path(str(importlib.import_module(module).__file__)).parent.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for line, after in itertools.pairwise(body):
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and after.value.value
            targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            if told and any(isinstance(target, ast.Name) and target.id == short for target in targets):
                return str(told)
    return "The version of the package." if short == "__version__" else ""


def _policies(folder: Path) -> str:
    """A page for every policy, and one that lists them by family."""
    target = folder / "reference" / "policies"
    target.mkdir(parents=True, exist_ok=True)
    found = {name: value for name, value in names().items() if _is_policy(value)}
    out = ["Policies", "========", ""]
    for family in FAMILIES:
        out += [family, "-" * len(family), "", ".. list-table::", "   :widths: 40 20 60", "   :class: policies", ""]
        for name, value in found.items():
            if value.family == family:
                first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
                first = first.replace("*", "\\*").replace("`", "``")
                out += [f"   * - :py:class:`~{name}`", f"     - ``{value.name}``", f"     - {first}"]
        out.append("")
    out += [".. toctree::", "   :hidden:", ""]
    for name, value in sorted(found.items()):
        short = name.rpartition(".")[2]
        out.append(f"   policies/{short}")
        page = [short, "=" * len(short), "", f"``{value.name}`` · {value.family}", "", *_entry(name, value)]
        (target / f"{short}.rst").write_text("\n".join(page) + "\n", encoding="utf-8")
    (folder / "reference" / "policies.rst").write_text("\n".join(out) + "\n", encoding="utf-8")
    return "policies"
