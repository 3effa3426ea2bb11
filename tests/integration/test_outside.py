"""What clients, plug-ins, training frameworks and operators take of the default release: there, or
a named error that is true.

Both trees are asked the same: what upstream does not have is no case.
"""

import fnmatch
from collections.abc import Mapping
from pathlib import Path

import pytest
from packaging.version import Version

from equivalence.levels.setting import Call, Setting
from equivalence.simulation.environment import Simulation
from shrinker.check.outside import tables_of
from shrinker.ruleset import load_profile
from shrinker.source.cache import default_folder
from shrinker.values.upstream import modules_of
from tests.integration.conftest import PINNED
from tests.integration.served import OPTIONS, checkpoint
from tests.integration.shrunk import EARLIER, Shrunk, bound, check_api, speaks_of
from tests.simulations import simulation_python
from tests.small import read_archive

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def upstream(newest: Shrunk) -> Path:
    return newest.upstream.root / "python"


TAKEN = {
    "sglang.utils": "async_stream_and_merge stream_and_merge wait_for_server print_highlight terminate_process "
    "launch_server_cmd trim_overlap read_jsonl",
    "sglang.srt.state_capturer.routed_experts": "extract_routed_experts_from_meta_info",
    "sglang.srt.state_capturer.indexer_topk": "extract_indexer_topk_from_meta_info",
    "sglang.srt.observability.forward_pass_metrics": "decode encode",
    "sglang.srt.observability.ray_wrappers": "RaySchedulerMetricsCollector RayTokenizerMetricsCollector",
    "sglang.srt.constrained.base_grammar_backend": "register_grammar_backend",
    "sglang.srt.server_args": "add_attention_backend_choices add_quantization_method_choices add_load_format_choices "
    "add_grammar_backend_choices add_moe_runner_backend_choices",
    "sglang.srt.eplb.eplb_simulator.reader": "read_mode_per_pass convert_global_physical_count_to_logical_count",
    "sglang.srt.debug_utils.dump_loader": "DumpLoader",
    "sglang.srt.entrypoints.openai.encoding_dsv32": "encode_messages parse_message_from_completion_text",
    "sglang.srt.model_loader": "get_model",
    "sglang.srt.model_loader.weight_utils": "default_weight_loader sharded_weight_loader maybe_remap_kv_scale_name",
    "sglang.srt.distributed.parallel_state": "init_distributed_environment "
    "initialize_model_parallel model_parallel_is_initialized cleanup_dist_env_and_memory "
    "get_tensor_model_parallel_group get_pipeline_model_parallel_group",
    "sglang.srt.distributed.communication_op": "broadcast_tensor_dict tensor_model_parallel_gather",
    "sglang.srt.managers.schedule_batch": "Modality",
    "sglang.srt.weight_sync.utils": "update_weights _preprocess_tensor_for_update_weights",
    "sglang.srt.entrypoints.http_server_engine": "HttpServerEngineAdapter launch_server_process",
    "sglang.srt.sampling.custom_logit_processor": "CustomLogitProcessor DisallowedTokensLogitsProcessor "
    "ThinkingBudgetLogitProcessor DeepSeekR1ThinkingBudgetLogitProcessor",
}


DEVELOPING = {"sglang.srt.debug_utils.dump_loader"}
"""What developers of models use beside the server: the widest profile alone has it."""


@pytest.mark.parametrize("module", TAKEN)
def test_what_code_outside_takes_is_there(
    newest: Shrunk, narrower: Shrunk, upstream: Path, module: str
) -> None:
    names = set(TAKEN[module].split())
    assert names <= bound(upstream, module)
    for shrunk in (newest, narrower):
        if shrunk is newest or module not in DEVELOPING:
            assert names <= bound(shrunk.out / "python", module), shrunk.profile


@pytest.mark.parametrize("profile", ["deepseek", "deepseek-r1-nvfp4"])
def test_every_name_of_a_rule_is_there(
    newest: Shrunk, narrower: Shrunk, upstream: Path, profile: str
) -> None:
    tree = {"deepseek": newest, "deepseek-r1-nvfp4": narrower}[profile].out / "python"
    apis = (rule for rule in load_profile(profile).apis if rule.id != EARLIER)
    rules = [rule for rule in apis if speaks_of(rule, newest.release)]
    for rule in rules:
        check_api(rule, upstream, tree)
    # A name that upstream gave up belongs into a rule that says until when it was there.
    lost = [
        name
        for rule in rules
        for name in rule.names
        if not fnmatch.filter(bound(upstream, name.rpartition(".")[0]), name.rpartition(".")[2])
    ]
    assert lost == []


