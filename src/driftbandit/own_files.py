"""A class from a file, as in `mine.py:Mine:discount=0.9`: a policy or an environment of a user's own."""

import importlib.util
import re
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from driftbandit.checks import shown
from driftbandit.errors import DriftbanditError, InvalidValue
from driftbandit.files import read_whole

FILE = re.compile(r"(?P<path>.+\.py):(?P<name>\w+)(:(?P<parameters>.*))?", re.DOTALL)


def class_in_file(base: Any, text: str) -> tuple[Any, str]:
    """The class of a kind that a text names, and the text of its parameters. The file is run: only for whoever runs us.

    Parameters:
        base: `Policy` or `Environment`.
        text: a file and a class in it.
    """
    kind = base.kind
    found = FILE.fullmatch(text)
    if found is None:
        raise InvalidValue(f"{kind} must be written as FILE.py:Class or name:parameter=value,…, got {shown(text)}")
    module = _module(Path(found["path"]), kind)
    cls = getattr(module, found["name"], None)
    where = shown(found["path"])
    if cls is None:
        own = {name: value for name, value in vars(module).items() if _is_a(value, base)}
        there = [name for name, value in own.items() if value.__module__ == module.__name__]
        has = f"which has {', '.join(there)}" if there else f"which has no {base.plural}"
        raise InvalidValue(f"{kind} must name a class of {where}, {has}, got {shown(found['name'])}")
    if not _is_a(cls, base):
        raise InvalidValue(
            f"{kind} must be a class that derives from driftbandit.{base.__name__}, got {found['name']} of {where}"
        )
    if cls.known.get(cls.name) is not cls:
        raise InvalidValue(
            f'{kind} must have a name of its own, as in name: ClassVar[str] = "mine", got {found["name"]} of {where}'
        )
    return cls, found["parameters"] or ""


def _is_a(value: object, base: type) -> bool:
    return isinstance(value, type) and issubclass(value, base)


def _is_free(name: str, source: Path) -> bool:
    """Whether a module can have this name: nobody who imports another one of that name may get this instead."""
    if not name.isidentifier() or name in sys.modules:
        return False
    other = importlib.util.find_spec(name)
    return other is None or other.origin == str(source)


def _module(path: Path, kind: str) -> ModuleType:
    """The module in a file, imported once: two classes of it can be named one after the other."""
    read_whole(kind, path, "Python file")
    source = path.resolve()
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(source):
            return module
    name = path.stem if _is_free(path.stem, source) else f"{kind}_file_{zlib.crc32(str(source).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, source)
    if spec is None or spec.loader is None:
        raise InvalidValue(f"{kind} must be in a Python file, got {shown(str(path))}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except DriftbanditError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise InvalidValue(
            f"{kind} must be in a file that can be imported, got {shown(str(path))} ({reason})"
        ) from None
    return module
