"""What is a trace of another platform, what is none, and where in the syntax it stands."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from shrinker.check.leftovers import find_leftovers
from shrinker.check.leftovers.scan import Scanner
from shrinker.check.leftovers.vocabulary import build_vocabulary
from shrinker.ruleset import Absent, Fact, Leftover, Platform, Remove, Ruleset
from shrinker.ruleset.models import Domain
from shrinker.values.errors import InputError
from shrinker.values.leftovers import Leftovers
from tests.check.trees import Case, Files

WHY = "A rule of a test."
RULES = Ruleset(
    facts=(
        Fact(id="npu", why=WHY, calls=("sglang.**.is_npu", ".is_aiter"), value=False),
        Fact(id="cpu", why=WHY, calls=("sglang.**.is_cpu", "torch.xpu.is_available"), value=False),
        Fact(id="cuda", why=WHY, calls=("sglang.**.is_cuda",), value=True, exact=False),
        Fact(id="version", why=WHY, names=("torch.version.hip",)),
        Fact(id="hooks", why=WHY, calls=("sglang.hooks.maybe_*",)),
        Fact(id="switch", why=WHY, environment=("SGLANG_FAST",), value=False),
    ),
    absents=(Absent(id="absent", why=WHY, modules=("aiter", "quark")),),
    removes=(Remove(id="remove", why=WHY, feature="NPU", modules=("sglang.srt.npu_*",)),),
    platforms=(
        Platform(id="words", why=WHY, words=("npu", "hip", "rocm", "aiter", "gfx*", "xpu")),
        Platform(id="own", why=WHY, words=("sm*",), own=True),
    ),
)
VOCABULARY = build_vocabulary(RULES)


def seen(source: str) -> list[tuple[str, str, str]]:
    """Kind, position and text of each leftover of a module `sglang.srt.here`."""
    scanner = Scanner(
        "python/sglang/srt/here.py", "sglang.srt.here", "sglang.srt", VOCABULARY, frozenset({"sglang.srt.npu_kept"})
    )
    found = scanner.scan(ast.parse(source), source.split("\n"), VOCABULARY.hot(source))
    return [(s.kind, s.position, s.text) for s in found]


@pytest.mark.parametrize(
    "source",
    [
        # Words are whole: these only contain the letters.
        "MAX_INPUT = 1",
        "def relationship(chips): return chips",
        "input_ids = context.socket(XPUB)",
        "SUPPORTED_INPUT_SAMPLE_RATES = (16000, 24000)",
        # Docstrings and comments are no code.
        '"""For the NPU."""',
        'def f():\n    """On ROCm."""\n    # is_npu()\n    return 1',
        'class A:\n    x = 1\n    """The HIP of x."""',
        # Python's own.
        "it = y.__aiter__()",
        # Another name, a part of a predicate's name.
        "def is_cpus(): pass",
        "is_cuda_graph = True",
        # A wide pattern names no identifier.
        "maybe_start()",
        # An import of something whose name only begins like an absent module.
        "import aiterators",
        "from sglang.srt.quark_like import x",
    ],
)
def test_no_leftover(source: str) -> None:
    assert seen(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if is_npu(): pass", ("predicates", "test", "is_npu()")),
        ("x = f(is_npu())", ("predicates", "call", "is_npu()")),
        ("x = is_npu() and y", ("predicates", "test", "is_npu()")),
        ("x = not is_npu()", ("predicates", "test", "is_npu()")),
        ("y = [a for a in b if is_npu()]", ("predicates", "test", "is_npu()")),
        ("def is_npu(): return False", ("predicates", "definition", "is_npu")),
        ("from sglang.srt.utils import is_npu", ("predicates", "import", "sglang.srt.utils.is_npu")),
        ("if backend().is_aiter(): pass", ("predicates", "test", "….is_aiter()")),
        ("if torch.version.hip: pass", ("predicates", "test", "torch.version.hip")),
        ("if torch.xpu.is_available(): pass", ("predicates", "test", "torch.xpu.is_available()")),
        ("if is_gfx1250_supported(): pass", ("predicates", "test", "is_gfx1250_supported()")),
        ("_is_hip = False", ("flags", "assignment", "_is_hip")),
        ("if self.use_npu_graph: pass", ("flags", "test", "self.use_npu_graph")),
        ("f(use_npu=True)", ("flags", "keyword", "use_npu")),
        ("def f(use_npu): pass", ("flags", "parameter", "use_npu")),
        ('os.environ["SGLANG_FAST"]', ("environment", "key", "SGLANG_FAST")),
        ('get_bool_env_var("SGLANG_USE_AITER")', ("environment", "argument", "SGLANG_USE_AITER")),
        ("if envs.SGLANG_NPU_X.get(): pass", ("environment", "test", "envs.SGLANG_NPU_X.get()")),
        ("class Envs:\n    SGLANG_NPU_X = EnvBool(False)", ("environment", "environment-declaration", "SGLANG_NPU_X")),
        ('if device == "npu": pass', ("strings", "comparison", "npu")),
        ('if device in ("cuda", "npu"): pass', ("strings", "comparison", "npu")),
        ('match device:\n    case "npu": pass', ("strings", "comparison", "npu")),
        ('T = {"npu": 1}', ("strings", "key", "npu")),
        ('T = ["cuda", "npu"]', ("strings", "element", "npu")),
        ('def f(device="npu"): pass', ("strings", "default", "npu")),
        ('BACKEND_CHOICES = ["cuda", "npu"]', ("strings", "choices", "npu")),
        ('BACKEND_CHOICES.extend(["npu"])', ("strings", "choices", "npu")),
        ('p.add_argument("--x", choices=["npu"])', ("strings", "choices", "npu")),
        ('p.add_argument("--x", help="For the NPU.")', ("strings", "help-text", "For the NPU.")),
        ('x: A[str, "Not on NPU."] = 1', ("strings", "help-text", "Not on NPU.")),
        ('x: Literal["a", "npu"] = 1', ("strings", "annotation", "npu")),
        ('raise ValueError(f"no {x} on NPU")', ("strings", "message", "on NPU")),
        ('logger.warning("no NPU")', ("strings", "message", "no NPU")),
        ('print_info_once("no NPU")', ("strings", "message", "no NPU")),
        ('assert x, "no NPU"', ("strings", "message", "no NPU")),
        ('raise RuntimeError("shrinker: npu is gone")', ("strings", "named-error", "shrinker: npu is gone")),
        ('raise ImportError("shrinker: npu is gone")', ("strings", "named-error", "shrinker: npu is gone")),
        ('if hasattr(torch, "npu"): pass', ("strings", "probe", "npu")),
        ('find_spec("aiter")', ("absent imports", "probe", "aiter")),
        ('__all__ = ["forward_npu"]', ("strings", "exports", "forward_npu")),
        ('if logits.device.type == "npu": pass', ("strings", "tensor-device", "npu")),
        ("if t.is_cuda: pass", ("predicates", "tensor-attribute", "t.is_cuda")),
        ("if batch.lens[0].is_cpu: pass", ("predicates", "tensor-attribute", "….is_cpu")),
        ("import aiter.ops", ("absent imports", "import", "aiter.ops")),
        ("from quark import x", ("absent imports", "import", "quark.x")),
        ("from .npu_gone import x", ("absent imports", "import", "sglang.srt.npu_gone.x")),
        ("from .npu_kept import x", ("names", "import", "sglang.srt.npu_kept.x")),
        ("torch.npu.synchronize()", ("names", "call", "torch.npu.synchronize()")),
        ("class NPUEnv: pass", ("names", "definition", "NPUEnv")),
        ("x = Backend.MLA_NPU", ("names", "value", "Backend.MLA_NPU")),
        ("class ROCmBackend: pass", ("names", "definition", "ROCmBackend")),
    ],
)
def test_a_leftover_and_its_place(source: str, found: tuple[str, str, str]) -> None:
    assert found in seen(source)


SERVER = Domain(
    id="server",
    why=WHY,
    names=("sglang.srt.here.self.device", "sglang.**.args.device", "sglang.srt.here.kind"),
    calls=("sglang.srt.here.get_device",),
    tables=("sglang.srt.here.METHODS",),
    never=("cpu",),
)
"""Speaks of the server's device, and of no other."""


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = torch.zeros(1, device='cpu')", []),
        ("if device == 'cpu': pass", []),
        ("if self.device.type == 'cpu': pass", []),
        ("if x.device in ('cpu', 'cuda'): pass", []),
        ("match device:\n    case 'cpu': pass", []),
        ("OTHER = {'cpu': 1}", []),
        ("if self.device == 'cuda': pass", []),
        ("def f(device='cpu', *, name='cpu'): pass", []),
        ("if self.device == 'cpu': pass", ["comparison"]),
        ("if self.device not in ('cuda', 'cpu'): pass", ["comparison"]),
        ("x = 1 if 'cpu' == args.device else 2", ["comparison"]),
        ("if get_device() == 'cpu': pass", ["comparison"]),
        ("match self.device:\n    case 'cuda': pass\n    case 'tpu' | 'cpu': pass", ["comparison"]),
        ("METHODS = {'cuda': 1, 'cpu': f}", ["value"]),
        ("self.device = 'cpu'", ["value"]),
        ("def f(a, kind='cpu', *, b=1): pass", ["default"]),
        ("def f(a, *, b, kind='cpu'): pass", ["default"]),
        # What only chooses words to show.
        ("logger.info(f\"{'x' if self.device == 'cpu' else 'y'}\")", ["message"]),
    ],
)
def test_a_text_that_only_certain_things_never_are(source: str, found: list[str]) -> None:
    vocabulary = build_vocabulary(RULES.model_copy(update={"domains": (SERVER,)}))
    scanner = Scanner("python/sglang/srt/here.py", "sglang.srt.here", "sglang.srt", vocabulary, frozenset())
    left = scanner.scan(ast.parse(source), source.split("\n"), vocabulary.hot(source))
    assert [(s.kind, s.position, s.text) for s in left] == [("strings", place, "cpu") for place in found]


