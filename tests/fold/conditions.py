"""Expressions over the facts: decided ones, open ones, and what is built of both."""

from random import Random

GLOBAL_DECIDED = (
    "is_hip()",
    "is_npu()",
    "is_cuda()",
    "not is_cuda()",
    "_is_hip",
    "_is_cuda",
    "_use_aiter",
    "_off",
    "hip",
    "derived",
    "starred",
    "flags._is_hip",
    "flags.derived",
    "sglang.again.hip",
    "uses_fnuz()",
    "flags.mxfp_supported()",
    "has_aiter",
    "flags.has_aiter",
    'os.getenv("SGLANG_USE_AITER", "0") == "1"',
    'os.environ.get("SGLANG_USE_AITER", "false").lower() in ("true", "1")',
    'bool(int(os.getenv("SGLANG_USE_AITER", "0")))',
    'get_bool_env_var("SGLANG_USE_AITER")',
    "envs.SGLANG_USE_AITER.get()",
    'hasattr(torch, "npu")',
    'getattr(torch, "npu", None) is not None',
    "torch.version.hip",
    "torch.version.hip is not None",
    'sys.platform == "darwin"',
    'sys.platform.startswith("linux")',
    "get_platform().is_npu",
    "get_platform().is_cuda",
    "get_platform().is_gone()",
)
"""Decided wherever they stand; some only by their truth."""

GLOBAL_OPEN = (
    "probe(1)",
    "probe(0)",
    "_open",
    "flags._open",
    "flags.open_derived",
    "patched",
    "rebound",
    'os.getenv("SGLANG_USE_AITER", "0")',
    'os.environ.get("SGLANG_USE_AITER") is None',
    '"SGLANG_USE_AITER" in os.environ',
    'os.getenv("SGLANG_OPEN", "0") == "1"',
    "f'{_is_hip}' == 'x'",
    "f'{flags.derived}{is_hip()}'",
    "registered",
    "top",
    "0 is top",
    "on_import()",
)

LOCAL_DECIDED = (
    "local_hip",
    "not local_hip",
    'device == "npu"',
    'device != "npu"',
    '"xpu" == device',
    'device in ("npu", "xpu")',
    'device not in ["npu"]',
    'device.startswith("npu")',
    'str(device) == "xpu"',
    'thing.device.type == "npu"',
    'thing.device.type in ("npu", "xpu")',
    'kind == "npu"',
    "thing.is_npu",
    "thing.is_gone()",
    "backend == Backend.GONE",
    "backend is not Backend.GONE",
    "method in (Method.MLA_NPU,)",
    "isinstance(a, NpuGraph)",
    "type(a) is NpuGraph",
    'device.lower() == "npu"',
    'get_device(a) == "npu"',
    'get_device(b) in ("npu", "xpu")',
    'where == "npu"',
    'where in ("xpu",)',
    'getattr(thing, "device", "cpu") == "npu"',
)

LOCAL_OPEN = (
    "a",
    "b",
    "x",
    "a is None",
    "b == 1",
    "isinstance(a, str)",
    "isinstance(a, (str, NpuGraph))",
    "(a, b)[0]",
    'device == "cuda"',
    'device in ("cuda", "npu")',
    'kind not in ("cpu", "xpu", "npu")',
    "thing.is_cuda",
    'thing.device.type == "cpu"',
    'getattr(thing, "ready", False)',
    "thing.ready",
    "(thing == 1)",
    "thing.is_auto()",
    "backend == Backend.TRITON",
    "backend in (Backend.TRITON, Backend.GONE)",
    "method is Method.MLA",
    "BY_DEVICE[device] == 1",
    '{"cuda": a, "cpu": b, "npu": 5}[device]',
    "{Backend.TRITON: a, Backend.GONE: 2, Backend.CUTLASS: b}[backend]",
    "config.fast",
    "config.use_it",
    "Server(a).run()",
    "Server(b).hip",
    "mine()",
    "list(stops())",
    "helper(a, _is_hip)",
    "helper(b, False, 2)",
    "pick(thing, a)",
    "chosen(a)",
    "get_device(a) == device",
    "device in SUPPORTED",
    "len(SUPPORTED)",
    "device[:1] == 'n'",
    "(device or kind) == 'cpu'",
    "where == 'cpu'",
)

