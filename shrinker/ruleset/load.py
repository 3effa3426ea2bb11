"""Load and check the rules of a profile; every error names file, line and the nearest valid name.

What a rule does is what differs without it, or with it: both make another ruleset of a loaded one.
"""

import difflib
import hashlib
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from shrinker.cache import hash_of
from shrinker.project import RULES_FOLDER, rules_folder
from shrinker.ruleset.contradictions import refuse_contradictions
from shrinker.ruleset.models import Kinds, Profile, Refusal, Rule, Ruleset
from shrinker.values.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
MODELS: dict[str, type[Rule]] = {
    field: get_args(info.annotation)[0] for field, info in Kinds.model_fields.items()
}
"""By field of the ruleset."""
_NAMED = {
    "refusals": "reject",
    "companions": "sibling_package",
    "guards": "import_hook",
    "answers": "endpoint_stub",
    "outsides": "external",
}
"""Fields of which the files of rules do not have the model's name."""
KINDS = {
    _NAMED.get(field, model.__name__.lower()): (field, model) for field, model in MODELS.items()
}
"""By name of the table: field of the ruleset, and model."""
RENAMED = {MODELS[field].__name__.lower(): name for field, name in _NAMED.items()} | {
    "survivor": "leftover",
    "asset": "keep",
}
"""Kinds by the name that they had, and the one that they have."""
_SCOPES = ("family", "features", "profiles")
"""Folders of rules about what is served, which say nothing of platforms."""


def load_profile(name: str, folder: Path | None = None) -> Ruleset:
    """Read `profiles/<name>.toml` of a folder of rules (by default `project.rules_folder`), and the
    rule files it includes. Raises InputError: no such folder, unknown profile, broken TOML, unknown
    kind or key, two rules of one id, two rules that contradict each other.
    """
    folder = folder or rules_folder()
    paths = [folder / f"{stem}.toml" for stem in profile_files(folder, name)]
    profile_path = folder / "profiles" / f"{name}.toml"
    rules = load_rules(paths, name, profile_path.read_bytes(), folder)
    scope = {rule for rule, place in rules.places.items() if place.partition("/")[0] in _SCOPES}
    return rules.model_copy(
        update={"scope": tuple(sorted(scope)), "budget": _read_profile(profile_path)[1].budget}
    )


def profile_files(
    folder: Path, name: str, below: tuple[str, ...] = (), at: str = ""
) -> tuple[str, ...]:
    """Return the rule files of a profile, without ``.toml``: those of the profile that it extends,
    without what it drops, then its own. `below` are the profiles that extend it, `at` says where
    the last of them does.
    """
    profiles = profile_names(folder)
    if name not in profiles:
        raise InputError(
            f"{at}no profile {name!r}{nearest(name, profiles)}",
            f"profiles here: {', '.join(profiles)}",
        )
    path = folder / "profiles" / f"{name}.toml"
    text, profile = _read_profile(path)
    at = f"{path.name}:{_line_of(text, 'extends')}: "
    if name in below:
        raise InputError(f"{at}extends itself by way of {' and '.join(below)}", "break the circle")
    files = profile_files(folder, profile.extends, (*below, name), at) if profile.extends else ()
    rule_files = (p.relative_to(folder) for p in folder.rglob("*.toml") if p.parent != path.parent)
    known = sorted(file.with_suffix("").as_posix() for file in rule_files)
    places = {*known, *(parent.as_posix() for stem in known for parent in Path(stem).parents)}
    files = tuple(dict.fromkeys((*files, *_below(profile.include, known))))
    for key, stems, among in (
        ("include", profile.include, sorted(places)),
        ("drop", profile.drop, sorted(files)),
    ):
        for stem in stems:
            if not _below([stem], among):
                raise InputError(
                    (
                        f"{path.name}:{_line_of(text, stem)}: {key}: no rule file or folder "
                        f"{stem!r}{nearest(stem, among)}"
                    ),
                    f"rule files here: {', '.join(among)}",
                )
    gone = _below(profile.drop, files)
    return tuple(file for file in files if file not in gone)


def _below(stems: Iterable[str], files: Sequence[str]) -> list[str]:
    """Of each name the file, or all that lie in the folder of that name."""
    return [
        file for stem in stems for file in files if stem in (file, Path(file).parent.as_posix())
    ]


def profile_names(folder: Path) -> list[str]:
    """Return names of the profiles of a folder of rules, sorted.

    Raises InputError when it is none.
    """
    if not (folder / "profiles").is_dir():
        raise InputError(
            f"{folder} is no folder of rules"
            + (" (it has no profiles/)" if folder.is_dir() else ": it is not there"),
            f"name one that has rule files and profiles/, as {RULES_FOLDER} has",
        )
    return sorted(p.stem for p in (folder / "profiles").glob("*.toml"))


def read_profiles(folder: Path) -> dict[str, tuple[Path, Profile]]:
    """Return every profile of a folder of rules with its file, by name.

    Raises InputError for one that cannot be read.
    """
    paths = [folder / "profiles" / f"{name}.toml" for name in profile_names(folder)]
    return {path.stem: (path, _read_profile(path)[1]) for path in paths}


def _read_profile(path: Path) -> tuple[str, Profile]:
    text, data = _read_toml(path)
    return text, _checked(Profile, data, path.name, text)