def _answered(out: Path) -> set[str]:
    """Read the qualified names that the table of the tree answers for."""
    tables, found, module = tables_of(out), set(), ""
    rows = [row for table in ("VALUES", "HANDED") for _, row in tables[table]]
    for word in (word for _, words in rows for word in words.split()):
        if word.endswith(":"):
            module = word[:-1]
        else:
            found.add(f"{module}.{word.rstrip('()=')}")
    return found


def test_no_name_that_is_answered_for_is_that_of_a_module(newest: Shrunk, narrower: Shrunk) -> None:
    """Who asks a package for it would get the module that stays, and no function of upstream's."""
    for shrunk in (newest, narrower):
        answered = _answered(shrunk.out)
        assert len(answered) > 1200
        assert answered & modules_of(shrunk.paths).keys() == set(), shrunk.profile


DRAFTS = {
    name: "from sglang.srt.server_args import ServerArgs\n"
    f"args = ServerArgs(model_path='none', speculative_algorithm={name!r})\n"
    "getattr(args, 'resolve_once', lambda: None)()"
    for name in ("EAGLE3", "DFLASH")
}
"""Later releases make arguments without looking at them: that is a step of its own."""
WRITTEN = read_archive(Path(__file__).with_name("outside.txtar"))
LOADED = WRITTEN.pop("loaded")
"""What each worker of a server does, without the server around it."""
CONSTANTS = WRITTEN.pop("constants")
"""Says what names are for which the generated tree has a value, or another module that has them."""
ROUTER = "sglang.srt.entrypoints.ollama.smart_router"
CHECKS = ("sglang.test.few_shot_gsm8k", "sglang.test.send_one")
"""What checks a server from beside it: the widest profile alone has them."""
PROGRAMS = (
    "sglang.srt.managers.configure_logging",
    "sglang.srt.mem_cache.flush_cache",
    *CHECKS,
    "sglang.bench_serving",
    "sglang.compile_deep_gemm",
    "sglang.profiler",
)
GIVEN_UP = "sglang.auto_benchmark"
"""A program that upstream had until release 0.5.16."""
SCRIPTS = {
    # It takes nothing, and is only looked for.
    ROUTER: f"import importlib.util as u\nprint('usage:', bool(u.find_spec({ROUTER!r})))",
    **WRITTEN,
    **DRAFTS,
}
GGUF = {
    "--quantization gguf": ("KeyError: 'model.layers.0.mlp.gate_up_proj.weight'", "refuse-gguf"),
    "--quantization gguf --load-format dummy": ("use an uninitialized parameter", "refuse-gguf"),
    "--load-format gguf": ("is not a file", "refuse-load-format-gguf"),
}
"""What the widest profile lacks because upstream ends with an error, too: options, what upstream
says, and the rule.
"""
COMMANDS = {
    **{name: ("-m", name) for name in (*PROGRAMS, GIVEN_UP)},
    **{name: ("-c", code) for name, code in SCRIPTS.items()},
}
Said = Mapping[str, Mapping[str, tuple[int, str]]]


@pytest.fixture(scope="module")
def said(
    newest: Shrunk, narrower: Shrunk, upstream: Path, tmp_path_factory: pytest.TempPathFactory
) -> Said:
    """How each command ends in each tree, and what it says: all in children of one process."""
    made = Simulation(simulation_python(), compiled=default_folder() / "compiled")
    setting = Setting(made, tmp_path_factory.mktemp("asked"))
    trees = {
        "upstream": upstream,
        **{each.profile: each.out / "python" for each in (newest, narrower)},
    }
    start = f"--model-path {checkpoint(made)} {OPTIONS}"
    loading = {options: ("-c", LOADED.format(words=f"{start} {options}")) for options in GGUF}
    table = str(newest.out / "python/sglang/removed_features.py")
    loading["constants"] = ("-c", CONSTANTS.format(table=table, words=start))
    call = Call(
        "usage",
        {tree: {"commands": COMMANDS | loading, "seconds": 300} for tree in trees},
        3000,
        "usage",
    )
    ended = {name: setting.program(name, tree, call) for name, tree in trees.items()}
    assert [outcome.failure for outcome in ended.values()] == [""] * len(trees)
    return {name: outcome.data for name, outcome in ended.items()}


@pytest.mark.parametrize("module", [*PROGRAMS, ROUTER])
def test_programs_that_operators_start(said: Said, module: str) -> None:
    """Each ends in the same way where it is only asked what it takes."""
    # The second takes the flags of a server, of whose choices the narrower profile has fewer.
    alone = module in (ROUTER, "sglang.compile_deep_gemm", *CHECKS)
    wide = ("deepseek",) if alone else ("deepseek", "deepseek-r1-nvfp4")
    code, text = said["upstream"][module]
    assert "usage:" in text
    for profile in wide:
        here, found = said[profile][module]
        assert (here, found.partition("usage:")[1:]) == (code, text.partition("usage:")[1:])
    if module in CHECKS:
        narrow = said["deepseek-r1-nvfp4"][module][1]
        assert "left out on purpose" in narrow and "rule remove-checks-of-a-server" in narrow


