"""dispatch_many: concurrent only when all calls are safe; order, contexts and interrupts."""

import concurrent.futures
import contextvars
import sys
import threading

import pytest

from harness_lib import ToolCall, ToolRegistry, ToolSpec, object_schema
from harness_lib.registry import MAX_WORKERS
from harness_lib.scheduling import split_batch

WAIT = 10  # seconds; a barrier that is not met fails then, nothing sleeps


def tool(name, handler, safe=True, properties=()):
    schema = object_schema({p: {} for p in properties}, properties)
    return ToolSpec(name, "", schema, handler, concurrent_safe=safe)


def calls(*names, **arguments):
    return [ToolCall(f"id{i}", name, dict(arguments)) for i, name in enumerate(names)]


@pytest.mark.parametrize("count", [2, 8, MAX_WORKERS])
def test_safe_calls_overlap(count):
    barrier = threading.Barrier(count, timeout=WAIT)
    registry = ToolRegistry([tool("meet", lambda: str(barrier.wait() >= 0))])
    assert [r.content for r in registry.dispatch_many(calls(*["meet"] * count))] == ["True"] * count


def test_no_more_than_32_at_once():
    count, lock, running, peak = 3 * MAX_WORKERS, threading.Lock(), [], []
    barrier = threading.Barrier(MAX_WORKERS, timeout=WAIT)

    def handler():
        with lock:
            running.append(1)
            peak.append(len(running))
        barrier.wait()
        with lock:
            running.pop()

    registry = ToolRegistry([tool("t", handler)])
    assert all(r.ok for r in registry.dispatch_many(calls(*["t"] * count)))
    assert max(peak) == MAX_WORKERS


def test_reverse_completion_keeps_order():
    turns = [threading.Event() for _ in range(4)]
    turns[3].set()

    def handler(n):
        assert turns[n].wait(WAIT)
        if n:
            turns[n - 1].set()
        return n

    registry = ToolRegistry([tool("t", handler, properties=["n"])])
    batch = [ToolCall(f"id{n}", "t", {"n": n}) for n in range(4)]
    reported = []

    def on_result(index, result):
        assert threading.current_thread() is threading.main_thread()
        reported.append(index)

    results = registry.dispatch_many(batch, on_result=on_result)
    assert [r.content for r in results] == ["0", "1", "2", "3"]
    assert sorted(reported) == [0, 1, 2, 3]


@pytest.mark.parametrize("odd_one", ["unsafe", "unknown"])
def test_one_unsafe_or_unknown_call_makes_the_batch_serial(odd_one):
    log = []
    registry = ToolRegistry(
        [
            tool("safe", lambda: log.append(("safe", threading.current_thread()))),
            tool("unsafe", lambda: log.append(("unsafe", threading.current_thread())), safe=False),
        ]
    )
    results = registry.dispatch_many(calls("safe", odd_one, "safe"))
    here = threading.current_thread()
    middle = [("unsafe", here)] if odd_one == "unsafe" else []
    assert log == [("safe", here), *middle, ("safe", here)]
    assert [r.ok for r in results] == [True, odd_one == "unsafe", True]


def test_a_read_after_a_write_sees_it():
    disk = {}
    registry = ToolRegistry(
        [
            tool("write", lambda: disk.update(p="new"), safe=False),
            tool("read", lambda: disk.get("p", "stale")),
        ]
    )
    assert [r.content for r in registry.dispatch_many(calls("write", "read"))][1] == "new"


def test_two_edits_in_one_turn_both_land():
    disk = {"a": "x z"}

    def edit(old, new):
        disk["a"] = disk["a"].replace(old, new)

    registry = ToolRegistry([tool("edit", edit, safe=False, properties=["old", "new"])])
    pairs = [("x", "y"), ("z", "w")]
    registry.dispatch_many([ToolCall("1", "edit", {"old": a, "new": b}) for a, b in pairs])
    assert disk["a"] == "y w"


@pytest.mark.parametrize("safe", [True, False])
def test_a_failing_call_takes_no_other_with_it(safe):
    def handler(n):
        if n == 1:
            raise ValueError("the second")
        return n

    registry = ToolRegistry([tool("t", handler, safe=safe, properties=["n"])])
    results = registry.dispatch_many([ToolCall(f"id{n}", "t", {"n": n}) for n in range(3)])
    assert [r.ok for r in results] == [True, False, True]
    assert results[1].call.tool_use_id == "id1"


@pytest.mark.parametrize("ids", [("", ""), ("same", "same")])
def test_calls_with_one_id_get_a_result_each(ids):
    registry = ToolRegistry([tool("t", lambda n: n, properties=["n"])])
    batch = [ToolCall(tool_use_id, "t", {"n": n}) for n, tool_use_id in enumerate(ids)]
    assert [r.content for r in registry.dispatch_many(batch)] == ["0", "1"]


@pytest.mark.parametrize("safe", [True, False])
def test_context_variables_reach_the_handlers(safe):
    user = contextvars.ContextVar("user", default="nobody")
    registry = ToolRegistry([tool("who", user.get, safe=safe)])
    user.set("ada")
    assert [r.content for r in registry.dispatch_many(calls("who", "who"))] == ["ada", "ada"]


def test_nested_batches_cannot_deadlock():
    def nest(depth):
        if depth == 0:
            return "leaf"
        batch = [ToolCall(f"{i}", "nest", {"depth": depth - 1}) for i in range(3)]
        return [r.content for r in registry.dispatch_many(batch)]

    registry = ToolRegistry([tool("nest", nest, properties=["depth"])])
    batch = [ToolCall(f"{i}", "nest", {"depth": 2}) for i in range(MAX_WORKERS + 1)]
    results = registry.dispatch_many(batch)
    assert len(results) == MAX_WORKERS + 1
    assert all("leaf" in r.content for r in results)


