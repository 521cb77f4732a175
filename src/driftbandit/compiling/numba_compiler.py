"""Numba's compiler, told what is a kernel and what is only a part of one.

Numba takes every function for one that Python may call: it makes two wrappers for it, optimises it together with
everything that it calls, and makes machine code of it. For a part of a kernel that is work for nothing, as it is done
again where the part is inlined, at every level of calls. Here a part is simplified by itself, and no more; the kernel
collects all its parts, and only it is optimised as a whole.

Vectors are as wide as the processor has them. On most Intel servers LLVM uses half of the widest registers, because the
clock of early ones slowed down under full ones. Kernels that do nothing but arithmetic lose a quarter of their speed by
that. Numba has no option for it, so the attribute is set where Numba declares a function.
"""

import functools
import importlib
from typing import Any, NamedTuple

WIDEST = '"prefer-vector-width"="512"'  # processors without such vectors ignore it
MODULES = ("codegen", "compiler", "compiler_machinery", "lowering", "typed_passes")


class Compilers(NamedTuple):
    """Options of `numba.njit` by which it compiles as above."""

    kernel: dict[str, Any]
    part: dict[str, Any]


@functools.cache
def compilers() -> Compilers:
    """The options, none where this Numba is put together differently."""
    try:
        modules = [importlib.import_module(f"numba.core.{name}") for name in MODULES]
        kernel, part = _kernel_compiler(*modules), _part_compiler(*modules)
    except (ImportError, AttributeError):
        return Compilers({}, {})
    return Compilers(
        {"pipeline_class": kernel}, {"pipeline_class": part, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    )


def _kernel_compiler(codegen: Any, compiler: Any, machinery: Any, lowering: Any, passes: Any) -> Any:
    def finalize(self: Any) -> None:
        """All parts are linked in, callers first: of a part that nobody calls yet nothing is taken."""
        found: dict[Any, None] = {}
        for library in self._linking_libraries:
            _collect(library, found)
        self._linking_libraries = list(reversed(found))
        codegen.JITCodeLibrary.finalize(self)

    def run_pass(self: Any, state: Any) -> Any:
        state["library"] = own = library(state.targetctx.codegen(), state.func_id.func_qualname)
        own.enable_object_caching()
        return passes.NativeLowering.run_pass(self, state)

    library = type("KernelLibrary", (codegen.JITCodeLibrary,), {"finalize": finalize})
    return _compiler("kernel", run_pass, compiler, machinery, lowering, passes)


def _collect(library: Any, found: dict[Any, None]) -> None:
    if library not in found:
        for called in getattr(library, "parts", tuple)():  # Numba's own have theirs linked in
            _collect(called, found)
        found[library] = None


def _part_compiler(codegen: Any, compiler: Any, machinery: Any, lowering: Any, passes: Any) -> Any:
    def finalize(self: Any) -> None:
        """Nothing is linked in, and nobody asks for machine code."""
        self._finalized = True

    def parts(self: Any) -> Any:
        return self._linking_libraries

    def run_pass(self: Any, state: Any) -> Any:
        flags = state.flags
        state.flags = flags.copy()
        state.flags.no_compile = True
        state["library"] = own = library(state.targetctx.codegen(), state.func_id.func_qualname)
        passes.NativeLowering.run_pass(self, state)
        state.flags = flags
        name: Any = [].append  # Numba knows a function by an object that Python could call: any that is no other's
        state["cr"] = state["cr"]._replace(cfunc=name)
        state.targetctx.insert_user_function(name, state["cr"].fndesc, [own])
        return True

    library = type("PartLibrary", (codegen.JITCodeLibrary,), {"finalize": finalize, "parts": parts})
    return _compiler("part", run_pass, compiler, machinery, lowering, passes)


def _compiler(kind: str, run_pass: Any, compiler: Any, machinery: Any, lowering: Any, passes: Any) -> Any:
    """Numba's compiler with another last step, and with the attribute for wide vectors on every function."""

    def setup_function(self: Any, fndesc: Any) -> None:
        lowering.Lower.setup_function(self, fndesc)
        set.add(self.function.attributes, WIDEST)  # llvmlite's own `add` refuses attributes with a value

    def define_pipelines(self: Any) -> list[Any]:
        pipeline = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(own if step is passes.NativeLowering else step, told) for step, told in pipeline.passes]
        pipeline.finalize()
        return [pipeline]

    wide_lower = type("WideLower", (lowering.Lower,), {"setup_function": setup_function})
    names = {
        "_name": f"{kind}_lowering",
        "lowering_class": property(lambda _: wide_lower),
        "run_pass": run_pass,
    }
    register = machinery.register_pass(mutates_CFG=True, analysis_only=False)
    own = register(type(f"{kind.title()}Lowering", (passes.NativeLowering,), names))
    return type(f"{kind.title()}Compiler", (compiler.CompilerBase,), {"define_pipelines": define_pipelines})