GLOBAL_MIXED = (
    "(probe(3) and _is_hip)",
    "(probe(0) or is_cuda())",
    "(not probe(6) or is_cuda())",
    "(_is_hip or probe(5))",
    "(is_cuda() and probe(0))",
    "(_open and is_npu())",
    "(_open or not _is_hip)",
    "(registered and _is_hip)",
    "(registered or _is_hip)",
    "(registered or not _is_hip)",
)
LOCAL_MIXED = (
    "(probe(4) == Backend.GONE)",
    "(Backend.GONE == probe(2) != a)",
    "(backend is not Backend.GONE is None)",
    "(backend is Backend.TRITON is not Backend.GONE)",
    "((_is_cuda if is_cuda() else probe(1)) is None)",
    "(a or is_cuda())",
    "(b and _is_hip)",
    "(x or _is_hip)",
    "(a and not _is_hip)",
    "(thing == 1 and _is_hip)",
    "(thing != 1 and _is_hip)",
    "(thing == 1 or not _is_hip)",
    "((isinstance(a, str) or a) and _is_hip)",
    "((b in (0, 1) and a) or not _is_hip)",
    "((a if b else isinstance(a, str)) and _is_hip)",
    "(a and b is None and _is_hip)",
    "(_is_hip is False is not a)",
    "(_is_hip == derived != b)",
    "(_is_cuda is not None is not a)",
    '(device != "npu" != kind != a)',
    '(kind == device != "npu" != a)',
    "((w := a) and _is_hip)",
    "(_is_hip or (w := b))",
    "(isinstance(a, str) and _is_hip)",
    '(device == "cpu" or not _is_hip)',
    "(probe(b) and isinstance(a, NpuGraph))",
    "isinstance(probe(b), NpuGraph)",
)
"""Of both: the truth is decided, or the value, or neither, and an effect may stand before it."""

_SHAPES = (
    "({0} and {1})",
    "({0} or {1})",
    "({0} and {1} and {2})",
    "({0} or {1} or {2})",
    "(not {0})",
    "({0} if {1} else {2})",
)
_RARE = (
    "[{0} for k in (1, 2) if {1}]",
    "{{k: {0} for k in (1, 2) if k if {1}}}",
    "(lambda q={0}: q or {1})()",
    "bool({0})",
    "probe({0})",
    "({0}, {1})",
    "(({0}) == ({1}))",
    "(({0}) == ({1}) != ({2}))",
    "(({0}) is ({1}) is not ({2}))",
    "(({0}) in (({1}), ({2})))",
    "(({0}) is None)",
    "(not not {0})",
    "({0} or {1} and {2})",
    "[{0}, {1}][({2}) is None]",
    "(({0}) if ({1}) else ({2}))",
    "[{0} for k in (0, 1) for j in (k, {1}) if j]",
    "any({0} for k in (0, 1))",
    "all(k or {0} for k in (0, 1))",
    "f'{{{0}!r}}'",
)
_RARE_LOCAL = ("(w := {0})", "(lambda: {0})()")


def condition(random: Random, *, local: bool, depth: int = 2) -> str:
    """An expression that is a condition as well as a value.

    Args:
        random: where choices come from.
        local: True inside `f`, where the parameters are.
        depth: how deep it may nest.
    """
    kind = random.random()
    if depth == 0 or kind < 0.45:
        decided = random.random() < 0.6
        if random.random() < 0.15:
            return random.choice((*GLOBAL_MIXED, *LOCAL_MIXED) if local else GLOBAL_MIXED)
        if local:
            return random.choice((*GLOBAL_DECIDED, *LOCAL_DECIDED) if decided else (*GLOBAL_OPEN, *LOCAL_OPEN))
        return random.choice(GLOBAL_DECIDED if decided else GLOBAL_OPEN)
    rare = (*_RARE, *_RARE_LOCAL) if local else _RARE
    shape = random.choice(_SHAPES if kind < 0.85 else rare)
    inner = depth - 1
    if shape.startswith("f'"):
        inner = 0
    parts = [condition(random, local=local, depth=inner) for _ in range(3)]
    if shape.startswith("f'"):
        # Before Python 3.12 there may be no quotes in it, and no backslash at which `layout` breaks a line.
        parts = ["_is_hip" if set("'\"") & set(part) or " and " in part else part for part in parts]
    return shape.format(*parts)
