"""`shrinker kernels`: the kernels that a profile must reach, each with its chain, and what its removed systems left."""

from __future__ import annotations

from typing import Annotated

import typer

from shrinker.cli.options import DEFAULT_OUT, Json, Out, Reports, Rules, absolute, print_json


def kernels(
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    rules: Rules = None,
    chains: Annotated[bool, typer.Option(help="Print each chain, not only its length.")] = True,
    as_json: Json = False,
) -> None:
    """Print the chain from the model to each kernel that `reach` rules name, and what `remove` rules left.

    Exit 1 when a kernel is not reached, or when a module that a rule removes is in the tree without being listed as
    rescued in uncertain.txt.
    """
    from dataclasses import asdict

    from shrinker.cli.explain import print_steps
    from shrinker.cli.places import find_graph, read_manifest
    from shrinker.program.answers import SYMBOLS
    from shrinker.program.reached import reached, taken
    from shrinker.program.saved import load_graph
    from shrinker.program.symbols.why import load_symbols
    from shrinker.ruleset import load_profile
    from shrinker.values.errors import InputError

    profile = load_profile(read_manifest(out.absolute()).profile, absolute(rules))
    graph = find_graph(out.absolute(), absolute(reports))
    symbols = load_symbols(graph.with_name(SYMBOLS))
    if symbols is None:
        raise InputError(f"{graph}: this run did not search for symbols", "generate the tree without --no-symbols")
    found = reached(out.absolute(), symbols, profile.reaches)
    systems = taken(load_graph(graph), profile.removes)
    lost = [row.name for row in found if not row.steps]
    left = [row for row in systems if row.left]
    if as_json:
        print_json({"kernels": [asdict(row) for row in found], "removed": [asdict(row) for row in systems]})
    else:
        for row in found:
            print(f"{row.name}: " + (f"{len(row.steps)} steps, {row.places} place(s)" if row.steps else "NOT REACHED"))
            if chains:
                print_steps(row.steps)
        for system in systems:
            kept = f", {len(system.rescued)} rescued: {', '.join(system.rescued)}" if system.rescued else ""
            more = f", LEFT: {', '.join(system.left)}" if system.left else ""
            print(f"{system.rule} ({system.feature}): {system.removed} file(s) removed{kept}{more}")
        reach, gone, partly = len(found) - len(lost), len(systems) - len(left), sum(bool(s.rescued) for s in systems)
        print(f"{reach} of {len(found)} kernels reached")
        print(f"{gone} of {len(systems)} systems gone, {partly} of them but for rescued modules")
    if lost or left:
        raise typer.Exit(1)
