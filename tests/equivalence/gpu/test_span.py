"""Answers and times of many runs of both trees, written by hand: what is within upstream's own
span, and what is not.
"""

from typing import Any

import pytest

from equivalence.gpu.span import alone, judge_spans, pool
from equivalence.gpu.turns import Sample, estimate, finding, measured
from equivalence.gpu.verdict import judge_cell
from equivalence.serving.record import Answer


def servers(*values, name="ask"):
    """One server for each text, one pass for each letter of it: the letter is the answer."""
    return [
        [{name: Answer(200, "application/json", {"token": letter})} for letter in text]
        for text in values
    ]


def numbers(*passes):
    """One server for each list, one pass for each number of it."""
    return [
        [{"ask": Answer(200, "application/json", {"logprob": value})} for value in server]
        for server in passes
    ]


def result(upstream, generated):
    (judgement,) = judge_spans(upstream, generated)
    return judgement.result


@pytest.mark.parametrize(
    ("upstream", "generated", "expected"),
    [
        (["aa", "aa"], ["bb", "bb"], "outside"),
        (["aa", "aa"], ["ab", "aa"], "lone"),
        (["aa", "aa"], ["aa", "aa"], "identical"),
        (["ab", "aa"], ["aa", "aa"], "member"),
        (["ab", "aa"], ["bb", "ba"], "member"),
        (["ab"], ["cd"], "open"),
        (["ab", "cd"], ["ef", "gh"], "span"),
    ],
)
def test_a_request_by_what_its_runs_answered(upstream, generated, expected):
    assert result(servers(*upstream), servers(*generated)) == expected


def test_numbers_that_are_further_away_than_upstream_strays_are_outside():
    upstream = numbers([1.0, 1.01], [0.99, 1.02], [1.03, 0.98])
    assert result(upstream, numbers([1.04, 0.97], [0.96, 1.05])) == "span"
    assert result(upstream, numbers([9.0, 9.01], [9.02, 9.03])) == "outside"


def test_servers_that_stray_as_a_whole_are_told_apart_as_servers():
    # Three passes of one server are near each other in both trees: the runs are told apart, their
    # servers are not.
    upstream = [[1.0, 1.001, 1.002], [2.0, 2.001, 2.002], [3.0, 3.001, 3.002], [1.5, 1.501, 1.502]]
    generated = [[2.5, 2.501, 2.502], [3.5, 3.501, 3.502], [4.0, 4.001, 4.002], [2.9, 2.901, 2.902]]
    (found,) = judge_spans(numbers(*upstream), numbers(*generated))
    assert found.result == "span" and found.probability == pytest.approx(6 / 70)
    assert result(numbers(*upstream[:2]), numbers(*generated[:2])) == "open", (
        "six ways to draw two servers of four"
    )
    (found,) = judge_spans(
        numbers(*upstream), numbers(*[[x + 2 for x in server] for server in generated])
    )
    assert found.result == "outside" and found.probability == pytest.approx(2 / 70)


def test_too_few_runs_decide_nothing():
    assert result(numbers([1.0, 1.1]), numbers([9.0, 9.1])) == "open", (
        "four labellings cannot reach one in twenty"
    )


def test_of_many_ways_to_label_the_runs_some_are_drawn():
    drift = [[1 + 0.01 * i + 0.03 * at for at in range(5)] for i in range(3)]
    assert (
        result(numbers(*drift), numbers(*[[value + 0.005 for value in server] for server in drift]))
        == "span"
    )
    assert (
        result(numbers(*drift), numbers(*[[value + 9 for value in server] for server in drift]))
        == "outside"
    )


def test_many_requests_that_vary_raise_no_alarm_by_their_number():
    # The probability is of the highest of all: each request alone would be the rarest labelling of
    # some thirty.
    def side(shift):
        return [
            [
                {
                    f"r{n}": Answer(200, "", {"x": (n * 7 + shift + 3 * at + 5 * i) % 11})
                    for n in range(30)
                }
                for at in range(2)
            ]
            for i in range(2)
        ]

    found = judge_spans(side(0), side(1))
    assert not [judgement for judgement in found if judgement.result == "outside"]


def test_lone_answers_are_chance_only_where_upstream_has_them_too():
    def cell(*texts):
        return servers(*texts)

    calm, stray = ["aaaa"] * 4, ["aaab", "aaaa", "abaa", "aaaa"]
    assert not alone(cell(*calm), cell(*stray)).chance, "upstream never strays"
    assert alone(cell(*stray), cell(*stray)).chance
    assert not alone(cell(*stray), cell("abcd", "efgh", "ijkl", "mnop")).chance
    assert alone(cell("ab", "aa"), cell("ab", "aa")).probability is None, (
        "six labellings cannot reach one in twenty"
    )