def load_rules(
    paths: Sequence[Path], profile: str = "", salt: bytes = b"", folder: Path | None = None
) -> Ruleset:
    """Read rule files, in the order in which their rules count. Raises as `load_profile`.

    Args:
        profile: name that the ruleset carries.
        salt: further bytes that belong to the digest (the profile's own file).
        folder: places name files below it; without one, files by their last name.
    """
    digest = hashlib.sha256()
    kinds: dict[str, list[Rule]] = defaultdict(list)
    places: dict[str, str] = {}
    for path in paths:
        name = path.relative_to(folder).as_posix() if folder else path.name
        digest.update(name.encode() + b"\0" + path.read_bytes())
        for field, rule, line in _rules_of(path, name):
            if rule.id in places:
                taken = f"{name}:{line}: rule id {rule.id!r} is taken by {places[rule.id]}"
                raise InputError(taken, "give each rule its own id")
            places[rule.id] = f"{name}:{line}"
            kinds[field].append(rule)
    digest.update(salt)
    told: dict[str, Any] = {field: tuple(rules) for field, rules in kinds.items()}
    rules = Ruleset(profile=profile, digest=digest.hexdigest(), places=places, **told)
    refusals = tuple(
        _of_its_domain(rule, rules) if rule.domain else rule for rule in rules.refusals
    )
    rules = rules.model_copy(update={"refusals": refusals})
    refuse_contradictions(rules)
    return rules


def _of_its_domain(refusal: Refusal, rules: Ruleset) -> Refusal:
    """Return the refusal with the texts of the domain that it names."""
    domains = {domain.id: domain for domain in rules.domains}
    if refusal.domain not in domains:
        near = f"{refusal.domain!r}{nearest(refusal.domain, list(domains))}"
        message = f"{rules.places[refusal.id]}: rule {refusal.id} names no domain: {near}"
        raise InputError(message, "name a [[domain]] rule of the profile")
    domain = domains[refusal.domain]
    return refusal.model_copy(update={"values": domain.never, "only": domain.only})


def _rules_of(path: Path, place: str) -> Iterator[tuple[str, Rule, int]]:
    """Yield each rule of a file, with its field of the ruleset and its line."""
    text, data = _read_toml(path)
    for kind, rows in data.items():
        if kind not in KINDS or not isinstance(rows, list):
            line = _line_of(text, kind)
            if kind in RENAMED:
                raise InputError(
                    f"{place}:{line}: [[{kind}]] is called [[{RENAMED[kind]}]] now",
                    f"write [[{RENAMED[kind]}]]",
                )
            raise InputError(
                f"{place}:{line}: unknown kind of rule {kind!r}{nearest(kind, list(KINDS))}",
                f"a rule starts with one of: {', '.join(f'[[{k}]]' for k in KINDS)}",
            )
        field, model = KINDS[kind]
        lines = (
            n for n, row in enumerate(text.splitlines(), 1) if row.strip().startswith(f"[[{kind}]]")
        )
        for row in rows:
            start = next(lines, 1)
            yield field, _checked(model, row, place, text, start), start


def _read_toml(path: Path) -> tuple[str, dict[str, object]]:
    try:
        text = path.read_text("utf-8")
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(
            f"{path.name}:{line.group(1) if line else 1}: {error}", "mend the TOML and run again"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}", "check the file") from error


def _checked(model: type[Model], row: object, place: str, text: str, start: int = 1) -> Model:
    """Return what a table says that begins at line `start` of a text."""
    try:
        return model.model_validate(row)
    except ValidationError as error:
        # A misspelt key first: the key that is then missing is only its consequence.
        first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
        key = str(first["loc"][0]) if first["loc"] else ""
        known = [field.alias or name for name, field in model.model_fields.items()]
        unknown = first["type"] == "extra_forbidden"
        said = f"unknown key {key!r}{nearest(key, known)}" if unknown else f"{key}: {first['msg']}"
        raise InputError(
            f"{place}:{_line_of(text, key, start)}: {said}", f"keys here: {', '.join(known)}"
        ) from error


def _line_of(text: str, word: str, start: int = 1) -> int:
    """Return the first line from `start` on that has the word; `start` where none has."""
    rows, whole = (
        enumerate(text.splitlines(), 1),
        re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])"),
    )
    return next((number for number, row in rows if number >= start and whole.search(row)), start)


def nearest(word: str, known: list[str]) -> str:
    """Return the nearest valid name in brackets; empty where none is near."""
    near = difflib.get_close_matches(word, known, 1, 0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def without(rules: Ruleset, ids: Collection[str]) -> Ruleset:
    """Return the ruleset as if the rules of these ids had not been written, with a digest of its
    own.

    Raises InputError: the profile has no rule of such an id.
    """
    if not ids:
        return rules
    for asked in sorted(ids):
        if asked not in rules.places:
            raise InputError(
                (
                    f"profile {rules.profile!r} has no rule "
                    f"{asked!r}{nearest(asked, list(rules.places))}"
                ),
                "`shrinker rules --profile NAME` lists all of them",
            )
    left = {
        field: tuple(rule for rule in getattr(rules, field) if rule.id not in ids)
        for field in MODELS
    }
    places = {name: place for name, place in rules.places.items() if name not in ids}
    scope = tuple(name for name in rules.scope if name not in ids)
    digest = hash_of(rules.digest, "without", *sorted(ids)).hex()
    return rules.model_copy(update={**left, "digest": digest, "places": places, "scope": scope})


def with_rule(rules: Ruleset, table: str, row: Mapping[str, Any]) -> Ruleset:
    """Return the ruleset as if a rule had been written, too, in a field (``facts``, ``domains`` …)
    and as a file of rules would say it; with a digest of its own. Raises InputError when the rule
    contradicts another one, and pydantic.ValidationError when it is no rule of that kind.
    """
    rule = MODELS[table].model_validate(row)
    places = {**rules.places, rule.id: "planted"}
    digest = hash_of(rules.digest, "with", table, rule.model_dump_json()).hex()
    more = rules.model_copy(
        update={table: (*getattr(rules, table), rule), "digest": digest, "places": places}
    )
    refuse_contradictions(more)
    return more
