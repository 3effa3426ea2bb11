"""Checkpoints of the levels: what is written, with narrow numbers on the CPU."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from equivalence.checkpoints.weights import configuration, small, stored_bytes, weights
from equivalence.checkpoints.writer import known_tokens
from equivalence.gpu.checkpoint import CHECKPOINTS, WIDE
from shrinker.project import project_folder
from tests.simulations import simulation_python

VOCABULARY = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}
TOKENIZER = {
    "model": {"vocab": VOCABULARY, "merges": ["a b", ["ab", "c"]]},
    "added_tokens": [{"id": 5}],
}


def test_a_tokenizer_knows_what_the_model_does() -> None:
    whole = json.dumps(TOKENIZER).encode()
    assert known_tokens(whole, 6) == whole
    found = json.loads(known_tokens(whole, 4))
    assert found["model"] == {
        "vocab": {name: VOCABULARY[name] for name in ("a", "b", "c", "ab")},
        "merges": ["a b"],
    }
    assert found["added_tokens"] == []


def test_wide_ones_have_all_widths_as_published() -> None:
    layers = {"num_hidden_layers", "first_k_dense_replace", "num_nextn_predict_layers"}
    published = {"r1-wide": "v3-fp8", "v32-wide": "v32-fp8", "v2-wide": "v2"}
    for name, family in published.items():
        config, whole = CHECKPOINTS[name], configuration(family)
        other = {key for key in whole if config[key] != whole[key]}
        # V2 is served with the tokenizer of R1.
        assert other - layers <= ({"vocab_size", "rope_scaling"} if name == "v2-wide" else set())
    shapes = {weight.name: weight.shape for weight in weights(CHECKPOINTS["r1-wide"])}
    assert shapes["model.layers.1.mlp.experts.255.gate_proj.weight"] == (2048, 7168)
    assert shapes["model.layers.0.mlp.gate_proj.weight"] == (18432, 7168)
    assert "model.layers.3.eh_proj.weight" in shapes, "the next-token layer"
    assert all(stored_bytes(CHECKPOINTS[name]) < 45e9 for name in WIDE), "a memory file system"


def test_a_rank_of_eight_has_an_eighth_of_what_is_cut() -> None:
    rank, whole = CHECKPOINTS["r1-rank8"], CHECKPOINTS["r1-wide"]
    other = {key for key in whole if rank[key] != whole[key]}
    assert all(8 * rank[key] == whole[key] for key in other) and len(other) == 4


_WRITE = """
import json, sys
from pathlib import Path
from safetensors.torch import load_file
from equivalence.checkpoints.writer import write_wide_checkpoint
config, folder = json.loads(sys.argv[1]), Path(sys.argv[2])
tokenizer = folder / "tokenizer"
counts = [write_wide_checkpoint(config, folder / n, tokenizer, shard_bytes=200_000) for n in "ab"]
index = json.loads((folder / "a/model.safetensors.index.json").read_text())["weight_map"]
tensors = {}
for name in sorted(set(index.values())):
    part = load_file(folder / "a" / name)
    assert all(index[key] == name for key in part)
    assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes()
    tensors |= part
assert tensors.keys() == index.keys()
found = {n: [str(t.dtype), list(t.shape), float(t.float().std())] for n, t in tensors.items()}
print(json.dumps({"tensors": found, "shards": len(set(index.values())), "counts": counts}))
"""


def test_a_wide_checkpoint_is_written_shard_by_shard(tmp_path: Path) -> None:
    python = simulation_python()
    config = small("v3-fp8", mtp=1, hidden=256, vocab_size=512)
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "tokenizer/tokenizer.json").write_text(json.dumps(TOKENIZER))
    (tmp_path / "tokenizer/tokenizer_config.json").write_text("{}")
    words = [str(python), "-c", _WRITE, json.dumps(config), str(tmp_path)]
    variables = {**os.environ, "PYTHONPATH": str(project_folder())}
    done = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    tensors: dict[str, Any] = found["tensors"]
    for weight in weights(config):
        kind, shape, spread = tensors[weight.name]
        assert shape == list(weight.shape)
        if weight.role == "linear":
            assert kind == "torch.float8_e4m3fn"
            blocks = [-(-size // 128) for size in shape]
            assert tensors[f"{weight.name}_scale_inv"][:2] == ["torch.float32", blocks]
        elif weight.role == "head":
            assert 7 < spread * shape[1] ** 0.5 < 9, "the best token leads by far"
    assert tensors["lm_head.weight"] == tensors["model.layers.2.shared_head.head.weight"]
    assert found["shards"] > 5 and found["counts"][0] == found["counts"][1]
    assert (tmp_path / "a/config.json").is_file() and (tmp_path / "a/tokenizer.json").is_file()