def test_cells_that_stray_a_little_more_each_stand_out_together():
    calm, stray = ([0, 0, 0, 2], [0, 0, 1, 0]), ([0, 0, 0, 0], [1, 0, 2, 0])
    assert pool([calm] * 10).probability > 0.5
    assert pool([stray]).probability > 0.1, "no cell says it"
    assert pool([stray] * 10).probability < 0.01
    assert pool([stray] * 10) == pool([stray] * 10), "drawn from the same seed"
    assert pool([([1, 0], [])]).upstream == (0, 0), "a cell without the other tree says nothing"
    assert pool([]).generated == (0, 0)


def seen(passes, **changed):
    base = {
        "passes": passes,
        "classes": ["C"],
        "settings": {"backend": "triton"},
        "choices": ["x"],
        "kernels": {"k": 1},
    }
    return base | changed


def answers(token, **more):
    return {
        "ask": {
            "status": 200,
            "content_type": "",
            "body": {"token": token, **more},
            "error": "",
            "seconds": 0.0,
        }
    }


def test_who_served_a_request_is_no_difference():
    upstream = seen(
        [answers("a", meta_info={"dp_rank": 0})] * 2,
        settings={"scheduler_pids": [1, 2], "startup_time": 7.5},
    )
    generated = seen(
        [answers("a", meta_info={"dp_rank": 1})] * 2,
        settings={"scheduler_pids": [3, 4], "startup_time": 7.4},
    )
    assert judge_cell([upstream], [generated])["result"] == "same"
    assert judge_cell([upstream], [seen([answers("a")] * 2)])["result"] == "differs", (
        "the field itself must be there"
    )


def test_a_command_line_that_names_other_ports_is_no_difference():
    def started(backend, port):
        return {
            "launch_command": f"--attention-backend {backend} --port {port} --nccl-port {port + 20}"
        }

    upstream = seen([answers("a")] * 2, settings=started("triton", 24240))
    assert (
        judge_cell([upstream], [seen([answers("a")] * 2, settings=started("triton", 21280))])[
            "result"
        ]
        == "same"
    )
    assert (
        judge_cell([upstream], [seen([answers("a")] * 2, settings=started("fa3", 24240))])["result"]
        == "differs"
    )


def test_the_document_of_the_interface_is_judged_where_the_removed_endpoints_are_known():
    document = answers("whole")["ask"]
    upstream = seen([answers("a") | {"openapi": document}])
    row = judge_cell([upstream], [seen([answers("a") | {"openapi": document | {"body": {}}}])])
    assert row["result"] == "same" and row["requests"] == {"identical": 1}
    assert judge_cell([upstream], [seen([answers("b")])])["result"] != "same", (
        "all other answers are"
    )


def test_a_cell_by_all_its_servers():
    first, other = seen([answers("a"), answers("b")]), seen([answers("b"), answers("a")])
    row = judge_cell([first, other], [other, first])
    assert (row["result"], row["servers"], row["runs"]) == ("spread", [2, 2], [4, 4])
    assert row["alone"] == [[1, 1], [1, 1]] or row["alone"] == [[1, 1], [1, 1]][::-1]
    broken = {"error": "not ready", "tail": "", "errors": ["E"]}
    assert judge_cell([first, broken], [other, first])["result"] == "spread", (
        "a control that fails takes nothing away"
    )
    assert judge_cell([first], [broken])["result"] == "fails in generated"


def test_a_server_that_warmed_the_caches_beside_fewer_others_is_no_measure_of_strays():
    calm, stray = seen([answers("a")] * 2), seen([answers("a"), answers("b")])
    assert judge_cell([calm | {"warms": True}, stray], [stray, calm])["alone_beside_others"] == [
        [1],
        [1, 0],
    ]
    assert judge_cell([calm | {"warms": True}], [stray])["alone_beside_others"] == [[0], [1]], (
        "unless it is the only one"
    )


def test_kernels_are_those_of_a_server_that_was_profiled():
    bare = seen([answers("a")] * 2, kernels={})
    assert (
        judge_cell([bare, seen([answers("a")] * 2)], [bare, seen([answers("a")] * 2)])["kernels"]
        == "same"
    )
    assert judge_cell([bare], [bare])["kernels"] == "not profiled"


