"""What the rules say of what comes in from outside: enforced claims and flags that keep their
effect first.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.check.entries import judge_entries
from shrinker.ruleset.load import load_rules
from shrinker.values.interface import Entries
from tests.check.trees import Build, Files
from tests.small import read_archive, read_cases, rule

Judge = Callable[..., Entries]

RULES = (
    rule(
        "entry",
        "flags",
        'kind = "flag"',
        'classes = ["sglang.args.Args"]',
        'held = ["args", "get_args()"]',
    )
    + 'apart = ["sglang.checks"]\n'
    + rule("entry", "requests", 'kind = "request"', 'classes = ["sglang.requests.*Request"]')
    + rule("platform", "others", 'words = ["npu", "hip"]')
    + rule("dropped", "no-hip", "words = ['hip']")
)
UPSTREAM = read_archive(Path(__file__).with_name("entries.txtar"))
ARGS, USES = UPSTREAM["args.py"], UPSTREAM["uses.py"]
IDLE = read_cases(Path(__file__).with_name("idle.txtar"))
IDLE_CLASSES = {"idle.py": IDLE["never: alone"]["idle.py"]}


def _refusal(name: str, attributes: str, more: str) -> str:
    function = 'function = "sglang.args.Args.__post_init__"'
    asked = f"attribute = {attributes.split()}"
    return rule(
        "reject",
        name,
        'feature = "what is gone"',
        function,
        'instead = "Leave it out."',
        asked,
        more,
    )


def _fact(*lines: str) -> str:
    return rule("fact", "claim", *lines)


def _domain(*lines: str) -> str:
    return rule("domain", "claim", *lines)


@pytest.fixture
def judge(case: Build, tmp_path: Path) -> Judge:
    """`judge(rules, upstream, generated)`: the generated tree looks at each refusal whose id does
    not end in ``unplaced``.
    """

    def run(
        text: str, upstream: Files | None = None, generated: Files | None = None, head: str = RULES
    ) -> Entries:
        (tmp_path / "rules.toml").write_text(head + text)
        rules = load_rules([tmp_path / "rules.toml"])
        rows = [f"Refusal('f', {r.attributes}, (), (), '', '{r.id}', '')" for r in rules.refusals]
        table = f"REFUSALS = ({''.join(f'{row}, ' for row in rows if 'unplaced' not in row)})"
        before = {**UPSTREAM, **(upstream or {})}
        built = case(
            before,
            {**dict.fromkeys(before, "="), **(generated or {}), "removed_features.py": table},
        )
        return judge_entries(built.trees(rules))

    return run


FAST = 'attributes = [".fast"]\nvalue = false'
DEEP = 'calls = [".is_deep"]\nvalue = false'
NGRAM = 'calls = [".is_ngram"]\nvalue = false'
USE_FAST = 'attributes = [".use_fast"]\nvalue = false'
KIND = 'names = ["sglang.**.kind"]\nnever = ["two", "four"]'
NO_FAST = _refusal("no-fast", "fast", "set = true")
NO_DEEP = _refusal("no-deep", "mode", 'values = ["deep"]')
UNPLACED = _refusal("unplaced", "fast", "set = true")


def _of_mode(flags: str) -> str:
    return rule("dependent", "of-mode", f'flags = ["{flags}"]', 'on = ["no-deep"]')


@pytest.mark.parametrize(
    ("rules", "enters"),
    [
        (_fact(FAST) + NO_FAST, "flag --fast (refused by no-fast)"),
        (_domain(KIND) + _refusal("no-two", "kind", 'domain = "claim"'), "refused by no-two"),
        (_domain(KIND) + _refusal("no-two", "mode kind", 'values = ["two"]'), "refused by no-two"),
        (_domain(KIND) + _refusal("one-only", "kind", 'only = ["one"]'), "refused by one-only"),
        (
            _domain('names = ["sglang.**.kind"]\nnever = ["four"]'),
            "flag --kind (takes none of these)",
        ),
        (
            _domain('names = ["sglang.**.kind"]\nonly = ["one", "two"]')
            + _refusal("one-only", "kind", 'domain = "claim"'),
            "flag --kind (refused by one-only)",
        ),
        (_fact('calls = ["sglang.**.is_npu"]\nvalue = false'), "another platform"),
        (_domain('names = ["sglang.**.other"]\nnever = ["npu", "hip"]'), "another platform"),
        (_fact('calls = ["sglang.**.is_hopper"]\nvalue = false\nmachine = true'), "the machine"),
        (
            _fact('environment = ["SGLANG_OFF", "SGLANG_PATCHED", "SGLANG_TUNED"]\nvalue = false'),
            "environment (refused)",
        ),
        (_fact('environment = ["SGLANG_COUNT"]'), "environment (refused)"),
        (_fact(DEEP) + NO_DEEP, "flag --mode (refused by no-deep)"),
        (
            _fact(NGRAM) + _refusal("no-ngram", "algorithm", 'values = ["ngram"]\nany_case = true'),
            "flag --algorithm (refused by no-ngram)",
        ),
        (_fact(USE_FAST + '\nfollows = ["no-fast"]') + NO_FAST, "flag --fast: follows no-fast"),
        (
            _fact('attributes = [".image"]') + _refusal("no-image", "image", "set = true"),
            "request ChatRequest.image: refused by no-image",
        ),
        (_fact(FAST) + _of_mode("f*t") + NO_DEEP, "flag --fast (without effect: of-mode)"),
        (_fact('names = ["sglang.args.elsewhere"]\nvalue = false'), "not in this upstream"),
        (_fact('macros = ["USE_HIP"]\nvalue = false'), "macro USE_HIP: no-hip"),
    ],
    ids=range(18),
)
def test_enforced(judge: Judge, rules: str, enters: str) -> None:
    found = judge(rules)
    assert found.findings == ()
    assert enters in found.claims[0].enters[0]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (
            _fact('macros = ["__DEVICE__"]\nvalue = false\nmachine = true'),
            "a compiler or a build may define it",
        ),
        (_fact(FAST), 'the flag --fast sets. Refuse it:\n[[reject]]\nid = "refuse-fast"'),
        (_fact('names = ["sglang.**.fast"]\nvalue = false'), "the flag --fast sets"),
        (_fact(FAST) + UNPLACED, "the flag --fast sets"),
        (_fact(FAST) + _refusal("other", "slow", "set = true"), "the flag --fast sets"),
        (_fact(FAST + '\nfollows = ["flags"]'), "the flag --fast sets"),
        (_fact(FAST + "\nmachine = true"), "the flag --fast sets"),
        (
            _fact('attributes = [".fast"]\nvalue = true') + _refusal("f", "fast", "set = true"),
            "is True",
        ),
        (_domain(KIND), "never two, which the flag --kind takes"),
        (_domain(KIND) + _refusal("no-three", "kind", 'values = ["three"]'), "never two"),
        (_domain(KIND) + _refusal("two-only", "kind", 'only = ["two"]'), "never two"),
        (
            _domain('names = ["sglang.**.mode"]\nnever = ["any"]'),
            "never any, which the flag --mode takes",
        ),
        (
            _domain('names = ["sglang.**.kind"]\nonly = ["one"]'),
            "all that it may be, and the flag --kind takes more",
        ),
        (
            _fact('environment = ["SGLANG_ON"]\nvalue = false'),
            "which upstream has on where nobody sets it",
        ),
        (_fact('environment = ["SGLANG_COUNT"]\nvalue = false'), "reads it by EnvInt"),
        (_fact('environment = ["SGLANG_FOLDER"]\nvalue = false'), "any text counts there"),
        (_fact('environment = ["SGLANG_OFF"]\nvalue = true'), "which nothing enforces"),
        (_fact(DEEP), "what Mode gives for deep, which the flag --mode takes"),
        (_fact('calls = [".is_shallow"]\nvalue = false'), "what Mode gives for plain"),
        (
            _fact(NGRAM) + _refusal("n", "algorithm", 'values = ["NGRAM", "ngram"]'),
            "for NGRAM in any case",
        ),
        (_fact(USE_FAST), "upstream computes it from flag --fast"),
        (_fact('attributes = [".wanted"]\nvalue = false'), "may be set by a checkpoint"),
        (
            _fact('calls = ["sglang.uses.fast_is_wanted"]\nvalue = false'),
            "upstream computes it from flag --fast",
        ),
        (
            _fact('attributes = [".patched"]\nvalue = false'),
            "computes it from variable SGLANG_PATCHED",
        ),
        (_fact('calls = ["sglang.**.is_hopper"]\nvalue = false'), "what nothing enforces"),
        (
            _fact(USE_FAST + '\nfollows = ["unplaced"]') + UNPLACED,
            "follows unplaced, which is not in force",
        ),
        (_fact(USE_FAST + '\nfollows = ["claim"]'), "follows claim, which is not in force"),
        (_fact(USE_FAST + '\nfollows = ["nothing"]'), "follows nothing, which is not in force"),
        (_fact('attributes = [".image"]'), "computes it from request ChatRequest.image"),
    ],
    ids=range(29),
)
def test_not_enforced(judge: Judge, rules: str, said: str) -> None:
    (finding,) = judge(rules).findings
    assert (finding.check, finding.path) == ("unenforced", "rules.toml")
    assert finding.line == RULES.count("\n") + 1
    assert finding.message.startswith("claim: ") and said in finding.message


STORE = 'names = ["sglang.**.kind"]\nnever = ["two", "four"]'
ASKED_LATER = {"requests.py": "class AttachRequest:\n    kind: str\n"}
WHILE_RUNNING = rule(
    "reject",
    "no-two-later",
    'feature = "what is gone"',
    'function = "sglang.server.Server.attach"',
    'argument = "kind"',
    'attribute = ""',
    'values = ["two"]',
    'instead = "Leave it out."',
)


def test_a_request_by_the_name_of_a_flag_is_refused_by_itself(judge: Judge) -> None:
    at_start = _refusal("no-two", "kind", 'values = ["two"]')
    found = judge(_domain(STORE) + at_start + WHILE_RUNNING, ASKED_LATER)
    assert found.findings == ()
    assert found.claims[0].enters == (
        "flag --kind (refused by no-two)",
        "request AttachRequest.kind (refused)",
    )


def test_the_refusal_of_a_flag_does_not_see_a_request(judge: Judge) -> None:
    at_start = _refusal("no-two", "kind", 'values = ["two"]')
    (finding,) = judge(_domain(STORE) + at_start, ASKED_LATER).findings
    assert "never two, and the request AttachRequest.kind may say so" in finding.message


LISTS = 'KINDS = ["one", "two", "three"]\nMORE = KINDS\n'
ELSEWHERE = ARGS.replace(LISTS, "from sglang.choices import MORE\n")


# A text of a list that no file has may be any.
@pytest.mark.parametrize(
    ("lists", "asked"), [(LISTS, 0), (LISTS.replace('"one", ', '"four", '), 1), ("MORE = KINDS", 1)]
)
def test_choices_that_another_module_lists(judge: Judge, lists: str, asked: int) -> None:
    upstream = {"args.py": ELSEWHERE, "choices.py": lists}
    found = judge(_domain('names = ["sglang.**.kind"]\nnever = ["four"]'), upstream)
    assert ELSEWHERE != ARGS and len(found.findings) == asked


@pytest.mark.parametrize(
    ("added", "asked"),
    [("choices=KINDS, ", 0), ("", 1), ("choices=found(), ", 1), ("choices=[*KINDS, 'four'], ", 1)],
)
def test_choices_of_a_parser(judge: Judge, added: str, asked: int) -> None:
    plain = (
        ARGS.replace('A[str, Arg(help="four", choices=MORE)]', "str")
        + "\n    @staticmethod\n    def add(parser):\n"
    )
    upstream = {"args.py": f"{plain}        parser.add_argument('--kind', {added}help='four')\n"}
    assert (
        len(judge(_domain('names = ["sglang.**.kind"]\nnever = ["four"]'), upstream).findings)
        == asked
    )


def test_a_profile_without_entries_is_not_asked(judge: Judge) -> None:
    assert judge(_fact(FAST), head="") == Entries()


def _effect(found: Entries, flag: str) -> tuple[str, str]:
    return next((each.effect, each.rule) for each in found.flags if each.flag == flag)


GONE = "def f(self):\n    return self.args.kind\n"
WITHOUT_KIND = {"uses.py": USES.replace("        self.kind = args.kind\n", "")}


@pytest.mark.parametrize(
    ("upstream", "generated"),
    [
        ({}, {}),
        ({}, {"uses.py": USES.replace("args.kind", "get_args().kind")}),
        ({}, {"uses.py": USES.replace("args.kind", 'getattr(args, "kind")')}),
        (
            {},
            {
                "uses.py": USES.replace(
                    "self.kind = args.kind", 'for name in ("kind", "mode"): print(name)'
                )
            },
        ),
        (
            {},
            {
                "uses.py": USES.replace(
                    "self.kind = args.kind", "mine = get_args(); self.kind = mine.kind"
                )
            },
        ),
        (
            WITHOUT_KIND | {"checks.py": "def check(args):\n    return args.kind\n"},
            WITHOUT_KIND | {"checks.py": ""},
        ),
        # Of another object.
        (
            WITHOUT_KIND | {"other.py": "def f(batch):\n    return batch.kind\n"},
            WITHOUT_KIND | {"other.py": ""},
        ),
        # Upstream reads it in a folder that nobody imports.
        *(
            (
                WITHOUT_KIND | {"lost/gone.py": GONE, "more.py": more},
                WITHOUT_KIND | {"lost/gone.py": ""},
            )
            for more in ("", "lost = 1\nprint(lost, 'all is lost')  # import lost\n")
        ),
        # Never read of an object that holds it.
        ({}, {"args.py": ARGS.replace("self.checked = self.slow", "pass")}),
    ],
    ids=range(10),
)
def test_effects_that_are_kept(judge: Judge, upstream: Files, generated: Files) -> None:
    found = judge("", upstream, generated)
    assert found.findings == ()
    assert _effect(found, "slow") == ("kept", "")
    assert _effect(found, "unread") == ("none in upstream", "")


@pytest.mark.parametrize(
    ("flag", "upstream", "generated"),
    [
        ("kind", {}, WITHOUT_KIND),
        ("kind", WITHOUT_KIND | {"gone.py": GONE}, WITHOUT_KIND | {"gone.py": ""}),
        *(
            (
                "kind",
                WITHOUT_KIND | {"lost/gone.py": GONE, "more.py": more},
                WITHOUT_KIND | {"lost/gone.py": ""},
            )
            for more in (
                "from sglang.lost import gone",
                "from . import lost",
                "from sglang import (\n    other,\n    lost,\n)",
                "import_module('lost.gone')",
            )
        ),
        (
            "kind",
            WITHOUT_KIND | {"gone.py": "x = getattr(get_args(), 'kind')\n"},
            WITHOUT_KIND | {"gone.py": ""},
        ),
        (
            "slow",
            {},
            {
                "args.py": ARGS.replace("self.checked = self.slow", "pass").replace(
                    "self.slow and ", ""
                )
            },
        ),
    ],
    ids=range(8),
)
def test_effects_that_are_gone(judge: Judge, flag: str, upstream: Files, generated: Files) -> None:
    (finding,) = judge("", upstream, generated).findings
    assert finding.check == "flags without effect" and finding.path == "python/sglang/args.py"
    assert f"flag --{flag} is still taken" in finding.message
    refused = judge(_refusal("no-such-flag", flag, "set = true"), upstream, generated)
    assert refused.findings == () and _effect(refused, flag) == ("gone", "no-such-flag")
    partly = judge(_refusal("no-value", flag, 'values = ["two"]'), upstream, generated)
    assert [f.check for f in partly.findings] == ["flags without effect"]
    assert judge(_of_mode(flag) + NO_DEEP, upstream, generated).findings == ()
    assert (
        judge(_of_mode(flag) + NO_DEEP.replace("no-deep", "unplaced"), upstream, generated).findings
        != ()
    )


def test_a_flag_that_went_with_its_field(judge: Judge) -> None:
    gone = '    kind: A[str, Arg(help="four", choices=MORE)] = "one"\n'
    found = judge("", {}, WITHOUT_KIND | {"args.py": ARGS.replace(gone, "")})
    assert found.findings == () and "kind" not in [each.flag for each in found.flags]


def test_the_level_references_asks(case: Build) -> None:
    files = {"__init__.py": "", "args.py": "class Args:\n    fast: bool = False\n"}
    found = case(files, dict.fromkeys(files, "=")).ruled(RULES + _fact(FAST)).evidence("references")
    assert [(f.check, f.path) for f in found.open] == [("unenforced", "rules.toml")]
    assert found.passed and not found.held().passed, (
        "of an upstream that nobody answers for it is a question"
    )


@pytest.mark.parametrize("name", IDLE)
def test_what_upstream_reads_in_a_class_that_it_may_never_make(judge: Judge, name: str) -> None:
    upstream = WITHOUT_KIND | IDLE_CLASSES | IDLE[name]
    found = judge("", upstream, upstream | {"idle.py": ""})
    assert (found.findings == ()) is name.startswith("never")
