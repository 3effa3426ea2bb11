"""Every archive of tests/programs: what must not change first, then what folding makes of the rest.

Every trap that upstream's code holds, and every breakage of the attempt by hand, has a case. Programs with a function
``f(a, b, device, thing)`` are also run, before and after folding, in a world where the facts hold.
"""

import re
from pathlib import Path

import pytest

from tests.fold.defects import faults, shrink
from tests.fold.programs import PROGRAMS, read_program
from tests.fold.world import difference, trace

ARCHIVES = sorted(PROGRAMS.glob("*.txtar"), key=lambda p: (not p.name.startswith("noop_"), p.name))


def test_there_are_programs() -> None:
    assert len(ARCHIVES) > 100


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.stem)
def test_program(archive: Path) -> None:
    program = read_program(archive)
    assert program.files, "an archive holds files"
    shrunk = shrink(program.files, rounds=program.rounds)
    assert shrunk.rescued == tuple(sorted(program.rescued))
    for path, text in program.files.items():
        assert program.wanted.get(path) != text, f"{path} is wanted as it is: leave the section out"
        assert path in shrunk.modules or "/npu/" in path or not path.endswith(".py"), f"{path} was not folded"
        assert shrunk.after[path] == program.wanted.get(path, text), path
    assert faults(shrunk) == []
    if "\ndef f(a, b, device, thing):" in archive.read_text("utf-8"):
        before = trace(shrunk.before)
        assert all(outcome.error is None for outcome in before), before
        assert difference(before, trace(shrunk.after)) is None
        again = shrink(shrunk.after, rounds=program.rounds)
        assert [decision for module in again.modules.values() for decision in module.decisions] == []


ROOT = Path(__file__).resolve().parents[2]

TRAPS: dict[str, tuple[str, ...]] = {
    # Predicates and the positions in which they stand.
    "a switch read as bool(int(os.getenv(...))) without the platform's flag": ("environment_switch",),
    "a switch whose default means yes": ("noop_default_is_on",),
    "is_npu = is_npu() shadows the function": ("shadowing_predicate",),
    "a second is_hip, defined in another module": ("second_predicate",),
    "a predicate as a decorator's keyword": ("decorators_and_defaults", "guarded_definitions"),
    "a predicate as a default argument": ("decorators_and_defaults", "derived_flags"),
    "an if in a class body": ("decorators_and_defaults", "noop_class_body"),
    "guards around functions and classes": ("guarded_definitions",),
    "a guard and an early exit without else": ("guard_and_early_exit",),
    "functions that return a constant, through other functions": ("interprocedural_constants", "cross_module_flags"),
    "a platform object asked by attribute": ("platform_objects",),
    "flags made of flags": ("derived_flags", "cross_module_flags"),
    "an absent module": ("absent_module", "noop_absent_later", "noop_handler_prints", "noop_import_before_absent"),
    "an absent attribute of an installed module": ("missing_attribute", "noop_missing_order"),
    # What looks like a platform test and is none, or decides less than it seems.
    "use_mla_backend is no constant": ("noop_use_mla_backend",),
    "x or default is a value": ("noop_value_or_default", "boolean_values"),
    "is_cuda of a tensor and the device of a tensor": ("noop_tensor_attributes",),
    "a condition with an effect": ("noop_side_effects", "asked_in_vain"),
    "a generator is no constant function": ("noop_generator_call", "noop_generator"),
    "a flag that something rebinds": ("noop_rebound_flag", "noop_rebound_later", "noop_module_loop"),
    "another name that is spelled the same": (
        "noop_shadowed_name",
        "noop_local_definition",
        "noop_global_skips_function",
        "noop_class_body",
    ),
    "star imports": ("star_import_order", "star_import_of_the_same", "circular_star_imports"),
    "an import that is there for its effect": ("noop_import_for_effect", "flag_of_a_registry"),
    "modules that import each other": ("import_cycle_order",),
    "a try of which only handlers are left": ("try_without_handlers",),
    "a lambda that is made and never called": ("lambda_bodies",),
    "a function that only the guard of a case calls": ("noop_guard_of_a_case",),
    "a name that a test binds": ("noop_named_expressions",),
    # Undefined names after folding.
    "arms of enumeration members that only another platform produces": (
        "enumeration_members",
        "enumeration_needs_itself",
        "member_left_whole",
    ),
    "a flag that is read after its definition was folded (_is_cpu)": ("flag_still_used", "shown_in_a_format"),
    "a local name that only a dead branch binds": ("unbound_local", "dead_code_after_taken_handler"),
    "a global declaration that only a dead branch holds": ("noop_global_declaration",),
    "a definition that goes with its registration": ("registered_and_called", "noop_removed_decorator"),
    # Text.
    "a byte-order mark": ("byte_order_mark", "tests/emit/test_files.py::test_a_byte_order_mark_stays"),
    "an elif that is swallowed": ("elif_chain", "if_elif_else"),
    "a wrong dedent": ("dedent", "layouts"),
    # What broke by hand.
    "a file cut short below a folded block (parallel_state.py, get_tp_group)": ("neighbours_survive",),
    "classes deleted beside a folded block (ColumnParallelLinear)": ("neighbours_survive", "guarded_definitions"),
    "a class that kept code imports (ChatGLMConfig, AWQMarlinConfig)": (
        "config_still_imported",
        "tests/check/test_references.py::test_fails",
    ),
    "a package that kept code needs (NSA)": ("removed_eager_use",),
    # Found by other phases.
    "a registry that swallows import errors": (
        "tests/program/test_rules.py::test_a_walk_with_a_rule_finds_what_it_says",
    ),
    "modules that are chosen by a string": ("removed_by_string", "tests/program/test_modules.py::test_edge"),
}
"""What upstream does to whoever changes it, to the programs (by name) and tests (by path) that show it handled."""


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_has_a_case(trap: str) -> None:
    for case in TRAPS[trap]:
        path, _, name = case.partition("::")
        if name:
            assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), case
        else:
            assert (PROGRAMS / f"{case}.txtar").is_file(), case
