"""What is a trace of another platform, what is none, and where in the syntax it stands."""

import pytest

from shrinker.check.leftovers.scan import Scanner
from shrinker.check.leftovers.vocabulary import Vocabulary
from shrinker.ruleset import Fact
from shrinker.ruleset.models import Domain
from tests.check.trees import RULES, WHY

VOCABULARY = Vocabulary(RULES)
PARSED = "args = parser.parse_args()\n"


def seen(source: str, vocabulary: Vocabulary = VOCABULARY) -> list[tuple[str, str, str]]:
    """Kind, position and text of each leftover of a module `sglang.srt.here`."""
    kept = frozenset({"sglang.srt.npu_kept"})
    found = Scanner("python/sglang/srt/here.py", vocabulary, kept).scan(source)
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
        (
            "from sglang.srt.utils import is_npu",
            ("predicates", "import", "sglang.srt.utils.is_npu"),
        ),
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
        (
            "class Envs:\n    SGLANG_NPU_X = EnvBool(False)",
            ("environment", "environment-declaration", "SGLANG_NPU_X"),
        ),
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
        # What only chooses words to show.
        ("print(1 if d == 'npu' else 2)", ("strings", "message", "npu")),
        ('assert x, "no NPU"', ("strings", "message", "no NPU")),
        (
            'raise RuntimeError("shrinker: npu is gone")',
            ("strings", "named-error", "shrinker: npu is gone"),
        ),
        (
            'raise ImportError("shrinker: npu is gone")',
            ("strings", "named-error", "shrinker: npu is gone"),
        ),
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
        # What a flag of the command line adds to a list: not by a flag, not to a list, with
        # something else beside it.
        (f"{PARSED}if args.npu:\n    kinds.append('npu')", ("strings", "choices", "npu")),
        (
            "args = parser.read()\nif args.npu:\n    kinds.append('npu')",
            ("strings", "argument", "npu"),
        ),
        (f"{PARSED}if args.npu:\n    start('npu')", ("strings", "argument", "npu")),
        (
            f"{PARSED}if args.npu:\n    start()\n    kinds.append('npu')",
            ("strings", "argument", "npu"),
        ),
        (
            f"{PARSED}if args.npu:\n    kinds.append('npu')\nelse:\n    pass",
            ("strings", "argument", "npu"),
        ),
    ],
)
def test_a_leftover_and_its_place(source: str, found: tuple[str, str, str]) -> None:
    assert found in seen(source)


SERVER = Domain(
    id="server",
    why=WHY,
    names=("sglang.srt.here.self.device", "sglang.**.args.device"),
    never=("cpu",),
)
"""Speaks of the server's device, and of no other."""


def test_a_text_of_a_domain_that_speaks_of_certain_places_is_none() -> None:
    assert Vocabulary(RULES.model_copy(update={"domains": (SERVER,)})).text_kind("cpu") is None


def test_a_text_of_a_domain_that_speaks_of_a_name_everywhere_is_a_trace_everywhere() -> None:
    wide = SERVER.model_copy(update={"names": (*SERVER.names, "sglang.**.backend")})
    vocabulary = Vocabulary(RULES.model_copy(update={"domains": (wide,)}))
    assert vocabulary.text_kind("cpu") == "strings"


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


def test_what_is_served_is_no_trace_of_a_platform() -> None:
    rules = RULES.model_copy(
        update={
            "facts": (
                *RULES.facts,
                Fact(id="mamba", why=WHY, calls=("sglang.**.is_mamba",), value=False),
            )
        }
    )
    assert "is_mamba" in Vocabulary(rules).predicates
    assert "is_mamba" not in Vocabulary(rules.model_copy(update={"scope": ("mamba",)})).predicates
