"""`match` statements."""

from __future__ import annotations

from tests.fold.layout import Compound
from tests.fold.making import Maker

_MATCHES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("device", ('case "npu"', 'case "npu" | "xpu"', 'case "cuda" | "npu"', 'case "cpu"')),
    ("backend", ("case Backend.GONE", "case Backend.TRITON", "case Backend.CUTLASS | Backend.GONE")),
    ("method", ("case Method.MLA_NPU", "case Method.MLA")),
    ("(a, device)", ('case (0, "npu")', 'case (0, "cuda")', "case (_, name)")),
    ("a", ("case 0 | 1", "case None", "case str() as name", "case _ if _is_hip", "case name if not name")),
    ('{"at": device}', ('case {"at": "npu"}', 'case {"at": "cpu", **other}', 'case {"at": name}', "case {}")),
    ("[device, a]", ('case ["npu", *_]', 'case ["npu" | "xpu", 1]', "case [name, 0 | None]", "case [*others]")),
    ("thing", ('case Thing(kind="npu")', "case Thing(is_npu=True)", 'case object(kind="cpu")')),
    ("(backend, a)", ("case (Backend.GONE, _)", "case (Backend.CUTLASS | Backend.GONE, 1)", "case (_, 0)")),
)


def match(maker: Maker) -> Compound:
    """A `match` over texts, members, sequences, mappings and classes, with guards."""
    random = maker.random
    body, other = maker.block(), maker.block(2)
    subject, cases = random.choice(_MATCHES)
    guard = f" if {maker.condition()}" if random.random() < 0.3 else ""
    chosen = random.sample(cases, random.randint(1, len(cases)))
    where = random.randint(0, len(chosen) - 1)
    clauses = [
        (case + (guard if n == where and " if " not in case else ""), body if n % 2 else other)
        for n, case in enumerate(chosen)
    ]
    clauses += [("case _", body)] * random.randint(0, 1)
    return Compound(((f"match {subject}", tuple(Compound((clause,)) for clause in clauses)),))
