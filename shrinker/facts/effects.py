"""What is known to be free of side effects. Anything that is not listed here is evaluated or kept."""

from __future__ import annotations

ENVIRONMENT_READERS = frozenset(
    {
        "os.getenv",
        "os.environ.get",
        "get_bool_env_var",
        "get_int_env_var",
        "get_str_env_var",
    }
)
"""Functions whose first argument is the name of an environment variable; a dotted name is exact, a
bare one matches the function wherever the tree defines it."""

PURE_CALLS = frozenset(
    {
        "builtins.bool",
        "builtins.callable",
        "builtins.getattr",
        "builtins.hasattr",
        "builtins.int",
        "builtins.isinstance",
        "builtins.issubclass",
        "builtins.len",
        "builtins.str",
        "builtins.tuple",
        "builtins.type",
        "os.environ.get",
        "os.getenv",
        "importlib.util.find_spec",
        "torch.cuda.device_count",
        "torch.cuda.get_device_capability",
        "torch.cuda.is_available",
        "torch.device",
        # Methods of any receiver that do not change it.
        ".startswith",
        ".endswith",
        ".lower",
        ".upper",
        ".split",
        ".strip",
        ".dim",
        ".numel",
        ".size",
        ".element_size",
        ".is_contiguous",
        ".get_device_capability",
    }
)
"""Qualified functions, or ``.method`` for a method of any receiver."""
