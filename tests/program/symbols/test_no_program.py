"""Named errors: running a module that no root runs says so, and their texts keep nothing; texts of
upstream keep what they name.
"""

import subprocess
from pathlib import Path

import pytest

from shrinker.facts.lattice import Removed
from shrinker.fold.messages import is_message, message
from tests.program.symbols.support import ROOT, left
from tests.small import python, read_archive, rule, write

SERVES, TOOL, OTHER, _SERVER, _LAUNCH = read_archive(
    Path(__file__).with_name("no_program.txtar")
).values()
BLOCKS = {
    "one": 'if __name__ == "__main__":\n    main()\n',
    "several": (
        'if __name__ == "__main__":\n    # What it prints.\n    text = 1\n    main()\n'
        "    print(text)\n"
    ),
    "folded first": 'if __name__ == "__main__":\n    if is_hip():\n        main(1)\n    main()\n',
    "taken first": (
        'if __name__ == "__main__":\n    if not is_hip():\n        main()\n'
        "        main()\n    main()\n"
    ),
    "one line": 'if __name__ == "__main__": main()\n',
    "decorated": (
        'if __name__ == "__main__":\n\n    @staticmethod\n    def run():\n'
        "        main()\n\n    run()\n"
    ),
    "imports": (
        'if __name__ == "__main__":\n    import argparse\n\n    print(argparse)\n    main()\n'
    ),
    "within": (
        'if json.dumps:\n    if __name__ == "__main__":\n        main()\n    json.loads("1")\n'
    ),
}


def _left(folder: Path, files: dict[str, str], more: str = "") -> dict[str, str]:
    texts = left(folder, files, more, also=("platform/cuda.toml",))
    write(folder / "left/python/sglang", texts)
    return texts


def _run(folder: Path, module: str) -> subprocess.CompletedProcess[str]:
    return python(folder / "left/python", "-m", module)


@pytest.mark.parametrize("name", BLOCKS)
def test_no_root_runs_it(name: str, tmp_path: Path) -> None:
    block = BLOCKS[name]
    start = "from sglang.srt.utils import is_hip\n" if "is_hip" in block else ""
    texts = _left(tmp_path, {"launch_server.py": SERVES, "tool.py": start + TOOL + block + OTHER})
    tool = texts["tool.py"]
    assert "def main" not in tool and "def helper" in tool and "def other" in tool
    ran = _run(tmp_path, "sglang.tool")
    assert ran.returncode == 1 and ran.stdout == ""
    assert "shrinker: the program sglang.tool is not part of this server" in ran.stderr
    assert "name sglang.tool in a [[root]] rule" in ran.stderr
    served = _run(tmp_path, "sglang.launch_server")
    assert served.returncode == 0 and served.stdout == "1 2\nserves\n", served.stderr


def test_what_a_root_runs_stays(tmp_path: Path) -> None:
    root = rule("root", "root-tool", modules=["sglang.tool"])
    files = {"launch_server.py": SERVES, "tool.py": TOOL + BLOCKS["one"] + OTHER}
    texts = _left(tmp_path, files, root)
    assert texts["tool.py"] == files["tool.py"]
    assert _run(tmp_path, "sglang.tool").stdout == "{}\n"


def test_what_does_nothing_on_this_platform_does_nothing(tmp_path: Path) -> None:
    block = 'if __name__ == "__main__":\n    if is_hip():\n        main()\n'
    files = {
        "launch_server.py": SERVES,
        "tool.py": "from sglang.srt.utils import is_hip\n" + TOOL + block + OTHER,
    }
    assert "raise" not in _left(tmp_path, files)["tool.py"]
    assert _run(tmp_path, "sglang.tool").returncode == 0


def test_another_arm_is_no_program(tmp_path: Path) -> None:
    """What runs where the module is imported, too, is nothing that only a program does."""
    block = 'if __name__ == "__main__":\n    main()\nelse:\n    print("imported")\n'
    texts = _left(tmp_path, {"launch_server.py": SERVES, "tool.py": TOOL + block + OTHER})
    assert block in texts["tool.py"]


def test_a_module_that_is_gone_is_a_removed_one(tmp_path: Path) -> None:
    texts = _left(
        tmp_path, {"launch_server.py": "print('serves')\n", "tool.py": TOOL + BLOCKS["one"] + OTHER}
    )
    assert "tool.py" not in texts


def test_its_text_looks_nothing_up(tmp_path: Path) -> None:
    """`program` and `server` are words of the named error: no method stays for them."""
    box = (
        "\n\nclass Box:\n    def program(self):\n        return 1\n\n    def server(self):\n      "
        "  return 2\n"
    )
    files = {
        "launch_server.py": SERVES + "\nfrom sglang.tool import Box\n\nBox()\n",
        "tool.py": TOOL + BLOCKS["one"] + OTHER + box,
        "nobody.py": "x.program()\nx.server()\n",
    }
    texts = _left(tmp_path, files)
    assert "def program" not in texts["tool.py"] and "def server" not in texts["tool.py"]


_RULES = ROOT + rule(
    "remove", "remove-adapters", feature="adapters", definitions=["sglang.server.**.attach"]
)


def _of_server(folder: Path, text: str) -> str:
    files = {
        "launch_server.py": _LAUNCH.format(text=text),
        "server.py": _SERVER,
        "nobody.py": "x.attach()\nx.detach()\n",
    }
    return left(folder, files | {"srt/utils.py": ""}, root=_RULES)["server.py"]


def test_a_method_that_only_a_named_error_names_goes(tmp_path: Path) -> None:
    found = _of_server(tmp_path, "")
    assert "shrinker: sglang.server.Server.attach is not part of this server" in found
    assert "class Runner" in found
    assert "shrinker: sglang.server.Runner.attach" not in found
    assert "detach" not in found


def test_a_text_of_upstream_keeps_what_it_names(tmp_path: Path) -> None:
    found = _of_server(tmp_path, ', "sglang.server.Runner.attach", "detach"')
    assert "shrinker: sglang.server.Runner.attach" in found
    assert "def detach" in found


@pytest.mark.parametrize("feature", ["LoRA", "attention beside (X), removed by hand", "MoE)"])
def test_a_message_is_known_again(feature: str) -> None:
    text = message(Removed("remove-it", feature, "sglang.server.Server.attach"))
    assert is_message(text)
    assert not is_message(text + " ")
    assert not is_message(text.removeprefix("shrinker: "))
    assert not is_message(text.replace("take rule remove-it", "take rule other"))
