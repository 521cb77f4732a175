"""Vectors as wide as the processor has them.

On most Intel servers LLVM uses half of the widest registers, because the clock of early ones slowed down under full
ones. Kernels that do nothing but arithmetic lose a quarter of their speed by that. Numba has no option for it, so the
attribute is set where Numba declares a function.
"""

import functools
import importlib
from typing import Any

WIDEST = '"prefer-vector-width"="512"'  # processors without such vectors ignore it
MODULES = ("compiler", "compiler_machinery", "lowering", "typed_passes")


@functools.cache
def wide_compiler() -> Any:
    """Numba's compiler with that attribute on every function, or None where this Numba is put together differently."""
    try:
        return _wide_compiler(*(importlib.import_module(f"numba.core.{name}") for name in MODULES))
    except (ImportError, AttributeError):
        return None


def _wide_compiler(compiler: Any, machinery: Any, lowering: Any, passes: Any) -> Any:
    def setup_function(self: Any, fndesc: Any) -> None:
        lowering.Lower.setup_function(self, fndesc)
        set.add(self.function.attributes, WIDEST)  # llvmlite's own `add` refuses attributes with a value

    def define_pipelines(self: Any) -> list[Any]:
        pipeline = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(wide if step is passes.NativeLowering else step, told) for step, told in pipeline.passes]
        pipeline.finalize()
        return [pipeline]

    wide_lower = type("WideLower", (lowering.Lower,), {"setup_function": setup_function})
    names = {"_name": "wide_native_lowering", "lowering_class": property(lambda _: wide_lower)}
    register = machinery.register_pass(mutates_CFG=True, analysis_only=False)
    wide = register(type("WideLowering", (passes.NativeLowering,), names))
    return type("WideCompiler", (compiler.CompilerBase,), {"define_pipelines": define_pipelines})
