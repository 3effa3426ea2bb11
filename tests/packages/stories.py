"""Small packages that nobody thought of, put together from what programs do with names.

A package tells a few stories, each with names of its own. A story has a target (a module, a class,
an object), a statement that binds it, a way by which it is handed on, and a reader that takes one
of its names. Which of each is drawn, so that their combinations are what nobody wrote down.
"""

from dataclasses import dataclass, field
from textwrap import indent
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(Protocol):
    """Draws a value of a strategy."""

    def __call__(self, strategy: st.SearchStrategy[T], /) -> T: ...


@dataclass(slots=True)
class Package:
    """The modules of a package while stories are added to it."""

    modules: dict[str, list[str]] = field(default_factory=dict)
    """By dotted name, the statements of each module."""
    packages: set[str] = field(default_factory=set)
    """Which of them are packages."""
    asked: list[str] = field(default_factory=list)
    """What the program prints: expressions of the main module."""

    def add(self, module: str, text: str, *, package: bool = False) -> None:
        """Append statements to a module; the packages around it come along."""
        parts = module.split(".")
        for size in range(2, len(parts)):
            around = ".".join(parts[:size])
            self.packages.add(around)
            self.modules.setdefault(around, [])
        if package:
            self.packages.add(module)
        self.modules.setdefault(module, []).append(text)

    def main(self, text: str) -> None:
        """Append statements to the main module."""
        self.add("sglang.launch_server", text)

    def ask(self, expression: str) -> None:
        """Have the program print an expression, or the error that it ends in."""
        self.asked.append(expression)

    def files(self) -> dict[str, str]:
        """Write the modules, each by its path in upstream's layout."""
        found: dict[str, str] = {}
        for name, statements in self.modules.items():
            path = f"python/{name.replace('.', '/')}"
            text = "\n".join(statements) + "\n"
            if name == "sglang.launch_server":
                text = _HEAD + text + "\n\n" + _SHOW + _program(self.asked)
            found[f"{path}/__init__.py" if name in self.packages else f"{path}.py"] = text
        return found


_HEAD = """import importlib
import os
import sys
from contextlib import nullcontext
from operator import attrgetter, methodcaller
from string import Template
from types import SimpleNamespace

from sglang.srt.utils import is_hip

"""

_SHOW = """def show(number, ask):
    try:
        print(number, ask())
    except Exception as error:
        print(number, type(error).__name__, error)


"""


def _program(asked: list[str]) -> str:
    lines = [f"    show({number}, lambda: {expression})" for number, expression in enumerate(asked)]
    return "def main():\n" + "\n".join(lines) + '\n\n\nif __name__ == "__main__":\n    main()\n'


def _pick(draw: Draw, *choices: str) -> str:
    return draw(st.sampled_from(choices))


# Targets


def target(n: int) -> str:
    """Write what a module of a story defines."""
    return f"""NAME{n} = "name"


def run{n}():
    return "ran"


class Thing{n}:
    kind{n} = "kind"

    def __init__(self):
        self.own{n} = "own"

    def act{n}(self):
        return "acted"

    @property
    def size{n}(self):
        return 9

    @classmethod
    def make{n}(cls):
        return cls()

    @staticmethod
    def plain{n}():
        return "plain"


def unused{n}():
    return 0


thing{n} = Thing{n}()
"""


# Statements that bind

BINDERS = {
    "plain": "{imp}",
    "try": "try:\n    {imp}\nexcept ImportError:\n    {x} = None",
    "try falls back": "try:\n    import surely_not_installed as {x}\nexcept ImportError:\n    {imp}",
    "try else": "try:\n    pass\nexcept ImportError:\n    {x} = None\nelse:\n    {imp}",
    "finally": "try:\n    pass\nfinally:\n    {imp}",
    "with": "from contextlib import nullcontext\nwith nullcontext():\n    {imp}",
    "with as": "{tmp}\nfrom contextlib import nullcontext\nwith nullcontext({t}) as {x}:\n    pass",
    "if": "import os\nif os.sep:\n    {imp}\nelse:\n    {x} = None",
    "elif": (
        "import os\nif not os.sep:\n    {x} = None\nelif os.sep:\n    {imp}\nelse:\n    {x} = 1"
    ),
    "fact": "from sglang.srt.utils import is_hip\nif is_hip():\n    {x} = None\nelse:\n    {imp}",
    "for": "for _ in range(1):\n    {imp}",
    "for target": "{tmp}\nfor {x} in ({t},):\n    pass",
    "while": "while True:\n    {imp}\n    break",
    "match": "match 1:\n    case 1:\n        {imp}",
    "match name": "{tmp}\nmatch {t}:\n    case {x}:\n        pass",
    "class body": "class Holder{n}:\n    {imp}\n{x} = Holder{n}.{x}",
    "class body, object": "class Holder{n}:\n    {imp}\n{x} = Holder{n}().{x}",
    "function": "def get{n}():\n    {imp}\n    return {x}\n{x} = get{n}()",
    "global": "{x} = None\ndef load{n}():\n    global {x}\n    {imp}\nload{n}()",
    "nonlocal": (
        "def outer{n}():\n    {x} = None\n    def inner{n}():\n        nonlocal {x}\n        "
        "{imp}\n"
        "    inner{n}()\n    return {x}\n{x} = outer{n}()"
    ),
    "walrus": "{tmp}\nassert ({x} := {t})",
    "tuple": "{tmp}\n{x}, _ = {t}, 0",
    "starred": "{tmp}\n*_, {x} = 0, {t}",
    "alias": "{tmp}\n{x} = {t}",
    "annotated": "{tmp}\n{x}: object = {t}",
    "delete": "{tmp}\n{x} = {t}\ndel {t}",
    "twice": "{x} = None\n{imp}",
    "ternary": "{tmp}\nimport os\n{x} = {t} if os.sep else None",
    "or": "{tmp}\n{x} = None or {t}",
}


