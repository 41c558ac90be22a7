"""Lesson 07, otherwise."""

import threading


def may_overlap(registry, calls):
    for call in calls:
        spec = registry.get(call.name)
        if spec is None or not spec.concurrent_safe:
            return False
    return True


def dispatch_many(registry, calls):
    results = {}

    def work(index, call):
        results[index] = registry.dispatch(call)

    together = may_overlap(registry, calls)
    threads = []
    for index, call in enumerate(calls):
        threads.append(threading.Thread(target=work, args=(index, call)))
        threads[-1].start()
        if not together:
            threads[-1].join()
    for thread in threads:
        thread.join()
    return [results[index] for index in range(len(calls))]


ANSWERS = {"07.1": may_overlap, "07.2": dispatch_many}