def test_a_text_of_a_domain_that_speaks_of_a_name_everywhere_is_a_trace_everywhere() -> None:
    wide = SERVER.model_copy(update={"names": (*SERVER.names, "sglang.**.backend")})
    vocabulary = build_vocabulary(RULES.model_copy(update={"domains": (wide,)}))
    assert vocabulary.text_kind("cpu") == "strings"


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("args = parser.parse_args()\nif args.npu:\n    kinds.append('npu')", "choices"),
        # Not by a flag, not to a list, and with something else beside it.
        ("args = parser.read()\nif args.npu:\n    kinds.append('npu')", "argument"),
        ("args = parser.parse_args()\nif args.npu:\n    start('npu')", "argument"),
        ("args = parser.parse_args()\nif args.npu:\n    start()\n    kinds.append('npu')", "argument"),
        ("args = parser.parse_args()\nif args.npu:\n    kinds.append('npu')\nelse:\n    pass", "argument"),
    ],
)
def test_what_a_flag_of_the_command_line_adds_to_a_list_is_a_choice(source: str, place: str) -> None:
    assert ("strings", place, "npu") in seen(source)


def test_modules_and_platform_objects_have_no_tensor_attributes() -> None:
    for source in (
        "from sglang.srt import flags\nif flags.is_cuda: pass",
        "if current_platform.is_cuda: pass",
        "if get_platform().is_cpu: pass",
        "class A:\n    def f(self):\n        return self.is_cuda",
        "if t.is_cpu(): pass",
    ):
        assert seen(source), source
        assert all(place != "tensor-attribute" for _, place, _ in seen(source)), source