def _imports(draw: Draw, module: str, name: str, bound: str) -> str:
    """Draw an import of a module, or of a name in it."""
    package, _, last = module.rpartition(".")
    if name:
        return f"from {module} import {name} as {bound}"
    return _pick(
        draw,
        f"import {module} as {bound}",
        f"from {package} import {last} as {bound}",
    )


def _bound(draw: Draw, package: Package, n: int, module: str, name: str) -> str:
    """Bind a module or a name of it somewhere; return the expression that reads it in main."""
    x = f"x{n}"
    binder = BINDERS[draw(st.sampled_from(sorted(BINDERS)))]
    imported = _imports(draw, module, name, x)
    temporary = _imports(draw, module, name, f"t{n}")
    text = binder.format(imp=imported, tmp=temporary, x=x, t=f"t{n}", n=n)
    where = _pick(draw, "main", "other", "package")
    if where == "main":
        package.main(text)
        return x
    other = f"sglang.b{n}" if where == "other" else f"sglang.q{n}.b{n}"
    package.add(other, text)
    again = _pick(draw, "directly", "directly", "handed on", "star")
    if again == "handed on":
        package.add(f"sglang.r{n}", f"from {other} import {x}")
        other = f"sglang.r{n}"
    elif again == "star":
        package.add(f"sglang.r{n}", f"from {other} import *")
        other = f"sglang.r{n}"
    around, _, last = other.rpartition(".")
    form = _pick(draw, "from", "whole", "module", "local")
    if form == "from":
        package.main(f"from {other} import {x}")
        return x
    if form == "whole":
        package.main(f"import {other}")
        return f"{other}.{x}"
    if form == "module":
        package.main(f"from {around} import {last} as mod{n}")
        return f"mod{n}.{x}"
    package.main(f"def fetch{n}():\n    from {other} import {x}\n\n    return {x}\n")
    return f"fetch{n}()"


# Ways by which a value is handed on

CARRIERS = (
    "{v}",
    "{v}",
    "[{v}][0]",
    "{{'k': {v}}}['k']",
    "(lambda given: given)({v})",
    "(lambda given={v}: given)()",
    "SimpleNamespace(held={v}).held",
    "next(iter(({v},)))",
    "max([{v}], key=id)",
    "(None or {v})",
    "({v} if os.sep else None)",
    "dict(k={v}).get('k')",
    "vars(SimpleNamespace(held={v}))['held']",
    "[each for each in [{v}]][0]",
    "getattr(SimpleNamespace(held={v}), 'held')",
)

READERS = (
    "{v}.{a}",
    "{v}.{a}",
    "getattr({v}, '{a}')",
    "getattr({v}, '{a}', 'none')",
    "hasattr({v}, '{a}')",
    "attrgetter('{a}')({v})",
    "attrgetter('__doc__', '{a}')({v})[1]",
    "'{{0.{a}}}'.format({v})",
    "'{{v.{a}:>9}}'.format(v={v})",
    "'{{v.{a}!r}}'.format_map({{'v': {v}}})",
    "(lambda given: f'{{given.{a}}}')({v})",
    "[getattr({v}, name) for name in ('{a}',)][0]",
    "[getattr({v}, name) for name in 'none {a}'.split()[1:]][0]",
    "eval('v.{a}', {{'v': {v}}})",
    "(lambda given: given.{a})({v})",
    "getattr({v}, ''.join(['{h}', '{t}']))",
    "getattr({v}, f\"{{'{h}'}}{t}\")",
    "getattr({v}, '{h}%s' % '{t}')",
    "[each for each in dir({v}) if each == '{a}']",
)

CALLS = (
    "{v}.{a}()",
    "methodcaller('{a}')({v})",
    "getattr({v}, '{a}')()",
    "(lambda f: f())({v}.{a})",
)


def _read(draw: Draw, package: Package, value: str, attribute: str, *, callable_: bool) -> None:
    """Hand a value on, and print what one of its names gives."""
    held = draw(st.sampled_from(CARRIERS)).format(v=value)
    readers = CALLS if callable_ else READERS
    half = len(attribute) // 2
    template = draw(st.sampled_from(readers))
    asked = template.format(v=held, a=attribute, h=attribute[:half], t=attribute[half:])
    if callable_ or attribute.startswith(("NAME", "kind", "own", "size")):
        package.ask(asked)
    else:
        package.ask(f"type({asked}).__name__")


# Stories


def _bound_target(draw: Draw, package: Package, n: int, name: str) -> str:
    """Add the target of a story and bind it, or a name of it; return what reads it in main."""
    module = _pick(draw, f"sglang.m{n}", f"sglang.p{n}.m{n}")
    package.add(module, target(n))
    return _bound(draw, package, n, module, name)


def tell_of_a_module(draw: Draw, package: Package, n: int) -> None:
    """A module is bound somewhere, handed on, and asked for a name."""
    value = _bound_target(draw, package, n, "")
    name, calls = draw(
        st.sampled_from([(f"NAME{n}", False), (f"run{n}", True), (f"Thing{n}", False)])
    )
    _read(draw, package, value, name, callable_=calls)


