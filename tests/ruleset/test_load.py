"""Loading: every profile that ships, and every error with file, line and the nearest valid name."""

import re
from pathlib import Path

import pytest

from shrinker.project import RULES_FOLDER
from shrinker.ruleset import load_profile
from shrinker.ruleset.load import RENAMED, load_rules, profile_files
from shrinker.values.errors import InputError
from tests.small import write

FACT = (
    '[[fact]]\nid = "hip"\nwhy = "There is no AMD GPU here."\n'
    'calls = ["sglang.**.is_hip"]\nvalue = false\n'
)
PROFILES = sorted(path.stem for path in (RULES_FOLDER / "profiles").glob("*.toml"))


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_loads(name: str) -> None:
    rules = load_profile(name)
    assert rules.profile == name
    assert rules.roots and rules.facts and rules.removes
    assert re.fullmatch(r"[0-9a-f]{64}", rules.digest)
    ids = [rule.id for rule in rules.all_rules()]
    assert len(ids) == len(set(ids))
    assert all(rule.why.endswith((".", ")")) for rule in rules.all_rules())


def test_the_default_profile_is_there() -> None:
    assert "deepseek" in PROFILES


def test_every_rule_file_is_used_by_a_profile() -> None:
    used = {name for profile in PROFILES for name in profile_files(RULES_FOLDER, profile)}
    every = {
        path.relative_to(RULES_FOLDER).with_suffix("").as_posix()
        for path in RULES_FOLDER.glob("**/*.toml")
    }
    assert every - {f"profiles/{name}" for name in PROFILES} == used


def folder(
    tmp_path: Path, text: str, profile: str = 'description = "x"\ninclude = ["world"]\n'
) -> Path:
    world = text.encode("utf-8", "surrogateescape")
    return write(tmp_path, {"profiles/small.toml": profile, "world.toml": world})


def test_values(tmp_path: Path) -> None:
    rules = load_profile(
        "small",
        folder(tmp_path, FACT + '\n[[absent]]\nid = "amd"\nwhy = "Not there."\nmodules = ["a"]\n'),
    )
    [fact] = rules.facts
    assert (fact.id, fact.calls) == ("hip", ("sglang.**.is_hip",))
    assert (fact.value, fact.exact, fact.optional) == (False, True, False)
    assert rules.absents[0].modules == ("a",)
    assert [rule.id for rule in rules.all_rules()] == ["hip", "amd"]


def test_a_fact_without_a_value_is_none(tmp_path: Path) -> None:
    [fact] = load_profile("small", folder(tmp_path, FACT.replace("value = false\n", ""))).facts
    assert fact.value is None


def test_the_digest_covers_rules_and_profile(tmp_path: Path) -> None:
    place = folder(tmp_path, FACT)
    first = load_profile("small", place).digest
    assert load_profile("small", place).digest == first
    (place / "world.toml").write_text(FACT + "# a comment\n")
    second = load_profile("small", place).digest
    (place / "profiles/small.toml").write_text('description = "y"\ninclude = ["world"]\n')
    assert len({first, second, load_profile("small", place).digest}) == 3


REFUSAL = """
[[reject]]
id = "refuse-kind"
why = "A test of a domain's texts."
feature = "other kinds"
function = "sglang.**.start"
attribute = ["kind", "other"]
domain = "DOMAIN"
instead = "Take another kind."
"""
DOMAIN = '[[domain]]\nid = "kinds"\nwhy = "The kinds there are."\nnames = ["sglang.**.kind"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[fakt]]\n", ["world.toml:1", "'fakt'", "did you mean 'fact'"]),
        ("\n\n[fact]\nid = 1\n", ["world.toml:3", "'fact'"]),
        ('title = "x"\n', ["world.toml:1", "'title'"]),
        (
            FACT + FACT.replace('"hip"', '"cuda"').replace("calls", "cals"),
            ["world.toml:9", "'cals'", "'calls'"],
        ),
        (FACT.replace("value = false", "value = 7.5"), ["world.toml:5", "value"]),
        (FACT.replace("value = false", "value = 0.0"), ["world.toml:5", "value"]),
        (FACT.replace('"hip"', '"HIP"'), ["world.toml:2", "id"]),
        (FACT.replace('id = "hip"\n', ""), ["world.toml:1", "id", "Field required"]),
        (FACT.replace("There is no AMD GPU here.", "short"), ["world.toml:3", "why"]),
        (FACT.replace('["sglang.**.is_hip"]', "7"), ["world.toml:4", "calls"]),
        (FACT + FACT, ["world.toml:6", "'hip'", "world.toml:1"]),
        (FACT + "value = true\n", ["world.toml:6"]),
        (FACT + "[[fact]\n", ["world.toml:6"]),
        (FACT + "# \udcff\n", ["world.toml", "cannot be read"]),
        (DOMAIN, ["exactly one of `never` and `only`"]),
        (DOMAIN + 'never = ["a"]\nonly = ["b"]\n', ["exactly one of `never` and `only`"]),
        (
            DOMAIN + 'never = ["a"]\n' + REFUSAL.replace("DOMAIN", "kind"),
            ["world.toml:7: rule refuse-kind names no domain: 'kind' (did you mean 'kinds'"],
        ),
        *(
            (FACT + f'[[{old}]]\nid = "x"\n', [f"world.toml:6: [[{old}]] is called [[{new}]] now"])
            for old, new in RENAMED.items()
        ),
        (
            'description = "x"\ninclude = ["word"]\n',
            ["small.toml:2", "'word'", "did you mean 'world'"],
        ),
        (
            'description = "x"\ninclde = ["world"]\n',
            ["small.toml:2", "'inclde'", "did you mean 'include'"],
        ),
        ('description = "x"\n', ["small.toml:1", "include"]),
        ('description = "x\n', ["small.toml:1"]),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, words: list[str]) -> None:
    """Of a file of rules, or of a profile, which begins with its description."""
    files = (FACT, text) if text.startswith("description") else (text,)
    with pytest.raises(InputError) as caught:
        load_profile("small", folder(tmp_path, *files))
    for word in words:
        assert word in caught.value.message
    assert caught.value.next_step