def test_a_name_within_a_message_is_code() -> None:
    assert seen('logger.info(f"on {npu_id}")') == [("names", "value", "npu_id")]


# Both trees


UTILS = "def is_npu():\n    return False\n\n\ndef is_cuda():\n    return True\n\n\ndef is_cpu():\n    return False\n"


def look(case: Case, *reasons: Leftover, jobs: int = 1) -> Leftovers:
    rules = RULES.model_copy(update={"leftovers": reasons})
    return find_leftovers(case.trees(rules, jobs))


Build = Callable[[Files, Files], Case]


def residues(case: Case) -> list[tuple[str, int, str]]:
    return [(item.kind, item.line, item.text) for item in look(case).residues]


def test_upstreams_own_residues_do_not_count(case: Build) -> None:
    own = "import os\n\nwhile True:\n    break\n\n\ndef f(x):\n    y = x or None\n    if x:\n        pass\n    else:\n        pass\n    return z\n"
    same = own.replace("return z", "return z  # folded")
    assert residues(case({"a.py": own}, {"a.py": same})) == []


def test_residues_of_folding(case: Build) -> None:
    before = "import os\nfrom sglang.utils import is_npu\n\n\ndef f(x):\n    if is_npu() or x:\n        os.kill(y)\n"
    after = (
        "import os\nfrom sglang.utils import is_npu\n\n\ndef f(x):\n    if True:\n        kill(x)\n    else:\n        pass\n"
        "    a = 1 if not False else 2\n    b = [c for c in x if 'a' in ('a',)]\n    d = x and False\n    if x:\n        pass\n"
        "    assert True\n    assert False, 'never'\n    return a, b, d\n"
    )
    found = residues(case({"a.py": before}, {"a.py": after}))
    # `is_npu` was used before; `kill` is defined nowhere; an assertion that fails is an error with upstream's words.
    assert found == [
        ("orphaned imports", 1, "os"),
        ("orphaned imports", 2, "sglang.utils.is_npu"),
        ("constant tests", 6, "if True"),
        ("undefined names", 7, "kill"),
        ("empty else", 9, "else: pass"),
        ("constant tests", 10, "ternary not False"),
        ("constant tests", 11, "comprehension 'a' in ('a',)"),
        ("constant operands", 12, "x and False"),
        ("empty if", 13, "if x: pass"),
        ("constant tests", 15, "assert True"),
    ]