def tell_of_a_class(draw: Draw, package: Package, n: int) -> None:
    """A class is bound somewhere, handed on, and asked for a member."""
    value = _bound_target(draw, package, n, f"Thing{n}")
    choices = [(f"kind{n}", False), (f"make{n}", True), (f"plain{n}", True), (f"act{n}", False)]
    name, calls = draw(st.sampled_from(choices))
    if name == f"make{n}":
        package.ask(f"{value}.{name}().act{n}()")
    else:
        _read(draw, package, value, name, callable_=calls)


def tell_of_an_object(draw: Draw, package: Package, n: int) -> None:
    """An object is bound somewhere, handed on, and asked for a member."""
    value = _bound_target(draw, package, n, f"thing{n}")
    choices = [(f"kind{n}", False), (f"size{n}", False), (f"own{n}", False), (f"act{n}", True)]
    name, calls = draw(st.sampled_from(choices))
    _read(draw, package, value, name, callable_=calls)


LOADERS = (
    "import {p}.{s}",
    "import {p}.{s} as loaded{n}",
    "from {p} import {s}",
    "from {p} import {s} as loaded{n}",
    "from {p}.{s} import {d}",
    "try:\n    import {p}.{s}\nexcept ImportError:\n    pass",
    "try:\n    from {p} import {s}\nexcept ImportError:\n    {s} = None",
    "if os.sep:\n    import {p}.{s}",
    "class Loads{n}:\n    import {p}.{s}",
    "def load{n}():\n    import {p}.{s}\n\n\nload{n}()",
    "importlib.import_module('{p}.{s}')",
    "__import__('{p}.{s}')",
)

STANDARD = (
    ("xml", "dom", "minidom", "parseString"),
    ("logging", "handlers", "", "MemoryHandler"),
    ("email", "mime", "text", "MIMEText"),
    ("wsgiref", "util", "", "guess_scheme"),
    ("html", "entities", "", "name2codepoint"),
    ("unittest", "mock", "", "patch"),
    ("multiprocessing", "pool", "", "ThreadPool"),
    ("xml", "sax", "saxutils", "escape"),
    ("http", "cookies", "", "SimpleCookie"),
    ("urllib", "robotparser", "", "RobotFileParser"),
    ("concurrent", "futures", "thread", "ThreadPoolExecutor"),
)


def _submodule_readers(package: str, sub: str, last: str) -> tuple[str, ...]:
    """List the ways to take a name of a submodule through its package."""
    return (
        f"{package}.{sub}.{last}",
        f"getattr({package}, '{sub.partition('.')[0]}')"
        + "".join(f".{p}" for p in [*sub.split(".")[1:], last]),
        f"hasattr({package}, '{sub.partition('.')[0]}') and {package}.{sub}.{last}",
        f"sys.modules['{package}.{sub}'].{last}",
        f"attrgetter('{sub}.{last}')({package})",
        f"'{{0.{sub}.{last}.__name__}}'.format({package})",
        f"(lambda held: held.{sub}.{last})({package})",
        f"[{package}][0].{sub}.{last}",
        f"vars({package})['{sub.partition('.')[0]}'] is not None",
    )


def tell_of_a_submodule(draw: Draw, package: Package, n: int) -> None:
    """An import in one file makes a submodule that another file reads through its package."""
    if draw(st.booleans()):
        top, *rest, last = draw(st.sampled_from(STANDARD))
        sub = ".".join(part for part in rest if part)
        before, _, base = f"{top}.{sub}".rpartition(".")
    else:
        top, sub, last = f"sglang.p{n}", f"s{n}", f"run{n}"
        before, base = top, sub
        package.add(f"{top}.{sub}", target(n))
    loader = draw(st.sampled_from(LOADERS)).format(p=before, s=base, d=last, n=n)
    where = _pick(draw, "main", "other", "far", "package")
    text = f"import importlib\nimport os\n\n{loader}"
    if where == "main":
        package.main(loader)
    elif where == "package":
        package.add(f"sglang.o{n}", text, package=True)
        package.main(f"import sglang.o{n}")
    else:
        package.add(f"sglang.o{n}", text)
        user = f"sglang.o{n}"
        if where == "far":
            package.add(f"sglang.f{n}", _pick(draw, f"import {user}", f"from sglang import o{n}"))
            user = f"sglang.f{n}"
        package.main(
            _pick(
                draw, f"import {user}", f"from sglang import {user.rpartition('.')[2]} as used{n}"
            )
        )
    package.main(f"import {top}")
    reader = draw(st.sampled_from(_submodule_readers(top, sub, last)))
    package.ask(f"getattr({reader}, '__name__', 'made')")


FRAMES = (
    ("locals()['{x}']", ""),
    ("'{x}' in dir()", ""),
    ("vars()['{x}']", ""),
    ("eval('{x}')", ""),
    ("peek{n}()", "def peek{n}():\n    return sys._getframe(1).f_locals['{x}']"),
    (
        "peek{n}()",
        (
            "import inspect\n\n\ndef peek{n}():\n    return "
            "inspect.currentframe().f_back.f_locals.get('{x}')"
        ),
    ),
    (
        "peek{n}('{x}')",
        "def peek{n}(name):\n    return getattr(sys._getframe(1), 'f_' + 'locals')[name]",
    ),
    ("1 / 0", ""),
)


