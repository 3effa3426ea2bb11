"""A run that nobody watches."""


class Silent:
    """Takes what the pipeline tells of itself, and says nothing."""

    def phase(self, name: str) -> None: ...

    def note(self, line: str) -> None: ...

    def advance(self, done: int, total: int | None) -> None: ...
