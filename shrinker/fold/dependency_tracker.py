"""What folding a module asked of the closed world, so that its result can be used again where the answers are the same.

A module's result depends on its own text, on the rules, and on the answers it got. `RecordingEnvironment` stands
in the place of the `Environment` while a module is folded and notes each question with its answer.
Subtle: it is no `Environment` and inherits nothing. An attribute that is not declared below cannot be read through it,
so that no answer goes unnoticed when the environment learns to answer more.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any, cast

from shrinker.facts.environment import Environment
from shrinker.facts.lattice import Ref
from shrinker.facts.world import RuleFacts

RULES_ONLY = frozenset({"absent", "domain_words", "rules", "variables"}) | {
    name for name in vars(RuleFacts) if not name.startswith("_")
}
"""The rules alone answer: they are part of every key, so the answer is not noted."""

ASKED = frozenset({"constant_function", "hot_names", "interpret", "removed_member", "removed_module"} | {"resolve"})
"""Methods whose arguments and answer are noted."""

LISTED = frozenset({"words"})
"""Values that are noted whole."""

COMPOSED = frozenset({"bound", "is_hot", "named_by_string"})
"""Methods that only ask others: they run on the recorder, which notes what they ask."""

TABLES = frozenset({"imported", "modules", "outlines", "packages", "read", "rescued", "shown", "starred", "stored"})
"""Collections that may only be asked for one item at a time; the answer is noted."""

Question = tuple[Any, ...]
"""Name of the attribute, then its arguments."""


class Answers:
    """The answers of one environment as texts, each found once."""

    def __init__(self, environment: Environment, sha256_of: Callable[[str], str | None]) -> None:
        """
        Args:
            environment: the closed world.
            sha256_of: hash of a module's file by dotted name.
        """
        self.environment = environment
        self._sha256_of = sha256_of
        self._known: dict[Question, str] = {}

    def text(self, question: Question) -> str:
        """The answer to a question, equal for equal answers in every process."""
        found = self._known.get(question)
        if found is None:
            found = self._known[question] = self._ask(question)
        return found

    def note(self, question: Question, answer: object) -> None:
        """An answer that is known already."""
        if question not in self._known:
            self._known[question] = canonical(answer)

    def outline(self, module: str) -> str:
        """An outline is a function of the module's text."""
        return str(self._sha256_of(module)) if module in self.environment.outlines else "none"

    def digest(self, questions: Iterable[Question]) -> bytes:
        """One hash over the answers to all questions, in their order."""
        return hashlib.sha256("\0".join(map(self.text, questions)).encode("utf-8", "surrogatepass")).digest()

    def _ask(self, question: Question) -> str:
        name, *arguments = question
        if name == "outlines":
            return self.outline(arguments[0])
        value = getattr(self.environment, name)
        if name in ASKED:
            return canonical(value(*arguments))
        return canonical(value if name in LISTED else arguments[0] in value)


class RecordingEnvironment:
    """Stands in the place of the environment while one module is folded."""

    def __init__(self, answers: Answers, module: str) -> None:
        """
        Args:
            answers: where the answers are found, shared by the modules that are folded in one process.
            module: the module that is folded; its own outline is part of its text.
        """
        self._answers = answers
        self._module = module
        self._asked: dict[Question, None] = {}

    def as_environment(self) -> Environment:
        """Itself, for code that asks an environment."""
        return cast(Environment, self)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What was asked, in order, each question once."""
        return tuple(self._asked)

    def __getattr__(self, name: str) -> Any:
        # Called once a name: what is found is kept on the instance.
        environment = self._answers.environment
        value: Any
        if name in COMPOSED:
            value = types.MethodType(getattr(Environment, name), self)
        elif name in RULES_ONLY:
            value = getattr(environment, name)
        elif name in ASKED:
            value = self._recorded(name, getattr(environment, name))
        elif name == "outlines":
            value = _Outlines(self)
        elif name in TABLES:
            value = _Members(self, name)
        elif name in LISTED:
            value = getattr(environment, name)
            self._note((name,), value)
        else:
            raise AttributeError(f"fold/dependency_tracker.py does not say how Environment.{name} is recorded")
        self.__dict__[name] = value
        return value

    def _recorded(self, name: str, method: Callable[..., object]) -> Callable[..., object]:
        asked, note = self._asked, self._answers.note

        def ask(*arguments: object) -> object:
            question = (name, *arguments)
            answer = method(*arguments)
            if question not in asked:
                asked[question] = None
                note(question, answer)
            return answer

        return ask

    def _note(self, question: Question, answer: object) -> None:
        if question not in self._asked:
            self._asked[question] = None
            self._answers.note(question, answer)


class _Members:
    """A collection of which only membership may be asked."""

    def __init__(self, recorder: RecordingEnvironment, name: str) -> None:
        self._recorder = recorder
        self._name = name
        self._table = getattr(recorder._answers.environment, name)

    def __contains__(self, item: object) -> bool:
        answer = item in self._table
        self._recorder._note((self._name, item), answer)
        return answer


class _Outlines:
    """The outlines: whether there is one is an answer, and one that is handed out depends on its whole module."""

    def __init__(self, recorder: RecordingEnvironment) -> None:
        self._recorder = recorder
        self._table = recorder._answers.environment.outlines

    def __contains__(self, module: str) -> bool:
        self._asked(module)
        return module in self._table

    def __getitem__(self, module: str) -> object:
        self._asked(module)
        return self._table[module]

    def get(self, module: str) -> object:
        """The outline, None for a module without one."""
        self._asked(module)
        return self._table.get(module)

    def _asked(self, module: str) -> None:
        if module != self._recorder._module:
            question = ("outlines", module)
            self._recorder._asked[question] = None


def canonical(value: object) -> str:
    """A text that two values share exactly when they are of one type and equal, whatever the hash order.

    Raises:
        TypeError: a kind of value that is not known here.
    """
    if isinstance(value, Ref):
        return f"Ref({value.name!r})"
    if value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, frozenset | set):
        return "{" + ",".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{canonical(key)}:{canonical(item)}" for key, item in value.items())) + "}"
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if is_dataclass(value) and not isinstance(value, type):
        inner = ",".join(f"{field.name}={canonical(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({inner})"
    raise TypeError(f"no canonical text for {type(value).__name__}")