def tell_of_a_local(draw: Draw, package: Package, n: int) -> None:
    """A local is read through a frame, beside a branch that the facts decide."""
    x = f"seen{n}"
    asked, helper = draw(st.sampled_from(FRAMES))
    value = _pick(draw, "'cuda'", "None", "True", "3")
    asked, helper = (text.format(x=x, n=n) for text in (asked, helper))
    branch = _pick(
        draw,
        f"if is_hip():\n    {x} = 'hip'",
        f"if is_hip():\n    print({x})",
        f"{x}y = {x} if is_hip() else 0",
    )
    body = f"{x} = {value}\n{branch}\nreturn {asked}"
    where = f"sglang.m{n}"
    package.add(where, f"import sys\nfrom sglang.srt.utils import is_hip\n\n{helper}\n\n")
    package.add(where, f"def work{n}():\n{indent(body, '    ')}\n")
    package.main(f"from {where} import work{n}")
    if asked == "1 / 0":
        package.main(
            f"def trace{n}():\n    try:\n        work{n}()\n    except ZeroDivisionError as "
            "error:\n"
            "        frame = error.__traceback__.tb_next.tb_frame\n        return "
            f"frame.f_locals.get('{x}')\n"
        )
        package.ask(f"trace{n}()")
    else:
        package.ask(f"work{n}()")


REGISTRIES = {
    "decorator": (
        (
            "TABLE{n} = {{}}\n\n\ndef register{n}(cls):\n    TABLE{n}[cls.__name__] = cls\n    "
            "return cls\n"
        ),
        (
            "from sglang.base{n} import register{n}\n\n\n@register{n}\nclass Plug{n}{k}:\n    "
            "def go{n}(self):\n        return '{k}'\n"
        ),
        "sorted((key, made().go{n}()) for key, made in TABLE{n}.items())",
        "TABLE{n}",
    ),
    "keyed decorator": (
        (
            "TABLE{n} = {{}}\n\n\ndef register{n}(key):\n    def add(made):\n        "
            "TABLE{n}[key] = made\n        return made\n\n    return add\n"
        ),
        (
            "from sglang.base{n} import register{n}\n\n\n@register{n}('{k}')\ndef "
            "plug{n}{k}():\n    return '{k}'\n"
        ),
        "sorted((key, made()) for key, made in TABLE{n}.items())",
        "TABLE{n}",
    ),
    "hook": (
        (
            "class Base{n}:\n    found{n} = []\n\n    def __init_subclass__(cls, **more):\n      "
            "  super().__init_subclass__(**more)\n        Base{n}.found{n}.append(cls)\n"
        ),
        (
            "from sglang.base{n} import Base{n}\n\n\nclass Plug{n}{k}(Base{n}):\n    def "
            "go{n}(self):\n        return '{k}'\n"
        ),
        "[made().go{n}() for made in Base{n}.found{n}]",
        "Base{n}",
    ),
    "subclasses": (
        "class Base{n}:\n    pass\n\n\ndef all{n}():\n    return Base{n}.__subclasses__()\n",
        (
            "from sglang.base{n} import Base{n}\n\n\nclass Plug{n}{k}(Base{n}):\n    def "
            "go{n}(self):\n        return '{k}'\n"
        ),
        "sorted(made().go{n}() for made in all{n}())",
        "all{n}",
    ),
    "metaclass": (
        (
            "class Meta{n}(type):\n    known{n} = []\n\n    def __new__(cls, name, bases, "
            "space):\n        made = super().__new__(cls, name, bases, space)\n        "
            "cls.known{n}.append(sorted(each for each in space if each.startswith('go')))\n      "
            "  return made\n\n\nclass Base{n}(metaclass=Meta{n}):\n    pass\n"
        ),
        (
            "from sglang.base{n} import Base{n}\n\n\nclass Plug{n}{k}(Base{n}):\n    def "
            "go{n}(self):\n        return '{k}'\n"
        ),
        "Meta{n}.known{n}",
        "Meta{n}",
    ),
    "events": (
        "EVENTS{n} = []\n",
        (
            "from sglang import base{n}\n\nbase{n}.EVENTS{n}.append('{k}')\n\n\ndef "
            "go{n}{k}():\n    return '{k}'\n"
        ),
        "EVENTS{n}",
        "EVENTS{n}",
    ),
    "table filled": (
        "TABLE{n} = {{}}\n",
        (
            "from sglang.base{n} import TABLE{n}\n\n\ndef go{n}{k}():\n    return "
            "'{k}'\n\n\nTABLE{n}['{k}'] = go{n}{k}\n"
        ),
        "sorted((key, made()) for key, made in TABLE{n}.items())",
        "TABLE{n}",
    ),
    "methods": (
        (
            "TABLE{n} = {{}}\n\n\ndef register{n}(made):\n    TABLE{n}[made.__name__] = made\n   "
            " return made\n"
        ),
        (
            "from sglang.base{n} import register{n}\n\n\nclass Plug{n}{k}:\n    @register{n}\n   "
            " def go{n}{k}(self):\n        return '{k}'\n"
        ),
        "sorted((key, made(None)) for key, made in TABLE{n}.items())",
        "TABLE{n}",
    ),
    "defaults": (
        "SEEN{n} = []\n\n\ndef note{n}(value):\n    SEEN{n}.append(value)\n    return value\n",
        (
            "from sglang.base{n} import note{n}\n\n\ndef go{n}{k}(given=note{n}('{k}')):\n    "
            "return given\n"
        ),
        "SEEN{n}",
        "SEEN{n}",
    ),
}


