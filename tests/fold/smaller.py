"""Make a program that shows a defect smaller, as long as it shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fold.generate import Parts
from tests.fold.layout import Block, Compound, Style


def smaller(parts: Parts, fails: Callable[[Parts], bool]) -> Parts:
    """The smallest program found by deleting statements, clauses and styles, one after the other."""
    found = True
    while found:
        found = False
        for candidate in _candidates(parts):
            if fails(candidate):
                parts, found = candidate, True
                break
    return parts


def _candidates(parts: Parts) -> Iterator[Parts]:
    if parts.rebinding:
        yield replace(parts, rebinding=False)
    if parts.style != Style():
        yield replace(parts, style=Style())
    for index in range(len(parts.bodies)):
        if len(parts.bodies) > 1:
            yield replace(parts, bodies=(parts.bodies[index],))
    for index in range(len(parts.bodies)):
        if len(parts.bodies) > 1:
            yield replace(parts, bodies=parts.bodies[:index] + parts.bodies[index + 1 :])
    for block in _blocks(parts.module):
        yield replace(parts, module=block)
    for index, body in enumerate(parts.bodies):
        for block in _blocks(body):
            yield replace(parts, bodies=(*parts.bodies[:index], block, *parts.bodies[index + 1 :]))


def _blocks(block: Block, *, may_be_empty: bool = True) -> Iterator[Block]:
    """The block with one statement less, or with one statement made smaller."""
    if len(block) > 1 or (block and may_be_empty):
        for index in range(len(block)):
            yield block[:index] + block[index + 1 :]
    for index, item in enumerate(block):
        if isinstance(item, Compound):
            for new in _compounds(item):
                yield block[:index] + new + block[index + 1 :]


def _compounds(node: Compound) -> Iterator[Block]:
    header = node.clauses[0][0]
    if header.startswith(("if", "with", "for", "while", "try")):
        for _, body in node.clauses:
            yield body
    if node.decorators:
        yield (replace(node, decorators=()),)
    for index in range(1, len(node.clauses)):
        if len(node.clauses) > 2 or not header.startswith("try"):
            yield (replace(node, clauses=node.clauses[:index] + node.clauses[index + 1 :]),)
    for index, (head, body) in enumerate(node.clauses):
        for new in _blocks(body, may_be_empty=False):
            clauses = (*node.clauses[:index], (head, new), *node.clauses[index + 1 :])
            yield (replace(node, clauses=clauses),)
