"""The benchmark runs and measures what it says; no time is asserted, machines differ."""

from benchmarks import dispatch


def test_every_row_is_measured(monkeypatch):
    monkeypatch.setattr(dispatch, "ROUNDS", 1)
    rows = [row for part in (dispatch.calls, dispatch.growth, dispatch.tools) for row in part()]
    assert [len(row) for row in rows] == [4] * len(rows)
    assert {row[0] for row in rows} >= {"a valid call", "a refused call, all violations"}
    assert all(row[1] for row in rows)