def tell_of_a_registry(draw: Draw, package: Package, n: int) -> None:
    """Modules that nobody names register what they have; somebody goes through all of it."""
    base, plug, asked, taken = REGISTRIES[draw(st.sampled_from(sorted(REGISTRIES)))]
    package.add(f"sglang.base{n}", base.format(n=n))
    for k in ("a", "b"):
        package.add(f"sglang.plug{n}.{k}{n}", plug.format(n=n, k=k))
    loader = _pick(
        draw, "main", "package", "package from", "try", "function", "names", "walk", "texts"
    )
    one, two = f"sglang.plug{n}.a{n}", f"sglang.plug{n}.b{n}"
    if loader == "main":
        package.main(f"import {one}\nimport {two}")
    elif loader == "package":
        package.add(f"sglang.plug{n}", f"import {one}\nimport {two}", package=True)
        package.main(f"import sglang.plug{n}")
    elif loader == "package from":
        package.add(f"sglang.plug{n}", f"from . import a{n}, b{n}", package=True)
        package.main(f"from sglang import plug{n}")
    elif loader == "try":
        package.main(
            f"try:\n    import {one}\n    from sglang.plug{n} import b{n}\nexcept ImportError:\n  "
            "  pass"
        )
    elif loader == "function":
        package.add(
            f"sglang.load{n}",
            f"def load{n}():\n    import {one}\n    from sglang.plug{n} import b{n}",
        )
        package.main(f"from sglang.load{n} import load{n}\n\nload{n}()")
    elif loader == "names":
        package.main(f"import {one} as one{n}, {two} as two{n}")
    elif loader == "walk":
        package.main(
            "import pkgutil\n\nfor found in "
            f"pkgutil.iter_modules(importlib.import_module('sglang.plug{n}').__path__):\n"
            f"    importlib.import_module('sglang.plug{n}.' + found.name)"
        )
    else:
        package.main(f"for name in ('{one}', '{two}'):\n    importlib.import_module(name)")
    package.main(f"from sglang.base{n} import {taken.format(n=n)}")
    package.ask(asked.format(n=n))


FACTS = (
    # What is gone is named where no run comes, or where nothing is evaluated.
    (
        "from sglang.gone.config{n} import Config{n}\n\nAlias{n} = {alias}\n\n\ndef "
        "use{n}(given: {annotation} = 1):\n    return given\n"
    ),
    (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from sglang.gone.config{n} "
        "import Config{n}\n\n\ndef use{n}(given: '{quoted}' = 1):\n    return given\n"
    ),
    (
        "from sglang.srt.utils import is_hip\n\n_is_hip{n} = is_hip()\nif _is_hip{n}:\n    from "
        "sglang.gone.config{n} import Config{n}\n\n\ndef use{n}(given=1):\n    if _is_hip{n}:\n  "
        "      return Config{n}()\n    return given\n"
    ),
    (
        "from sglang.srt.utils import is_hip\n\n\ndef use{n}(given=1):\n    if is_hip() or given "
        "== 'gone':\n        from sglang.gone.config{n} import Config{n}\n\n        return "
        "Config{n}()\n    return given\n"
    ),
    (
        "from sglang.gone.config{n} import Config{n}\n\n\ndef use{n}(given=1):\n    return "
        "given, isinstance(given, Config{n}), isinstance(given, (int, Config{n}))\n"
    ),
    (
        "from sglang.gone.config{n} import Config{n}\n\n\nclass Own{n}:\n    held: Config{n} = "
        "None\n    also: {annotation} = None\n\n\ndef use{n}(given=1):\n    return Own{n}.held, "
        "given\n"
    ),
    (
        "from sglang.srt.utils import is_hip\n\n\ndef use{n}(given=1):\n    return [each for "
        "each in (1, 2) if is_hip()], [given for _ in (1,) if not is_hip()]\n"
    ),
)


def tell_of_something_removed(draw: Draw, package: Package, n: int) -> None:
    """Code names what a rule removes, where no run in the closed world evaluates it."""
    package.add(f"sglang.gone.config{n}", f"class Config{n}:\n    pass\n")
    alias = _pick(
        draw,
        f"Config{n}",
        f"list[Config{n}]",
        f"dict[str, list[Config{n}]]",
        f"int | Config{n}",
        f"tuple[int, Config{n}]",
        f"type[Config{n}] | None",
    )
    annotation = _pick(draw, f"Alias{n}", f"list[Alias{n}]", f"Alias{n} | None")
    template = draw(st.sampled_from(FACTS))
    if "Alias" not in template:
        annotation = alias
    text = template.format(n=n, alias=alias, annotation=annotation, quoted=alias.replace("'", ""))
    package.add(f"sglang.m{n}", text)
    package.main(f"from sglang.m{n} import use{n}")
    package.ask(f"use{n}()")


WALKS = (
    (
        "found{n}[module.__name__] = module.Entry{n}().go{n}() if hasattr(module, 'Entry{n}') "
        "else None"
    ),
    "found{n}[module.__name__] = getattr(module, 'Entry{n}', dict)",
    "found{n}[module.__name__] = sorted(each for each in dir(module) if each.startswith('Entry'))",
    "found{n}[module.__name__] = vars(module).get('Entry{n}') is not None",
    "found{n}[module.__name__] = 'Entry{n}' in module.__dict__",
)