def test_a_choice_that_one_server_did_not_log_is_no_difference():
    silent = seen([answers("a")] * 2, choices=[])
    talks = seen([answers("a")] * 2)
    assert judge_cell([talks, silent], [silent])["choices_only_upstream"] == []
    assert judge_cell([talks], [silent])["choices_only_upstream"] == ["x"]


def pairs(*ratios, places="ab"):
    """The trees change places from pair to pair, each of which is a block."""
    return [
        Sample(places[at % len(places)], 10.0, 10.0 * ratio, at) for at, ratio in enumerate(ratios)
    ]


def of(samples) -> dict[str, Any]:
    found = estimate(samples)
    assert found is not None
    return found


def test_what_a_place_does_to_both_trees_goes_out():
    # On one GPU the other tree is a tenth faster, on the other one a tenth slower: it is neither.
    found = of([*pairs(*[1.1] * 5, places="a"), *pairs(*[1 / 1.1] * 5, places="b")])
    assert abs(found["ratio"] - 1) < 1e-9 and found["pairs"] == 10


def test_five_pairs_give_an_interval_and_four_none():
    assert of(pairs(0.9, 0.91, 0.92, 0.93))["low"] is None
    found = of(pairs(0.9, 0.91, 0.92, 0.93, 0.94))
    assert of(pairs(*[0.9] * 9, places="a"))["low"] is None, "the other place may be as much faster"
    assert 0.9 <= found["low"] <= found["ratio"] <= found["high"] <= 0.94
    assert estimate(pairs(0.9, 0.91, 0.92, 0.93, 0.94)) == found, "the same interval each time"
    assert estimate([]) is None and estimate([Sample("a", 0.0, 1.0, 0)]) is None


def test_pairs_of_two_processes_are_no_pairs_of_many():
    # Two processes of each place, each slower or faster by chance in all of its pairs.
    ratios = {0: 0.9, 1: 0.94, 2: 1.06, 3: 1.02}
    found = of(
        [
            Sample("ab"[block % 2], 10.0, 10.0 * ratio, block)
            for block, ratio in ratios.items()
            for _ in range(9)
        ]
    )
    assert found["low"] < 0.95 and found["high"] > 1.02
    assert (found["pairs"], found["blocks"]) == (36, 4)
    alone = of(
        [
            Sample("ab"[block], 10.0, 10.0 * ratio, block)
            for block, ratio in ((0, 0.9), (1, 0.94))
            for _ in range(9)
        ]
    )
    assert alone["low"] is None, (
        "two processes in each place, and no others to tell chance from the tree"
    )


def test_neighbouring_pairs_of_one_place_and_tree_are_one_block():
    rows = (
        [("a", "generated")] * 3
        + [("a", "control")] * 3
        + [("b", "generated")] * 3
        + [("a", "generated")] * 3
    )
    found = measured(
        [
            {"place": place, "upstream": {"seconds": 1.0}, other: {"seconds": 2.0}}
            for place, other in rows
        ]
    )
    assert [
        (found["seconds"][tree]["blocks"], found["seconds"][tree]["pairs"])
        for tree in ("generated", "control")
    ] == [
        (3, 9),
        (1, 3),
    ]


def test_a_finding_is_slower_beyond_doubt_and_beyond_the_copy():
    slow, wide = (of(pairs(*ratios)) for ratios in ([0.9] * 6, [0.9, 1.2, 0.9, 1.2, 0.95, 0.94]))
    even, late = of(pairs(*[1.0] * 6)), of(pairs(*[1.1] * 6))
    assert finding(slow, even, higher=True) and finding(slow, None, higher=True)
    assert not finding(slow, slow, higher=True), "the copy of upstream is as slow"
    assert not finding(wide, even, higher=True), "the interval holds 1"
    assert not finding(even, None, higher=True)
    assert finding(late, even, higher=False) and not finding(late, even, higher=True), (
        "of seconds less is better"
    )
    assert not finding(of(pairs(*[0.9] * 4)), None, higher=True), "too few pairs"


def test_a_version_that_no_build_wrote_is_no_difference():
    ours = seen([answers("a")] * 2, settings={"version": "0.5.15"})
    for theirs, result in (("0.0.0.dev0", "same"), ("0.5.14", "differs")):
        upstream = seen([answers("a")] * 2, settings={"version": theirs})
        assert judge_cell([upstream], [ours])["result"] == result
