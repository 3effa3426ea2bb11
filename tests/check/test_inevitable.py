"""A named error is right where something was asked for, and a fault on the straight way through a program. What is no fault comes first."""

import pytest

from tests.check.trees import Build, Files

ERROR = 'raise RuntimeError("shrinker: probing is not part of this server")'
MAIN = 'if __name__ == "__main__":\n    main()\n'

ASKED: dict[str, Files] = {
    "under a test": {"a.py": f"def main(x=None):\n    if x:\n        {ERROR}\n    print(x)\n\n{MAIN}"},
    "in a function that only a test calls": {
        "a.py": f"def probe():\n    {ERROR}\n\n\ndef main(x=None):\n    print(x)\n    x and probe()\n    probe() if x else 0\n\n{MAIN}"
    },
    "where it is caught": {
        "a.py": f"def probe():\n    {ERROR}\n\n\ndef main():\n    try:\n        probe()\n    except RuntimeError:\n        pass\n\n{MAIN}"
    },
    "behind the end": {"a.py": f"def probe():\n    {ERROR}\n\n\ndef main():\n    return 1\n    probe()\n\n{MAIN}"},
    "in a function that is handed on": {
        "a.py": f"def probe():\n    {ERROR}\n\n\ndef main():\n    print(lambda: probe(), probe)\n\n{MAIN}"
    },
    "in one of two definitions": {
        "a.py": f"import os\n\nif os.name:\n    def probe():\n        {ERROR}\nelse:\n    def probe():\n        pass\n\n\ndef main():\n    probe()\n\n{MAIN}"
    },
    "in a method that a class below has otherwise": {
        "a.py": f"class A:\n    def go(self):\n        self.probe()\n\n    def probe(self):\n        {ERROR}\n\n\n"
        f"class B(A):\n    def probe(self):\n        pass\n\n\ndef main():\n    A.go(B())\n\n{MAIN}"
    },
    "in a function of the same name elsewhere": {
        "a.py": f"from sglang.b import probe\n\n\ndef main():\n    probe()\n\n{MAIN}",
        "b.py": "def probe():\n    pass\n",
        "c.py": f"def probe():\n    {ERROR}\n",
    },
    "in a function that is filed by a key": {
        "a.py": f"from sglang.b import file\n\n\n@file('probe')\ndef probe():\n    {ERROR}\n",
        "b.py": "def file(key):\n    return lambda function: function\n",
    },
    "in a program that no root runs": {"a.py": f'def main():\n    pass\n\n\nif __name__ == "__main__":\n    {ERROR}\n'},
}
FAULTS: dict[str, tuple[Files, str]] = {
    "the module": ({"a.py": f"x = 1\n{ERROR}\n"}, "the module"),
    "a program": ({"a.py": f"def main(x=1):\n    if x:\n        return\n    {ERROR}\n\n{MAIN}"}, "the program"),
    "a program through another module's function": (
        {
            "a.py": f"from sglang.p import probe\n\n\ndef main():\n    with open('a'):\n        print(probe())\n\n{MAIN}",
            "p/__init__.py": "from sglang.p.b import probe\n",
            "p/b.py": f"def probe():\n    {ERROR}\n",
        },
        "the program",
    ),
    "a program through what an object is made by": (
        {
            "a.py": f"from sglang.b import Options\n\n\ndef main():\n    Options.of([])\n\n{MAIN}",
            "b.py": "class Options:\n    @classmethod\n    def of(cls, given):\n        return cls(given)\n\n"
            f"    def __post_init__(self):\n        self._check()\n\n    def _check(self):\n        {ERROR}\n",
        },
        "the program",
    ),
    "what all that was filed runs": (
        {
            "a.py": f"from sglang.b import file\n\n\n@file\ndef probe():\n    {ERROR}\n",
            "b.py": "def file(function):\n    return function\n",
        },
        "probe, filed by `file`,",
    ),
}


def found(case: Build, files: Files) -> list[str]:
    made = case(files, files)
    return [finding.message for finding in made.evidence("references").open if finding.check == "ways through"]


@pytest.mark.parametrize("name", ASKED)
def test_where_something_was_asked_for_it_is_right(name: str, case: Build) -> None:
    assert found(case, ASKED[name]) == []


@pytest.mark.parametrize("name", FAULTS)
def test_on_the_straight_way_it_is_a_fault(name: str, case: Build) -> None:
    files, what = FAULTS[name]
    assert [message.partition(" comes to")[0] for message in found(case, files)] == [what]
