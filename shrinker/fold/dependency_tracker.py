"""What folding a module asked of the closed world, so that its result can be used again where the
answers are the same.

A module's result depends on its own text and on the answers it got, those of the rules among them.
`RecordingEnvironment` stands in the place of the `Environment` while a module is folded and notes
each question with its answer. Subtle: it is no `Environment` and inherits nothing. Every method of
that is recorded, and an attribute that is not declared below cannot be read through it, so that no
answer goes unnoticed when the environment learns to answer more.
"""

import types
from collections.abc import Callable, Iterable, Set
from dataclasses import fields, is_dataclass
from functools import lru_cache
from inspect import isfunction
from typing import Any

from shrinker.cache import Question, Recorded, digest_of
from shrinker.facts.environment import Environment
from shrinker.facts.lattice import Ref
from shrinker.facts.outline import Outline
from shrinker.ruleset.models import Rule

COMPOSED = frozenset({"is_hot", "named_by_string"})
"""Methods that only ask others: they run on the recorder, which notes what they ask."""

ASKED = (
    frozenset(n for n in dir(Environment) if n[0] != "_" and isfunction(getattr(Environment, n)))
    - COMPOSED
)
"""All other methods: their arguments and answer are noted."""

AMONG = frozenset({"domain_words", "words"})
"""Sets of words of which those that stand in the module's text are noted; while the set is the
same, the text need not be read for that.
"""

UNASKED = frozenset({"outlines", "rescued", "rules"})
"""What folding has methods for that ask for less of it."""

TABLES = frozenset({"imported", "modules", "packages", "read", "shown", "starred", "stored"})
"""Collections that may only be asked for one item at a time; the answer is noted."""


class Answers:
    """The answers of one environment as texts, each found once."""

    def __init__(
        self,
        environment: Environment,
        sha256_of: Callable[[str], str | None],
        words_of: Callable[[str], Set[str]] = lambda module: frozenset(),
    ) -> None:
        """`sha256_of` and `words_of` tell of a module, by dotted name, the hash of its file and
        every word of its text.
        """
        self.environment = environment
        self._sha256_of = sha256_of
        # Those of the last module are at hand: questions about them follow each other.
        self.words_of = lru_cache(maxsize=1)(words_of)
        self._known: dict[Question, str] = {}
        self.whole = {
            name: digest_of([canonical(getattr(environment, name))]).hex() for name in AMONG
        }
        """What stands for all words of a set."""

    def text(self, question: Question) -> str:
        """Return a question and its answer, equal for equal ones in every process."""
        if question not in self._known:
            self._known[question] = f"{canonical(question)} {self._ask(question)}"
        return self._known[question]

    def note(self, question: Question, answer: object) -> None:
        """An answer that is known already."""
        if question not in self._known:
            self._known[question] = f"{canonical(question)} {canonical(answer)}"

    def digest(self, questions: Iterable[Question]) -> bytes:
        """Return one hash over all questions, in their order, and their answers."""
        return digest_of(map(self.text, questions))

    def _ask(self, question: Question) -> str:
        name, *arguments = question
        value = getattr(self.environment, name)
        if name == "outline_of":
            # An outline is a function of the module's text.
            return "none" if value(*arguments) is None else str(self._sha256_of(*arguments))
        if name in ASKED:
            return canonical(value(*arguments))
        if name in AMONG:
            module, whole, among = arguments
            return among if whole == self.whole[name] else canonical(value & self.words_of(module))
        return canonical(arguments[0] in value)


class RecordingEnvironment:
    """Stands in the place of the environment while one module is folded."""

    def __init__(self, answers: Answers, module: str) -> None:
        """`answers` are shared by the modules that are folded in one process."""
        self._answers = answers
        self._module = module
        self._asked: dict[Question, object] = {}
        """Questions in their order, with the answers."""

    def recorded(self, packed: bytes) -> Recorded:
        """Return a result with what was asked for it, in order, each question once."""
        questions = tuple(self._asked)
        return Recorded(questions, self._answers.digest(questions), packed)

    def outline_of(self, module: str) -> Outline | None:
        """Return the outline of a module, which depends on the whole of it; that of the module
        itself is part of its text.
        """
        if module != self._module:
            self._asked["outline_of", module] = None
        return self._answers.environment.outline_of(module)

    def __getattr__(self, name: str) -> Any:
        # Called once a name: what is found is kept on the instance.
        environment = self._answers.environment
        value: Any
        if name in COMPOSED:
            value = types.MethodType(getattr(Environment, name), self)
        elif name in ASKED:
            value = self._recorded(name, getattr(environment, name))
        elif name in TABLES:
            value = _Members(self._recorded(name, getattr(environment, name).__contains__))
        elif name in AMONG:
            value = getattr(environment, name) & self._answers.words_of(self._module)
            self._recorded(name, lambda *_: value)(
                self._module, self._answers.whole[name], canonical(value)
            )
        else:
            raise AttributeError(
                f"fold/dependency_tracker.py does not say how Environment.{name} is recorded"
            )
        self.__dict__[name] = value
        return value

    def _recorded(self, name: str, method: Callable[..., object]) -> Callable[..., object]:
        asked, note = self._asked, self._answers.note

        def ask(*arguments: object) -> object:
            question = (name, *arguments)
            if question not in asked:
                asked[question] = method(*arguments)
                note(question, asked[question])
            return asked[question]

        return ask


class _Members:
    """A collection of which only membership may be asked."""

    def __init__(self, ask: Callable[..., object]) -> None:
        self._ask = ask

    def __contains__(self, item: object) -> bool:
        return self._ask(item) is True


def canonical(value: object) -> str:
    """Return a text that two values share exactly when they are of one type and equal, whatever the
    hash order. Raises TypeError: a kind of value that is not known here.
    """
    if isinstance(value, Ref):
        # The answer to most questions.
        return f"Ref({value.name!r})"
    if (
        value is None
        or value is ...
        or isinstance(value, bool | int | float | complex | str | bytes)
    ):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, frozenset | set):
        return "{" + ",".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(sorted(f"{canonical(key)}:{canonical(item)}" for key, item in value.items()))
            + "}"
        )
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if is_dataclass(value) and not isinstance(value, type):
        inner = ",".join(
            f"{field.name}={canonical(getattr(value, field.name))}" for field in fields(value)
        )
        return f"{type(value).__name__}({inner})"
    if isinstance(value, Rule):
        return f"{type(value).__name__}({value.model_dump_json()})"
    raise TypeError(f"no canonical text for {type(value).__name__}")
