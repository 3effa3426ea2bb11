"""`shrinker mutate --rules`: does the evidence of a default run notice wrong rules?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from shrinker.cli.options import print_json


def mutate_rules(
    out: Path, count: int, seed: int, upstream: str | None, asked: Path | None, jobs: int, *, anew: bool, as_json: bool
) -> None:
    """See `shrinker.cli.mutate`.

    Raises:
        InputError: the rules are not those of the tree, or its reports hold what other arguments gave.
    """
    from shrinker.cli.places import open_recorded, read_manifest, recorded_rules
    from shrinker.cli.progress import console_progress
    from shrinker.report.place import evidence_folder, reports_of
    from shrinker.report.planting import NAME, header, page, read_outcomes, write_outcomes
    from shrinker.values.errors import InputError
    from tools.mutation.planting import Outcome, plant
    from tools.mutation.wrong_rules import draw

    manifest = read_manifest(out)
    rules = recorded_rules(manifest)
    if rules is None or rules.digest != manifest.rules_hash:
        raise InputError(
            f"{out} was made by other rules than those of {manifest.profile} here", "run `make shrink` first"
        )
    place = reports_of(out.absolute(), manifest, asked)
    head = header(manifest, seed)
    folder = evidence_folder(out.absolute(), place, f"{NAME}.json", lambda data: data["seed"] == seed)
    done = [] if anew else read_outcomes(folder / f"{NAME}.json", head)
    with console_progress() as progress:
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        wrong = draw(tree, out, manifest, count=count, seed=seed)
        names = {(one.kind, one.subject) for one in wrong}
        rest = [row for row in done if (row["kind"], row["subject"]) not in names]
        if rest:
            raise InputError(
                f"{folder / NAME}.json holds {len(rest)} rule(s) more than --count {count} draws",
                "ask for as many, say --anew, or another folder with --reports",
            )

        def told(outcome: Outcome) -> None:
            done.append(asdict(outcome))
            state = outcome.caught_by or ("SURVIVES" if outcome.files else "changes nothing")
            progress.note(f"{len(done)} of {len(wrong)}: {state}: {outcome.kind}: {outcome.subject}")
            write_outcomes(folder, head, done)

        judged = {(row["kind"], row["subject"]) for row in done}
        for _ in plant(tree, rules, wrong, jobs, progress, judged, told):
            pass
    data: dict[str, Any] = write_outcomes(folder, head, done)
    if as_json:
        print_json(data)
    else:
        print(page(data), end="")