def tell_of_a_walk(draw: Draw, package: Package, n: int) -> None:
    """Somebody imports each module of a package and takes a name of it, if it is there."""
    for k in ("a", "b"):
        helper = (
            f"from sglang.walk{n}.b{n} import help{n}\n\nVALUE{n} = help{n}()\n" if k == "a" else ""
        )
        own = f"def help{n}():\n    return 1\n" if k == "b" else ""
        entry = (
            f"class Own{k}{n}:\n    def go{n}(self):\n        return '{k}'\n\n\nEntry{n} = "
            f"Own{k}{n}\n"
        )
        package.add(
            f"sglang.walk{n}.{k}{n}", f"{helper}{own}\n\n{entry if draw(st.booleans()) else ''}"
        )
    step = draw(st.sampled_from(WALKS)).format(n=n)
    path = _pick(
        draw,
        f"importlib.import_module('sglang.walk{n}').__path__",
        f"walked{n}.__path__",
    )
    name = _pick(draw, f"f'sglang.walk{n}.{{each.name}}'", f"'sglang.walk{n}.' + each.name")
    package.main(f"import pkgutil\n\nimport sglang.walk{n} as walked{n}\n")
    package.main(
        f"def walk{n}():\n    found{n} = {{}}\n    for each in pkgutil.iter_modules({path}):\n"
        f"        module = importlib.import_module({name})\n        {step}\n"
        f"    return sorted(found{n}) + [str(type(each).__name__) for _, each in "
        f"sorted(found{n}.items())]\n"
    )
    package.ask(f"walk{n}()")


TEXTS = (
    "'{{{f}}}'.format(**{{'{f}': '{{0.{a}}}'}}).format({v})",
    "Template('${{{a}}}').substitute(Mapping{n}({v}))",
    "'%({a})s' % Mapping{n}({v})",
    "'{{{a}}}'.format_map(Mapping{n}({v}))",
    "FORMAT{n}.format(v={v})",
    "attrgetter('{a}.__class__.__name__')({v})",
)


def tell_of_names_in_texts(draw: Draw, package: Package, n: int) -> None:
    """A name stands in a text that formats or looks up, not in code."""
    package.add(f"sglang.m{n}", target(n))
    attribute = _pick(draw, f"size{n}", f"kind{n}", f"own{n}")
    package.main(
        f"from sglang.m{n} import Thing{n}\n\nFORMAT{n} = 'it is {{v.{attribute}}} or so'\n\n\n"
        f"class Mapping{n}:\n    def __init__(self, of):\n        self.of = of\n\n"
        f"    def __getitem__(self, name):\n        return getattr(self.of, name)\n\n"
        f"    def keys(self):\n        return []\n"
    )
    package.ask(
        draw(st.sampled_from(TEXTS)).format(a=attribute, f=f"field{n}", n=n, v=f"Thing{n}()")
    )


ENUMERATIONS = (
    "[getattr({v}, name)() for name in sorted(dir({v})) if name.startswith('do_')]",
    "[getattr({v}, name)() for name in sorted(dir({v})) if not name.startswith('_')]",
    (
        "[each() for name, each in inspect.getmembers({v}, inspect.ismethod) if not "
        "name.startswith('__')]"
    ),
    "[getattr({v}, name)() for name in sorted(vars(type({v}))) if name.startswith('do_')]",
    "[getattr({v}, name)() for name in sorted(type({v}).__dict__) if name.startswith('do_')]",
    "[each({v}) for name, each in sorted(vars(type({v})).items()) if name.startswith('do_')]",
    "'do_a{n}' in dir({v}) and {v}.do_b{n}()",
    "[getattr({v}, name)() for name in module{n}.__all__]",
)


def tell_of_all_members(draw: Draw, package: Package, n: int) -> None:
    """Code goes through all names of an object, a class or a module."""
    package.add(
        f"sglang.m{n}",
        f"__all__ = ['do_a{n}', 'do_b{n}']\n\n\n"
        f"class Own{n}:\n    def do_a{n}(self):\n        return 'a'\n\n    def do_b{n}(self):\n   "
        "     return 'b'\n\n\n"
        f"def do_a{n}():\n    return 'module a'\n\n\ndef do_b{n}():\n    return 'module b'\n",
    )
    template = draw(st.sampled_from(ENUMERATIONS))
    held = "module" if "__all__" in template else "object"
    value = f"Own{n}()" if held == "object" else f"module{n}"
    package.main(
        f"import inspect\n\nimport sglang.m{n} as module{n}\nfrom sglang.m{n} import Own{n}\n"
    )
    if draw(st.booleans()):
        package.ask(template.format(v=value, n=n))
    else:
        asked = template.format(v="given", n=n)
        package.add(
            f"sglang.all{n}", f"import inspect\n\nfrom sglang import m{n} as module{n}\n\n\n"
        )
        package.add(f"sglang.all{n}", f"def all{n}(given):\n    return {asked}\n")
        package.main(f"from sglang.all{n} import all{n}")
        package.ask(f"all{n}({value})")


DISPATCHES = (
    ("class Kind{n}(Enum):\n    act{n} = 1\n", "getattr(given, Kind{n}.act{n}.name)()"),
    ("class Kind{n}(Enum):\n    one = 'act{n}'\n", "getattr(given, Kind{n}.one.value)()"),
    (
        "def send{n}(given, **more):\n    return [getattr(given, key)() for key in more]\n",
        "send{n}(given, act{n}=1)",
    ),
    (
        "@dataclass\nclass Flags{n}:\n    act{n}: bool = True\n",
        "[getattr(given, each.name)() for each in fields(Flags{n})]",
    ),
    (
        "def job{n}(act{n}):\n    return act{n}\n",
        "[getattr(given, each)() for each in inspect.signature(job{n}).parameters]",
    ),
    ("WORDS{n} = 'none act{n}'.split()\n", "getattr(given, WORDS{n}[1])()"),
    ("TABLE{n} = {{'act{n}': 1}}\n", "[getattr(given, key)() for key in TABLE{n}]"),
    (
        "Point{n} = namedtuple('Point{n}', 'act{n} other')\n",
        "[getattr(given, key)() for key in Point{n}._fields[:1]]",
    ),
    ("NAME{n} = 'act{n}'\n", "methodcaller(NAME{n})(given)"),
    ("PLACE{n} = 'sglang.m{n}:Thing{n}.act{n}'\n", "getattr(given, PLACE{n}.rpartition('.')[2])()"),
)


