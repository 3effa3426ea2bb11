"""The modules around the code that `generate` makes: flags, re-exports, a registry, enumerations, removed modules."""

from pathlib import Path
from random import Random

from tests.fold.layout import Block, Compound
from tests.small import read_archive

AROUND = read_archive(Path(__file__).with_suffix(".txtar"))
"""By path; what is generated follows the text of `main` and of `flags`."""
FLAG_VALUES = ("is_hip()", "is_npu()", "_is_hip", "not is_cuda()", "_is_hip or is_npu()", "_is_cuda and not _is_hip")


def flag_module(random: Random) -> Block:
    """Statements after those of `flags` in `AROUND`."""

    def flag() -> str:
        return random.choice(FLAG_VALUES)

    one, two = Compound((("def chosen(x)", ("return (1, x)",)),)), Compound((("def chosen(x)", ("return (2, x)",)),))
    return (
        f"derived = {flag()}",
        f"starred = derived and {flag()}",
        f"open_derived = _open and {flag()}",
        Compound(((f"if {flag()}", (one, "made = 1")), (f"elif {flag()}", (two,)), ("else", (one, "made = 3")))),
        Compound(
            (
                ("try", ("import aiter", "has_aiter = True")),
                ("except ImportError", (random.choice(("probe(7)", "pass")), "has_aiter = False")),
            )
        ),
        Compound((("def uses_fnuz()", (Compound(((f"if {flag()}", ("return True",)),)), "return False")),)),
        Compound((("def mxfp_supported()", (f"return {flag()}",)),)),
    )