def test_one_id_in_two_files(tmp_path: Path) -> None:
    place = folder(tmp_path, FACT)
    (place / "other.toml").write_text("# first\n" + FACT)
    with pytest.raises(InputError, match=r"other\.toml:2: rule id 'hip' is taken by world\.toml:1"):
        load_rules([place / "world.toml", place / "other.toml"])


def test_an_unknown_profile(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'small'") as caught:
        load_profile("smal", folder(tmp_path, FACT))
    assert "small" in caught.value.next_step
    with pytest.raises(InputError, match="no profile"):
        load_profile("../profiles/small", tmp_path)


def test_rules_about_what_is_served(tmp_path: Path) -> None:
    place = folder(tmp_path, FACT, 'description = "x"\ninclude = ["world", "features"]\n')
    write(
        place,
        {"features/more.toml": FACT.replace('"hip"', '"mamba"').replace("is_hip", "is_mamba")},
    )
    rules = load_profile("small", place)
    assert rules.scope == ("mamba",)
    assert rules.places["mamba"] == "features/more.toml:1"


def test_a_profile_extends_another_and_drops_some_of_its_files(tmp_path: Path) -> None:
    place = folder(tmp_path, FACT)
    (place / "more.toml").write_text(FACT.replace('"hip"', '"mamba"').replace("is_hip", "is_mamba"))
    narrow = place / "profiles/narrow.toml"
    narrow.write_text('description = "x"\nextends = "small"\ninclude = ["more"]\n')
    assert profile_files(place, "narrow") == ("world", "more")
    narrow.write_text(
        'description = "x"\nextends = "small"\ninclude = ["more"]\ndrop = ["world"]\n'
    )
    assert [fact.id for fact in load_profile("narrow", place).facts] == ["mamba"]
    narrow.write_text('description = "x"\nextends = "small"\ndrop = ["wrld"]\n')
    with pytest.raises(
        InputError,
        match=r"narrow.toml:3: drop: no rule file or folder 'wrld' \(did you mean 'world'",
    ):
        load_profile("narrow", place)
    narrow.write_text('description = "x"\nextends = "narow"\n')
    with pytest.raises(
        InputError, match=r"narrow.toml:2: no profile 'narow' \(did you mean 'narrow'"
    ):
        load_profile("narrow", place)
    narrow.write_text('description = "x"\nextends = "narrow"\n')
    with pytest.raises(InputError, match=r"narrow\.toml:2: extends itself"):
        load_profile("narrow", place)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("", {"0.5.7": False, "0.5.15.post1": False, None: False}),
        (
            'since = "0.5.15"\n',
            {"0.5.7": True, "0.5.14": True, "0.5.15": False, "0.5.15.post1": False, None: True},
        ),
        (
            'until = "0.5.15"\n',
            {"0.5.7": False, "0.5.15": False, "0.5.15.post1": True, "0.5.20": True, None: True},
        ),
        ("optional = true\n", {"0.5.7": True, None: True}),
    ],
)
def test_releases_that_have_what_a_rule_names(
    tmp_path: Path, bounds: str, expected: dict[str | None, bool]
) -> None:
    [fact] = load_profile("small", folder(tmp_path, FACT + bounds)).facts
    assert {version: fact.may_idle(version) for version in expected} == expected


def test_a_refusal_has_the_texts_of_its_domain(tmp_path: Path) -> None:
    for key in ("never", "only"):
        place = tmp_path / key
        place.mkdir()
        text = DOMAIN + f'{key} = ["a", "b"]\n' + REFUSAL.replace("DOMAIN", "kinds")
        [refusal] = load_profile("small", folder(place, text)).refusals
        assert (refusal.values, refusal.only) == (
            (("a", "b"), ()) if key == "never" else ((), ("a", "b"))
        )
        assert refusal.attributes == ("kind", "other")