def test_literals_that_fail(case: Build) -> None:
    """A fact that makes kept code fail is false there; upstream's own mistakes are not held against the tree."""
    fine = "a: int | None = None\nf(None)\ng(x, None)\ny = x == None\nz = [None] * 3\nn = not None\nprint(None)\nk = f(a=None)\n"
    own = "def h():\n    return len(None)\n"
    before = fine + own + "def f(self, x, y):\n    return self.ids\n"
    after = (
        fine
        + own
        + (
            "def f(self, x, y):\n    a = x - None, -None, None < x, x in None\n"
            "    b = None.b, None[0], None(x), f(*None), f(**None), [c for c in None]\n    for c in False:\n        pass\n"
            "    with None:\n        pass\n"
        )
    )
    found = residues(case({"a.py": before}, {"a.py": after}))
    wanted = ["x - None", "-None", "None < x", "x in None", "None.b", "None[0]", "None(x)", "f(*None)", "f(**None)"]
    assert sorted(text for kind, _, text in found if kind == "failing literals") == sorted(
        [*wanted, "None", "False", "None"]
    )
    assert ("failing literals", 12, "x - None") in found


def test_only_the_allowed_residues_leave_the_tree_clean(case: Build) -> None:
    clean = look(case({"a.py": "def f(x):\n    return x()\n"}, {"a.py": "def f(x):\n    return x() and False\n"}))
    assert clean.residue_counts()["constant operands"] == 1 and clean.clean


def test_reasons(case: Build) -> None:
    files = {"a.py": "def f(device):\n    if device == 'npu':\n        raise ValueError('no npu')\n"}
    built = case(files, {"a.py": "="})
    message = Leftover.model_validate({"id": "message", "why": WHY, "kind": ["strings"], "in": ["message"]})
    elsewhere = Leftover.model_validate({"id": "elsewhere", "why": WHY, "where": ["sglang.b"]})
    optional = elsewhere.model_copy(update={"id": "optional", "optional": True})
    found = look(built, message, elsewhere, optional)
    assert [(s.text, s.rule) for s in found.leftovers] == [("npu", ""), ("no npu", "message")]
    assert (found.unmatched, found.clean) == (("elsewhere",), False)
    assert found.counts()["strings"] == {"total": 2, "explained": 1, "idle": 0}

    here = Leftover.model_validate({"id": "here", "why": WHY, "where": ["sglang.a.f"], "words": ["np?"]})
    assert look(built, message, here).clean
    for wrong in ({"words": ("np",)}, {"where": ("sglang.a.g",)}, {"kind": ("flags",)}, {"idle": True}):
        assert not look(built, message, here.model_copy(update=wrong)).clean


