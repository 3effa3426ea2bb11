"""Packages that need a GPU or its compiler: they import, and raise when something of them is
called; the versions that they say.

Only where a package is not installed. A few (`AT_IMPORT`) are called while modules are loaded, as
languages of kernels in decorators and tables; what they are asked for at import is a placeholder.
Kernels written in them raise like the others, because what starts them is a stub as well.
"""

import functools
import importlib.machinery
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

from equivalence.simulation import calls
from equivalence.simulation.settings import current

_STUBS = """sgl_kernel flashinfer deep_gemm cutlass flash_attn quack tilelang tokenspeed_mla torchao torchvision torch_memory_saver cuda
pynvml IPython compressed_tensors gguf soundfile datasets flash_mla cuda_tile"""
PACKAGES = frozenset(_STUBS.split())
"""Top-level modules that are stubs where they are not installed.

`datasets` needs no GPU, but weighs 300 MB.
"""

_CALLED = "cutlass cuda quack tilelang triton_kernels flash_attn torchvision timm cuda_tile"
AT_IMPORT = frozenset(_CALLED.split())
"""Those that modules call while they are loaded."""

_DISTRIBUTIONS = {
    "sgl_kernel": ("sglang-kernel", "sgl-kernel"),
    "flashinfer": ("flashinfer-python", "flashinfer-cubin"),
    "deep_gemm": ("sgl-deep-gemm",),
    "cutlass": ("nvidia-cutlass-dsl",),
    "flash_attn": ("flash-attn-4", "flash-attn"),
    "quack": ("quack-kernels",),
}
"""Those of other names than their modules.

Versions are asked for at start-up, to refuse one that is too old.
"""

_EXCEPTION = re.compile(r"[A-Z]\w*(?:Error|Exception)(?:_\w+)?")
"""Names of exceptions: ``OutOfResourcesError``, ``NVMLError_NotSupported``."""
_UNKNOWN = "9.9.9"
"""Version of a stub that upstream does not pin: newer than whatever may be asked for."""

_PIN = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*==\s*([\w.+!-]+)")


def declared_versions(requirements: Iterable[str]) -> dict[str, str]:
    """Exact pins among requirement strings, by normalised name."""
    found = (_PIN.match(text) for text in requirements)
    return {_normal(match[1]): match[2] for match in found if match}


def version_of(module: str) -> str:
    """Version of a stub module, as upstream declares it."""
    top = module.partition(".")[0]
    declared = current().versions
    return next(
        (declared[n] for n in _DISTRIBUTIONS.get(top, (_normal(top),)) if n in declared), _UNKNOWN
    )


def install() -> None:
    """Let `importlib.metadata.version` answer for stubs that are not installed."""
    original = importlib.metadata.version
    modules = {name: top for top in PACKAGES for name in _DISTRIBUTIONS.get(top, (_normal(top),))}

    def version(distribution_name: str) -> str:
        try:
            return original(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if (name := _normal(distribution_name)) not in modules:
                raise
            return current().versions.get(name) or version_of(modules[name])

    importlib.metadata.version = version


def _normal(name: str) -> str:
    """Return a distribution's name in the form that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()


class _Stub(type):
    """Class of all names of a stub: as attributes, bases, annotations and decorators they do no
    harm.
    """

    _is_stub: bool
    _path: str
    _placeholder: bool

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not cls.__dict__.get("_is_stub", False):
            return super().__call__(*args, **kwargs)  # A class of real code, derived from a stub.
        if len(args) == 1 and not kwargs and isinstance(args[0], (FunctionType, type)):
            return args[0]  # Used as a decorator.
        if cls._placeholder:
            return make(f"{cls._path}()")
        calls.record(calls.STUB, cls._path)
        next_step = "write a reference for it in equivalence/simulation/kernels"
        raise calls.SimulationError(f"{cls._path} was called, which needs a GPU", next_step)

    def __getattr__(cls, name: str) -> Any:
        if (name.startswith("__") and name.endswith("__")) or not cls.__dict__.get(
            "_is_stub", False
        ):
            raise AttributeError(name)
        value = make(f"{cls._path}.{name}")
        type.__setattr__(cls, name, value)
        return value

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __lt__(cls, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __exit__(cls, *exception: Any) -> None: ...


def _same(cls: type, *others: Any) -> type:
    return cls


# Arithmetic on placeholders happens in tables and default arguments only.
_ARITHMETIC = [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "neg",
    "pow",
]
_ON_BITS = ["lshift", "rshift", "and", "rand", "or", "ror", "xor", "invert"]
for _name in [*_ARITHMETIC, *_ON_BITS, "getitem", "enter"]:
    setattr(_Stub, f"__{_name}__", _same)


class _Base:
    """What classes of real code inherit when their base is a stub."""

    _is_stub = False

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...


def make(path: str) -> Any:
    """Return the stub of a dotted name; an exception class where the name looks like one, so that
    `except` takes it.
    """
    module, _, name = path.rpartition(".")
    if _EXCEPTION.fullmatch(name):
        return type(name, (Exception,), {"__module__": module})
    placeholder = path.partition(".")[0].removesuffix("()") in AT_IMPORT
    return _Stub(
        name,
        (_Base,),
        {"_is_stub": True, "_path": path, "_placeholder": placeholder, "__module__": module},
    )


class StubModule(ModuleType):
    """A module of a stub package: any name of it is there."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # `tilelang.jit` is a module and a decorator.
        return make(self.__name__)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return version_of(self.__name__)
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        value = make(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class StubFinder(MetaPathFinder, Loader):
    """Finds the stubs, whose references `fill` adds.

    Stands last among the finders, so that an installed package goes first.
    """

    def __init__(self, fill: Callable[[ModuleType], None]) -> None:
        self._fill = fill

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        """Return the stub's spec."""
        top = fullname.partition(".")[0]
        return (
            ModuleSpec(fullname, self, is_package=True)
            if top in PACKAGES and not _installed(top)
            else None
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty stub module."""
        module = StubModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Add what references there are."""
        self._fill(module)


@functools.cache
def _installed(top: str) -> bool:
    return importlib.machinery.PathFinder.find_spec(top) is not None
