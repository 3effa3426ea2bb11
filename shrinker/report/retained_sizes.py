"""What the reports of a run say of retained size: apart from `retained`, which answers to questions
and loads no graph library.
"""

from collections.abc import Mapping
from typing import Any

from shrinker.cache import Cache
from shrinker.cache.workers import cached
from shrinker.program.reasons import leaving_with_each
from shrinker.report.retained import Retained


def retained_data(
    data: Mapping[str, Any], lines: Mapping[str, int], cache: Cache
) -> dict[str, Any]:
    """Measure the saved graph: files and lines of each file that keeps more than itself, and the
    largest choices; see `Retained`.
    """

    def measured() -> dict[str, Any]:
        found = Retained(data, lines)
        leaving = leaving_with_each(data["edges"], found.starts)
        each = {
            path: found.size(found.paths(leaving.get(found.at[path], ()))) for path in data["kept"]
        }
        several = {path: [*size] for path, size in each.items() if size[0] > 1}
        return {"retained": several, "optional": [[*row] for row in found.optional()]}

    layer = cache.layer("retained")
    key = layer.key(repr((data["nodes"], data["edges"], sorted(lines.items()))))
    read: dict[str, Any] = cached(layer, key, measured)
    return read
