"""CMake's language: what is no argument comes first."""

from __future__ import annotations

from shrinker.syntax.cmake import read_cmake

LIST = """\
# set(NOT "a.cu")
#[[ set(NOT
   "b.cu") ]]
set(SOURCES
    "csrc/a.cu"  # the first
    # "csrc/c.cu"
    csrc/b.cu "csrc/d e.cu"
    ${folder}/x.cu
)
if (A AND (B OR C))
  ADD_LIBRARY(t ${SOURCES})
endif()
message([==[ not ( "read" ]==])
"""


def test_commands_and_their_arguments() -> None:
    found = read_cmake(LIST)
    assert [(c.name, c.line, c.last) for c in found] == [
        ("set", 4, 9),
        ("if", 10, 10),
        ("add_library", 11, 11),
        ("endif", 12, 12),
        ("message", 13, 13),
    ]
    sources = found[0].arguments
    assert [a.text for a in sources] == ["SOURCES", "csrc/a.cu", "csrc/b.cu", "csrc/d e.cu", "${folder}/x.cu"]
    assert [a.text for a in sources if a.alone] == ["csrc/a.cu", "${folder}/x.cu"]
    assert [a.text for a in found[1].arguments] == ["A", "AND", "B", "OR", "C"]
    assert found[4].arguments[0].text == ' not ( "read" '


def test_what_cannot_be_read_ends_the_list() -> None:
    assert [c.name for c in read_cmake("a(1)\nb(\n")] == ["a"]
    assert read_cmake("") == ()