def test_an_interrupt_in_a_serial_batch_reports_what_had_finished():
    def handler(n):
        if n == 2:
            raise KeyboardInterrupt
        return n

    registry = ToolRegistry([tool("t", handler, safe=False, properties=["n"])])
    seen = {}
    with pytest.raises(KeyboardInterrupt):
        registry.dispatch_many(
            [ToolCall(f"id{n}", "t", {"n": n}) for n in range(4)],
            on_result=lambda i, r: seen.update({i: r.content}),
        )
    assert seen == {0: "0", 1: "1"}


def test_an_interrupt_in_a_concurrent_batch_passes_at_once():
    started, release, finished = threading.Event(), threading.Event(), threading.Event()

    def slow():
        started.set()
        release.wait(WAIT)
        finished.set()

    def stop():
        started.wait(WAIT)
        raise KeyboardInterrupt

    registry = ToolRegistry([tool("quick", lambda: "done"), tool("slow", slow), tool("stop", stop)])
    seen = {}
    with pytest.raises(KeyboardInterrupt):
        registry.dispatch_many(
            calls("quick", "slow", "stop"), on_result=lambda i, r: seen.update({i: r.content})
        )
    assert not finished.is_set()  # the slow one was left behind
    assert seen == {0: "done"}
    release.set()
    assert finished.wait(WAIT)


def test_an_interrupt_in_the_waiting_caller_reports_all_that_had_finished(monkeypatch):
    """The caller is interrupted while it reports the first result; the others have ended too."""

    def when_all_have_ended(futures):
        return iter(concurrent.futures.wait(list(futures), WAIT).done)

    monkeypatch.setattr("harness_lib.registry.as_completed", when_all_have_ended)
    registry = ToolRegistry([tool("t", lambda: "ok")])
    seen = []

    def on_result(index, result):
        seen.append(index)
        if len(seen) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        registry.dispatch_many(calls("t", "t", "t"), on_result=on_result)
    assert set(seen) == {0, 1, 2}


def test_a_broken_on_result_is_the_harness_own_error():
    def on_result(index, result):
        raise LookupError("mine")

    registry = ToolRegistry([tool("t", lambda: "ok")])
    for batch in (calls("t"), calls("t", "t")):
        with pytest.raises(LookupError, match="mine"):
            registry.dispatch_many(batch, on_result=on_result)


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_without_more_threads_the_rest_runs_here_and_each_call_once(threads, monkeypatch):
    """The pool queues a call before it fails to start a thread for it: a worker may find it there."""
    real, left, ran = threading.Thread.start, [threads], []

    def start(self):
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        real(self)

    def handler(n):
        ran.append(n)
        return n

    monkeypatch.setattr(threading.Thread, "start", start)
    registry = ToolRegistry([tool("t", handler, properties=["n"])])
    for _ in range(20):
        left[0], ran[:] = threads, []
        batch = [ToolCall(f"id{n}", "t", {"n": n}) for n in range(6)]
        assert [r.content for r in registry.dispatch_many(batch)] == list("012345")
        assert sorted(ran) == [0, 1, 2, 3, 4, 5]


def test_without_threads_each_is_reported_as_it_ends_and_an_interrupt_passes_at_once(monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    log = []

    def handler(n):
        log.append(f"ran {n}")
        if n == 2:
            raise KeyboardInterrupt
        return n

    monkeypatch.setattr(threading.Thread, "start", start)
    registry = ToolRegistry([tool("t", handler, properties=["n"])])
    batch = [ToolCall(f"id{n}", "t", {"n": n}) for n in range(5)]
    with pytest.raises(KeyboardInterrupt):
        registry.dispatch_many(batch, on_result=lambda index, _: log.append(f"told {index}"))
    assert log == ["ran 0", "told 0", "ran 1", "told 1", "ran 2"]


@pytest.mark.parametrize("safe", [True, False])
def test_what_a_handler_sets_in_its_context_stays_there(safe):
    """In either kind of batch, so that it makes no difference to the handlers which it was."""
    user = contextvars.ContextVar("user", default="nobody")

    def become(n):
        before = user.get()
        user.set(f"user {n}")
        return before

    registry = ToolRegistry([tool("t", become, safe=safe, properties=["n"])])
    batch = [ToolCall(f"id{n}", "t", {"n": n}) for n in range(3)]
    assert [r.content for r in registry.dispatch_many(batch)] == ["nobody"] * 3
    assert user.get() == "nobody"


def test_tools_may_be_registered_while_others_are_dispatched():
    registry = ToolRegistry()
    stop = threading.Event()

    def register():
        n = 0
        while not stop.is_set() and n < 2_000:
            registry.register(tool(f"t{n}", lambda: "ok"))
            n += 1

    thread = threading.Thread(target=register)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        while thread.is_alive():
            assert not registry.dispatch(ToolCall("id", "nope", {})).ok
            assert isinstance(registry.model_schemas(), list)
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join(WAIT)


def test_an_empty_batch():
    assert ToolRegistry().dispatch_many([]) == []
    assert ToolRegistry().dispatch_many(iter(())) == []


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("", []),
        ("s", [(0,)]),
        ("sss", [(0, 1, 2)]),
        ("sus", [(0,), (1,), (2,)]),
        ("s?", [(0,), (1,)]),
        ("u", [(0,)]),
    ],
)
def test_how_a_batch_is_split(pattern, groups):
    kinds = {"s": tool("s", dict), "u": tool("u", dict, safe=False), "?": None}
    split = split_batch([kinds[kind] for kind in pattern])
    assert [group.indexes for group in split] == groups
    assert [group.concurrent for group in split] == [len(g) > 1 for g in groups]
