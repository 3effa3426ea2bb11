"""An upstream of a few files in SGLang's layout, of which two families of models are part."""

FILES = {
    "LICENSE": "Apache License\n",
    "python/sglang/__init__.py": "from sglang.srt.server_args import ServerArgs\n",
    "python/sglang/launch_server.py": """import sys

from sglang.srt.model_loader.utils import get_model_architecture
from sglang.srt.server_args import ServerArgs, make_config


def run(args):
    model = get_model_architecture(make_config(args.model))
    return model(args.attention_backend).forward()


if __name__ == "__main__":
    print(run(ServerArgs(*sys.argv[1:])))
""",
    "python/sglang/srt/__init__.py": "",
    "python/sglang/srt/utils.py": """def is_npu():
    import torch

    return hasattr(torch, "npu")
""",
    "python/sglang/srt/server_args.py": """from dataclasses import dataclass

from sglang.srt.configs.table import CONFIGS
from sglang.srt.utils import is_npu

ATTENTION_BACKENDS = ["triton", "mla"]


@dataclass
class ServerArgs:
    model: str = "llama"
    attention_backend: str = ""

    def __post_init__(self):
        if not self.attention_backend:
            self.attention_backend = "ascend" if is_npu() else "triton"
        if self.attention_backend == "mla":
            from sglang.srt.layers.attention.mla_backend import check

            check(self)


def make_config(model):
    return CONFIGS[model]()
""",
    "python/sglang/srt/configs/__init__.py": "",
    "python/sglang/srt/configs/table.py": """from sglang.srt.configs.deepseek_v2 import DeepseekV2Config
from sglang.srt.configs.llama import LlamaConfig

CONFIGS = {
    "deepseek_v2": DeepseekV2Config,
    "llama": LlamaConfig,
}
""",
    "python/sglang/srt/configs/llama.py": """class LlamaConfig:
    architectures = ["LlamaForCausalLM"]
""",
    "python/sglang/srt/configs/deepseek_v2.py": """class DeepseekV2Config:
    architectures = ["DeepseekV2ForCausalLM"]
""",
    "python/sglang/srt/model_loader/__init__.py": "",
    "python/sglang/srt/model_loader/utils.py": """from sglang.srt.models.registry import find


def get_model_architecture(model_config):
    return find(model_config.architectures)
""",
    "python/sglang/srt/models/__init__.py": "",
    "python/sglang/srt/models/registry.py": """import importlib
import pkgutil


def load_all():
    found = {}
    package = importlib.import_module("sglang.srt.models")
    for _, name, _ in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = importlib.import_module(name)
        entry = getattr(module, "EntryClass", None)
        if entry is not None:
            found[entry.__name__] = entry
    return found


def find(architectures):
    models = load_all()
    return next(models[name] for name in architectures if name in models)
""",
    "python/sglang/srt/models/llama.py": """from sglang.srt.layers.attention import make_backend


class LlamaForCausalLM:
    def __init__(self, backend):
        self.backend = make_backend(backend)

    def forward(self):
        return "llama with " + self.backend


EntryClass = LlamaForCausalLM
""",
    "python/sglang/srt/models/deepseek_v2.py": """from sglang.srt.layers.attention import make_backend
from sglang.srt.layers.latent import compress


class DeepseekV2ForCausalLM:
    def __init__(self, backend):
        self.backend = compress(make_backend(backend))

    def forward(self):
        return "deepseek with " + self.backend


EntryClass = DeepseekV2ForCausalLM
""",
    "python/sglang/srt/layers/__init__.py": "",
    "python/sglang/srt/layers/latent.py": "def compress(backend):\n    return backend\n",
    "python/sglang/srt/layers/attention/__init__.py": """BACKENDS = {}


def register_attention_backend(name):
    def file(make):
        BACKENDS[name] = make
        return make

    return file


@register_attention_backend("triton")
def make_triton():
    return "triton"


@register_attention_backend("mla")
def make_mla():
    from sglang.srt.layers.attention.mla_backend import MlaBackend

    return MlaBackend.name


@register_attention_backend("ascend")
def make_ascend():
    from sglang.srt.layers.attention.ascend_backend import AscendBackend

    return AscendBackend.name


def make_backend(name):
    return BACKENDS[name]()
""",
    "python/sglang/srt/layers/attention/mla_backend.py": """class MlaBackend:
    name = "mla"


def check(args):
    assert args.model.startswith("deepseek")
""",
    "python/sglang/srt/layers/attention/ascend_backend.py": 'class AscendBackend:\n    name = "ascend"\n',
}
