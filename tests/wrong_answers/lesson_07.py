"""Wrong answers to lesson 07."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.wrong_answers import wrong

# --- 07.1 -----------------------------------------------------------------------------------------


def specs_of(registry, calls):
    return [registry.get(call.name) for call in calls]


def safe(spec):
    return spec is not None and spec.concurrent_safe


@wrong("07.1", "Nothing came back. Return True or False.")
def says_nothing(registry, calls):
    all(map(safe, specs_of(registry, calls)))


@wrong("07.1", "were told to wait for each other")
@wrong("07.1", "The same tool twice is no reason to wait")
def never(registry, calls):
    return False


@wrong("07.1", "The same tool twice is no reason to wait")
def once_each(registry, calls):
    names = {str(call.name) for call in calls}
    return len(names) == len(calls) and all(map(safe, specs_of(registry, calls)))


@wrong("07.1", "look at all of them")
@wrong("07.1", "Nobody vouched for it.")
def any_will_do(registry, calls):
    return any(map(safe, specs_of(registry, calls)))


@wrong("07.1", "A yes, though the first call is not safe")
def asks_the_last(registry, calls):
    return safe(registry.get(calls[-1].name))


@wrong("07.1", "An unknown tool is not safe: say so before you ask it.")
def asks_none(registry, calls):
    return all(spec.concurrent_safe for spec in specs_of(registry, calls))


@wrong("07.1", "registry.get takes any name")
def looks_up_by_itself(registry, calls):
    known = {"look": True, "find": True, "change": False}
    return all(known.get(call.name, False) for call in calls)


@wrong("07.1", "an endless loop, or a deadlock?")
def decides_for_ever(registry, calls):
    while True:
        pass


@wrong("07.1", "it tried to end the program (SystemExit)")
def exits(registry, calls):
    sys.exit("unsafe")


# --- 07.batch and 07.2 ----------------------------------------------------------------------------


def one_by_one(registry, calls):
    return [registry.dispatch(call) for call in calls]


def at_once(registry, calls):
    with ThreadPoolExecutor() as pool:
        return list(pool.map(registry.dispatch, calls))


def right(registry, calls):
    run = at_once if all(map(safe, specs_of(registry, calls))) else one_by_one
    return run(registry, calls)


@wrong("07.2", "Return the list of results.")
@wrong("07.2", "An empty batch has an empty list of results.")
def returns_nothing(registry, calls):
    right(registry, calls)


@wrong("07.2", "The three did not meet")
@wrong("07.batch", "Waiting adds up")
def always_one_by_one(registry, calls):
    return one_by_one(registry, calls)


@wrong("07.2", "The three did not meet")
def waits_for_each(registry, calls):
    with ThreadPoolExecutor() as pool:
        return [pool.submit(registry.dispatch, call).result() for call in calls]


@wrong("07.2", "A generator came back.")
def gives_a_generator(registry, calls):
    return (result for result in right(registry, calls))


@wrong("07.2", "The results stand in another order than the calls.")
@wrong("07.batch", "Waiting adds up")
def backwards(registry, calls):
    return right(registry, calls)[::-1]


@wrong("07.2", "Some of them overlapped, and one is not concurrent_safe.")
@wrong("07.2", "The unknown name was left out of the decision")
@wrong("07.2", "The read came before the write beside it")
@wrong("07.batch", "The read before the write means the old file")
@wrong("07.batch", "believes what it is shown")
def always_at_once(registry, calls):
    return at_once(registry, calls)


@wrong("07.2", "The unknown call was dropped, and the others overlapped")
@wrong("07.batch", "its call still gets its result")
def drops_the_unknown(registry, calls):
    return right(registry, [call for call in calls if registry.get(call.name) is not None])


@wrong("07.2", "The unknown call has no result.")
def drops_it_later(registry, calls):
    return [result for result in right(registry, calls) if result.error_code != "unknown_tool"]


@wrong("07.2", "The unknown name was left out of the decision")
def forgets_the_unknown(registry, calls):
    specs = [spec for spec in specs_of(registry, calls) if spec is not None]
    return (at_once if all(map(safe, specs)) else one_by_one)(registry, calls)


@wrong("07.2", "That may be harmless here; the rule is")
@wrong("07.batch", "All or none is the rule")
def groups_neighbours(registry, calls):
    results, group = [], []
    for call in [*calls, None]:
        if call is None or not safe(registry.get(call.name)):
            results += at_once(registry, group)
            results += [registry.dispatch(call)] if call else []
            group = []
        else:
            group.append(call)
    return results


@wrong("07.2", "The batch ended with the first failure.")
@wrong("07.batch", "One failure takes no other call with it.")
def stops_at_a_failure(registry, calls):
    results = []
    if len({call.name for call in calls}) == len(calls):
        return right(registry, calls)
    for call in calls:
        results.append(registry.dispatch(call))
        if not results[-1].ok:
            break
    return results if "fail" in {call.name for call in calls} else right(registry, calls)


@wrong("07.2", "Two calls and one result")
@wrong("07.batch", "two results are due")
def keeps_them_by_id(registry, calls):
    by_id = {result.call.tool_use_id: result for result in right(registry, calls)}
    return list(by_id.values())


@wrong("07.2", "Both calls got one and the same result")
def finds_them_by_id(registry, calls):
    by_id = {result.call.tool_use_id: result for result in right(registry, calls)}
    return [by_id[call.tool_use_id] for call in calls]


@wrong("07.2", "are mixed up")
@wrong("07.batch", "The same, where the two may overlap.")
def finds_the_first_by_id(registry, calls):
    by_id = {}
    for result in right(registry, calls):
        by_id.setdefault(result.call.tool_use_id, result)
    return [by_id[call.tool_use_id] for call in calls]


@wrong("07.2", "in a pool that has a worker for each")
def has_two_workers(registry, calls):
    if not all(map(safe, specs_of(registry, calls))):
        return one_by_one(registry, calls)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(registry.dispatch, calls))


@wrong("07.batch", "A turn without calls is a batch, too.")
def needs_a_call(registry, calls):
    return right(registry, calls) or None


@wrong("07.2", "an endless loop, or a deadlock?")
def waits_for_itself(registry, calls):
    lock = threading.Lock()
    with lock, lock:
        return right(registry, calls)


@wrong("07.2", "it tried to end the program (SystemExit)")
def gives_up(registry, calls):
    sys.exit("too many")