def tell_of_a_dispatch(draw: Draw, package: Package, n: int) -> None:
    """A method is called by a name that stands as something else: a keyword, a field, a key."""
    package.add(f"sglang.m{n}", target(n))
    written, asked = draw(st.sampled_from(DISPATCHES))
    package.add(
        f"sglang.d{n}",
        "import inspect\nfrom collections import namedtuple\nfrom dataclasses import dataclass, "
        "fields\n"
        "from enum import Enum\nfrom operator import methodcaller\n\n" + written.format(n=n),
    )
    package.add(f"sglang.d{n}", f"\n\ndef dispatch{n}(given):\n    return {asked.format(n=n)}\n")
    package.main(f"from sglang.d{n} import dispatch{n}\nfrom sglang.m{n} import Thing{n}")
    package.ask(f"dispatch{n}(Thing{n}())")


LISTINGS = (
    "sorted(name for name, each in vars(kind).items() if callable(each) and name[0] != '_')",
    "sorted(name for name in kind.__dict__ if name[:2] == 'do')",
    "sorted(name for name in getattr(kind, '__dict__') if name[:2] == 'do')",
    "sorted({{name for base in kind.__mro__ for name in vars(base) if name[:2] == 'do'}})",
    "[getattr(kind, name)(None) for name in sorted(vars(kind)) if name[:2] == 'do']",
)


def tell_of_a_listing(draw: Draw, package: Package, n: int) -> None:
    """A function lists what is in the class that it is given: as an argument, in a list, or as a
    decorator.
    """
    listing = draw(st.sampled_from(LISTINGS)).format(n=n)
    package.add(
        f"sglang.l{n}",
        f"FOUND{n} = []\n\n\ndef list{n}(kind):\n    FOUND{n}.extend({listing})\n    return "
        "kind\n\n\n"
        f"def list_all{n}(kinds):\n    return [list{n}(kind).__name__ for kind in kinds], "
        f"FOUND{n}\n",
    )
    way = _pick(draw, "argument", "list", "display", "decorator")
    text = (
        f"class Own{n}:\n    def do_a{n}(self):\n        return 'a'\n\n    def do_b{n}(self):\n    "
        "    return 'b'\n"
    )
    if way == "decorator":
        text = f"from sglang.l{n} import list{n}\n\n\n@list{n}\n{text}"
    package.add(f"sglang.m{n}", f"{text}\n\nKINDS{n} = [Own{n}]\n")
    package.main(
        f"from sglang.l{n} import FOUND{n}, list{n}, list_all{n}\nfrom sglang.m{n} import "
        f"KINDS{n}, Own{n}"
    )
    asked = {
        "argument": f"(list{n}(Own{n}).__name__, FOUND{n})",
        "list": f"list_all{n}([Own{n}])",
        "display": f"list_all{n}(KINDS{n})",
        "decorator": f"(Own{n}.__name__, FOUND{n})",
    }
    package.ask(asked[way])


LAZY = (
    (
        "import importlib\n\n\ndef __getattr__(name):\n    return "
        "importlib.import_module(f'{{__name__}}.{{name}}')\n"
    ),
    (
        "import importlib\n\n\ndef __getattr__(name):\n    return importlib.import_module('.' + "
        "name, __package__)\n"
    ),
    (
        "import importlib\n\n\ndef __getattr__(name):\n    return "
        "importlib.import_module(__name__ + '.' + name)\n"
    ),
    "_WHERE = {{'s{n}': 'sglang.lazy{n}.s{n}'}}\n\n\ndef __getattr__(name):\n    import "
    "importlib\n\n"
    "    if name not in _WHERE:\n        raise AttributeError(name)\n    return "
    "importlib.import_module(_WHERE[name])\n",
    "def __getattr__(name):\n    if name != 's{n}':\n        raise AttributeError(name)\n    "
    "from sglang.lazy{n} import s{n}\n\n"
    "    return s{n}\n",
)


def tell_of_a_lazy_package(draw: Draw, package: Package, n: int) -> None:
    """A package loads its submodules when somebody reads them."""
    package.add(f"sglang.lazy{n}", draw(st.sampled_from(LAZY)).format(n=n), package=True)
    package.add(f"sglang.lazy{n}.s{n}", target(n))
    package.main(f"import sglang.lazy{n} as lazy{n}")
    package.ask(f"lazy{n}.s{n}.run{n}()")