def test_a_program_that_upstream_gave_up_is_not_there(said: Said) -> None:
    """Where it comes back, a rule has to keep it again: `root-search-of-flags`."""
    [rule] = [rule for rule in load_profile("deepseek").roots if GIVEN_UP in rule.modules]
    assert Version(rule.until) < Version(PINNED)
    for code, text in (said[tree][GIVEN_UP] for tree in said):
        assert (code, text.splitlines()[-1]) == (1, f"ImportError: No module named {GIVEN_UP}")


def test_a_processor_of_logits_travels_by_reference(said: Said) -> None:
    found = [answers["processors"] for answers in said.values()]
    assert found[0][0] == 0 and "DeepSeekR1ThinkingBudgetLogitProcessor 201 129279" in found[0][1]
    assert len({text.splitlines()[-1] for _, text in found}) == 1, found[-1][1][-2000:]


def test_programs_that_hold_the_server_may_probe(said: Said) -> None:
    text = said["deepseek"]["probed"][1]
    assert text.endswith("fine\n"), text[-2000:]


def _constants(text: str) -> dict[tuple[str, str], str]:
    rows = (line.split(" ", 3) for line in text.splitlines() if line.startswith("told "))
    return {(module, name): said for _, module, name, said in rows}


def test_who_asks_for_a_lost_name_gets_upstreams_value(said: Said) -> None:
    """A property of upstream's class is none to compare: only an object has its value."""
    here, there = (_constants(said[tree]["constants"][1]) for tree in ("deepseek", "upstream"))
    both = here.keys() & there.keys()
    assert len(both) > 1200, said["deepseek"]["constants"][1][-2000:]
    assert {each: here[each] for each in both if here[each] != there[each]} == {}
    fp8 = "sglang.srt.layers.quantization.fp8"
    for name in ("_is_hip", "_use_aiter", "_is_fp8_fnuz", "_use_hip_int4"):
        assert there[fp8, name] == "False"


def test_kinds_of_multimodal_checkpoints_are_refused(said: Said) -> None:
    for profile in ("deepseek", "deepseek-r1-nvfp4"):
        text = said[profile]["kinds"][1]
        ended = [line for line in text.splitlines() if line.startswith("ended RemovedFeatureError")]
        assert len(ended) == 4 and all("refuse-checkpoints-by-kind" in line for line in ended), (
            text[-3000:]
        )


def test_scripts_about_accuracy(said: Said) -> None:
    before = said["upstream"]["accuracy"][1].splitlines()
    assert before[-2:] == ["30000 Invalid backend: other", "there"]
    found = said["deepseek"]["accuracy"][1].splitlines()
    assert found[-2] == before[-2] and "left out on purpose" in found[-1], found[-2:]


@pytest.mark.parametrize("algorithm", DRAFTS)
def test_a_draft_of_another_architecture_is_refused_with_its_flag(
    said: Said, algorithm: str
) -> None:
    for profile in ("deepseek", "deepseek-r1-nvfp4"):
        text = said[profile][algorithm][1]
        assert f"speculative_algorithm={algorithm} is not part of this server" in text, text[-2000:]
        assert "Choose EAGLE or NEXTN" in text
    refusing = (
        rule
        for rule in load_profile("deepseek").refusals
        if "speculative_algorithm" in rule.attributes
    )
    assert all({"EAGLE", "NEXTN"}.isdisjoint(rule.values) for rule in refusing)


@pytest.mark.parametrize("options", GGUF)
def test_neither_tree_loads_gguf(said: Said, options: str) -> None:
    upstream, rule = GGUF[options]
    before, after = (said[tree][options] for tree in ("upstream", "deepseek"))
    assert before[0] and upstream in before[1] and "removed by rule" not in before[1]
    assert after[0] and f"removed by rule {rule})" in after[1]


def test_no_file_in_gguf_is_read_for_a_deepseek_model(said: Said) -> None:
    known = said["upstream"]["formats"][1]
    assert "llama" in known.split() and "deepseek" not in known


def test_continuous_integration_may_start_it(said: Said) -> None:
    assert said["deepseek"]["tested"][1].endswith("True\n")
    refused = said["deepseek-r1-nvfp4"]["tested"][1]
    assert "SGLANG_IS_IN_CI" in refused and "switch-continuous-integration" in refused


def test_checkpoints_of_auto_round(said: Said) -> None:
    for tree in ("upstream", "deepseek"):
        assert said[tree]["rounded"][1].split()[-1:] == ["AutoRoundConfig"], said[tree]["rounded"][
            1
        ][-2000:]
    rules = load_profile("deepseek-r1-nvfp4")
    assert any(
        "auto-round" in rule.values and "AutoRound" in rule.feature for rule in rules.refusals
    )