def test_idle_definitions(case: Build) -> None:
    source = (
        "import registry\n\n\ndef forward_npu():\n    return helper_npu('aiter')\n\n\ndef helper_npu(x):\n    return x\n\n\n"
        "def start_hip():\n    return 1\n\n\nstart_hip()\n\n\n@registry.register('x')\ndef make_hip():\n    return 1\n\n\n"
        "class Envs:\n    SGLANG_NPU_READ = Env(1)\n    SGLANG_NPU_IDLE = Env(1)\n\n\nEnvs.SGLANG_NPU_READ.get()\n"
    )
    found = look(case({"a.py": source}, {"a.py": "="})).leftovers
    assert sorted({s.text for s in found if s.idle}) == [
        "SGLANG_NPU_IDLE",
        "aiter",
        "forward_npu",
        "helper_npu",
        "helper_npu()",
    ]


def test_a_predicate_beside_known_ones_is_a_suspect(case: Build) -> None:
    utils = (
        UTILS
        + "\n\ndef is_new():\n    return False\n\n\ndef is_sm90():\n    return True\n\n\ndef is_url(x):\n    return x\n"
    )
    user = "from sglang.utils import is_cpu, is_new, is_npu, is_sm90, is_url\n\nif is_npu():\n    a = 1\n"
    ask = "if is_new() or is_sm90() or is_url(1):\n    b = 2\n"
    upstream = {"utils.py": utils, "a.py": user + ask, "b.py": "from sglang.utils import is_npu, is_new\n" + ask}
    generated = {"utils.py": "=", "a.py": "from sglang.utils import is_new, is_sm90, is_url\n\n" + ask, "b.py": "="}
    [suspect] = look(case(upstream, generated)).suspects
    assert (suspect.name, suspect.defined) == ("is_new", "sglang.utils")
    assert suspect.beside == ("is_cpu", "is_cuda", "is_npu")
    assert suspect.sites == (("python/sglang/a.py", 3), ("python/sglang/b.py", 2))


def test_no_suspect_without_company_or_without_a_condition(case: Build) -> None:
    upstream = {
        "utils.py": UTILS + "\n\ndef is_unasked():\n    return f(is_unasked())\n",
        "a.py": "from sglang.utils import is_npu\nfrom sglang.other import is_alone\n\nif is_alone():\n    a = 1\n",
    }
    assert look(case(upstream, dict.fromkeys(upstream, "="))).suspects == ()


def test_the_number_of_jobs_changes_nothing(case: Build) -> None:
    files = {f"m{n}.py": f"import aiter\n\nif is_npu():\n    x = 'npu{n}'\n" for n in range(5)}
    built = case(files, {name: text + "y = 1\n" for name, text in files.items()})
    assert look(built) == look(built, jobs=3)


def test_a_file_that_cannot_be_read(case: Build) -> None:
    built = case({"a.py": "x = 1\n"}, {"a.py": "="})
    (built.out / "python/sglang/a.py").unlink()
    with pytest.raises(InputError, match=r"a\.py"):
        look(built)


def test_what_is_served_is_no_trace_of_a_platform() -> None:
    rules = RULES.model_copy(
        update={"facts": (*RULES.facts, Fact(id="mamba", why=WHY, calls=("sglang.**.is_mamba",), value=False))}
    )
    assert "is_mamba" in build_vocabulary(rules).predicates
    assert "is_mamba" not in build_vocabulary(rules.model_copy(update={"scope": ("mamba",)})).predicates


def test_shrinkers_own_files_are_not_judged(case: Build) -> None:
    own = {"refused.py": 'NAMES = ("SGLANG_FAST",)\n'}
    built = case({"a.py": "x = 1\n"}, {"a.py": "x = 1\n", **own})
    assert not find_leftovers(built.trees(RULES)).leftovers
    built = case({"a.py": "x = 1\n", **own}, {"a.py": "x = 1\n", **own})
    assert find_leftovers(built.trees(RULES)).leftovers