FAMILIES = (
    "class Top{n}(Base{n}):\n    def step{n}(self):\n        return 'top'\n",
    "class Top{n}(Base{n}):\n    def step{n}(self):\n        return 'top ' + super().step{n}()\n",
    (
        "class Mixin{n}:\n    def step{n}(self):\n        return 'mixin'\n\n\nclass "
        "Top{n}(Mixin{n}, Base{n}):\n    pass\n"
    ),
    "class Top{n}(Base{n}):\n    step{n} = lambda self: 'top'\n",
    "class Top{n}(Base{n}):\n    pass\n\n\nTop{n}.step{n} = lambda self: 'patched'\n",
    "class Top{n}(Base{n}):\n    def __getattr__(self, name):\n        return lambda: name\n",
    (
        "class Top{n}(Base{n}):\n    @property\n    def step{n}(self):\n        return lambda: "
        "'property'\n"
    ),
    "class Top{n}(Base{n}, metaclass=ABCMeta):\n    @abstractmethod\n    def step{n}(self):\n    "
    "    pass\n\n\n"
    "class Top{n}(Top{n}):\n    def step{n}(self):\n        return 'made'\n",
)


def tell_of_a_family(draw: Draw, package: Package, n: int) -> None:
    """A method calls another of its own object, which a class above, beside or below has."""
    own = f"    def step{n}(self):\n        return 'base'\n" if draw(st.booleans()) else ""
    package.add(
        f"sglang.base{n}",
        f"class Root{n}:\n    def step{n}(self):\n        return 'root'\n\n    def "
        f"never{n}(self):\n        return 0\n\n\n"
        f"class Base{n}(Root{n}):\n    def go{n}(self):\n        return self.step{n}()\n\n{own}",
    )
    family = draw(st.sampled_from(FAMILIES)).format(n=n)
    package.add(
        f"sglang.m{n}",
        (
            f"from abc import ABCMeta, abstractmethod\n\nfrom sglang.base{n} import "
            f"Base{n}\n\n\n{family}"
        ),
    )
    package.main(f"from sglang.m{n} import Top{n}")
    package.ask(f"Top{n}().go{n}()")


def tell_of_an_order(draw: Draw, package: Package, n: int) -> None:
    """Modules do something when they are imported, in the order in which they are."""
    package.add(f"sglang.log{n}", f"LOG{n} = []\n\n\ndef step{n}():\n    return 'plain'\n")
    acts = [
        f"LOG{n}.append('{{k}}')",
        f"import sglang.log{n}\n\nsglang.log{n}.step{n} = lambda: '{{k}}'",
        f"LOG{n}.append(sglang.log{n}.step{n}())",
        "NOTHING = 1",
    ]
    names = ("a", "b", "c")
    for number, k in enumerate(names):
        others = [
            f"import sglang.{other}{n}" for other in names[number + 1 :] if draw(st.booleans())
        ]
        text = "\n".join([f"import sglang.log{n}", f"from sglang.log{n} import LOG{n}", *others])
        package.add(
            f"sglang.{k}{n}",
            f"{text}\n\n{draw(st.sampled_from(acts)).format(k=k)}\nVALUE{n} = '{k}'\n",
        )
    order = draw(st.permutations(names))
    lines = [
        _pick(draw, f"import sglang.{k}{n}", f"from sglang.{k}{n} import VALUE{n} as {k}{n}")
        for k in order
    ]
    package.main("\n".join(lines))
    package.main(f"from sglang.log{n} import LOG{n}, step{n}")
    package.ask(
        f"(LOG{n}, step{n}(), "
        f"{_pick(draw, '1', 'sys.modules.get(f' + repr(f'sglang.a{n}') + ') is not None')})"
    )


FOLDED = (
    "[make{n}(each) for each in (1, 2) if is_hip()]",
    "[given for given in (1, 2) if not is_hip()]",
    "[make{n}(each) for each in (range(2) if is_hip() else ())]",
    "make{n}(1) if is_hip() else 'other'",
    "is_hip() and make{n}(1)",
    "(lambda: make{n}(1) if is_hip() else 'lambda')()",
    "{{'a': make{n} if is_hip() else 'own'}}['a']",
)


def tell_of_a_branch(draw: Draw, package: Package, n: int) -> None:
    """What only another platform has stands where no run comes."""
    package.add(f"sglang.gone.make{n}", f"def make{n}(x):\n    return x\n")
    asked = draw(st.sampled_from(FOLDED)).format(n=n)
    where = _pick(
        draw,
        f"def use{n}():\n    return {asked}\n",
        f"class Use{n}:\n    def use(self):\n        return {asked}\n\n\nuse{n} = Use{n}().use\n",
        f"VALUE{n} = {asked}\n\n\ndef use{n}():\n    return VALUE{n}\n",
        f"def use{n}(given={asked}):\n    return given\n",
    )
    package.add(
        f"sglang.m{n}",
        "from sglang.srt.utils import is_hip\n\nif is_hip():\n"
        f"    from sglang.gone.make{n} import make{n}\n\n\n{where}",
    )
    package.main(f"from sglang.m{n} import use{n}")
    package.ask(f"use{n}()")


STORIES = (
    tell_of_all_members,
    tell_of_a_listing,
    tell_of_a_dispatch,
    tell_of_a_lazy_package,
    tell_of_a_family,
    tell_of_an_order,
    tell_of_a_branch,
    tell_of_a_module,
    tell_of_a_module,
    tell_of_a_class,
    tell_of_an_object,
    tell_of_a_submodule,
    tell_of_a_local,
    tell_of_a_registry,
    tell_of_something_removed,
    tell_of_a_walk,
    tell_of_names_in_texts,
)


@st.composite
def packages(draw: st.DrawFn, most: int = 3) -> dict[str, str]:
    """Draw a package of up to some stories: text of each module by its path."""
    package = Package()
    package.main("")
    for n in range(draw(st.integers(1, most))):
        story = draw(st.sampled_from(STORIES))
        story(draw, package, n)
    return package.files()
