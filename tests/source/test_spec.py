from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.source.spec import GitSpec, PathSpec, ReleaseSpec, SubmoduleSpec, parse_spec
from shrinker.values.errors import InputError


@pytest.mark.parametrize(
    "text",
    ["", "0.5.7", "release:", "release:latest", "git:", "git:/x", "git:/x@", "git:git@host:x/y.git", "git:@abc", "git:-u@abc",
     "git:/x@--upload-pack=y", "git:/x@a b", "git:/x@a^{}", "path:", "submodule:x", "svn:x"],
)  # fmt: skip
def test_refused_with_the_next_step(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse_spec(text)
    assert error.value.next_step


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("release:0.5.7", ReleaseSpec("0.5.7")),
        ("release:v0.5.15-post1", ReleaseSpec("0.5.15.post1")),
        ("submodule", SubmoduleSpec()),
        ("path:some/where", PathSpec(Path("some/where"))),
        ("git:/x/y@0b3b", GitSpec("/x/y", "0b3b")),
        ("git:git@host.org:x/y.git@v0.5.7", GitSpec("git@host.org:x/y.git", "v0.5.7")),
        ("git:https://u@host/x@release/1", GitSpec("https://u@host/x", "release/1")),
    ],
)
def test_forms(text: str, spec: object) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("repository", "is_url"),
    [
        ("https://h/x", True),
        ("ssh://h/x", True),
        ("git@h.org:x.git", True),
        ("h.org:x.git", True),
        ("/no/such", False),
        ("no/such", False),
        (".", False),
    ],
)
def test_url_or_folder(repository: str, is_url: bool) -> None:
    assert GitSpec(repository, "a").is_url is is_url
