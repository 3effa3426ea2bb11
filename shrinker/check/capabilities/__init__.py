"""Level *capabilities*: what the profile keeps stands, judged by words and without the rules that took the rest away.

Every other level believes the rules: a wrong one decides the same wrong thing for the tree and for them. This one reads `[[capability]]` and `[[dropped]]`
rows alone, which say in upstream's own words what is kept and what is not. Each changed file is laid beside upstream's, function by function
(`alignment`); what is gone from within a function must stand under a test that a word of something dropped explains (`losses`, `vocabulary`).

Checks:
    losses: suites, operands, arms, statements that do something, entries of tables and named errors: each is explained by a word of `[[dropped]]`.
    modules, definitions: those that carry a capability stand wherever upstream has them.
    refused: what the tree refuses by name is explained by such a word, too.
    names: flags, variables, endpoints and values that ask for a capability are written in kept files if upstream writes them there.

Limits: a definition that nothing names any more is no loss by itself, since whoever named it stood in one. A word is taken for what it says: a rule that
is wrong about something with a word of the dropped ones in its name goes unnoticed here.
"""

from shrinker.check.capabilities.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
