"""The boundary: look up, validate, run, and one result for every call. Built in lessons 04, 06."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass

from harness_lib.binding import HandlerKeywords
from harness_lib.call import ToolCall
from harness_lib.json_value import json_copy, nearest
from harness_lib.result import ToolDispatchResult, ToolErrorCode, class_name, encode, explain
from harness_lib.scheduling import split_batch
from harness_lib.schema import checked_schema
from harness_lib.spec import ToolSpec
from harness_lib.validation import ArgumentValidator

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The narrowest of the providers' limits, so that a tool works with each of them."""

MAX_WORKERS = 32
"""The most calls of a batch that run at the same time."""

MAX_LISTED = 50
"""How many tools the answer to an unknown name lists."""

MAX_NAME_SHOWN = 64
"""How many characters of an unknown name its answer shows; no registered one is longer."""

OnResult = Callable[[int, ToolDispatchResult], None]


class ToolRegistry:
    """All the tools of a harness: the model's catalogue and the look-up from the same objects.

    Nothing passed in or handed out can change what is enforced: the registry keeps its own copy
    of each schema. Built in lessons 04 (registration) and 06 (dispatch).
    """

    def __init__(self, specs: Iterable[ToolSpec] = ()) -> None:
        self._tools: dict[str, _Tool] = {}
        for spec in specs:
            self.register(spec)

    def register(self, spec: ToolSpec) -> None:
        """Add a tool, or raise ValueError naming the tool and the fault; TypeError for no spec.

        Fails closed: what would only fail later, at the API or in a call, is refused here.
        """
        if not isinstance(spec, ToolSpec):
            raise TypeError(f"register() takes a ToolSpec, not {type(spec).__name__}")
        try:
            if not isinstance(spec.name, str) or not TOOL_NAME.fullmatch(spec.name):
                raise ValueError("a name is 1 to 64 of letters, digits, '_' and '-'")
            if spec.name in self._tools:
                raise ValueError("this name is registered already")
            if not isinstance(spec.description, str) or json_copy(spec.description)[1]:
                raise ValueError("the description must be text that can be sent")
            if not isinstance(spec.concurrent_safe, bool):
                raise ValueError("concurrent_safe must be True or False")
            schema = checked_schema(spec.input_schema)
            keywords = HandlerKeywords.of(spec.handler, schema)
            own = dataclasses.replace(spec, input_schema=schema)
            model_schema = json.dumps(own.model_schema())
        except Exception as error:
            reason = str(error) if isinstance(error, ValueError) else explain(error)
            raise ValueError(f"tool {spec.name!r}: {reason}") from None
        self._tools[spec.name] = _Tool(own, model_schema, ArgumentValidator(schema, keywords))

    def get(self, name: object) -> ToolSpec | None:
        """The spec of that name, with a schema of its own; None where there is none."""
        tool = self._find(name)
        if tool is None:
            return None
        return dataclasses.replace(tool.spec, input_schema=json_copy(tool.spec.input_schema)[0])

    def model_schemas(self) -> list[dict[str, object]]:
        """The request's `tools` list, in order of registration, detached from the registry."""
        tools = list(self._tools.values())  # at once: another thread may be registering
        return json.loads(f"[{','.join(tool.model_schema for tool in tools)}]")

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def dispatch(self, call: ToolCall) -> ToolDispatchResult:
        """Decide on one call and run it: exactly one result, whatever the call and the handler.

        Look up, then validate, then run; the code of a failure says how far it came. Only
        KeyboardInterrupt passes through: a person pressing stop is no result.
        """
        tool = self._find(call.name)
        if tool is None:
            return ToolDispatchResult.failure(
                call, ToolErrorCode.UNKNOWN_TOOL, self._no_such_tool(call.name)
            )
        arguments, violations = tool.validator.check(call.arguments)
        if violations:
            return ToolDispatchResult.failure(
                call, ToolErrorCode.INVALID_ARGUMENTS, "\n".join(violations)
            )
        try:
            return ToolDispatchResult(call, encode(tool.spec.handler(**arguments)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit and CancelledError too: they are the tool's
            return ToolDispatchResult.failure(
                call, ToolErrorCode.EXECUTION_ERROR, explain(error), error
            )

    def dispatch_many(
        self, calls: Iterable[ToolCall], *, on_result: OnResult | None = None
    ) -> list[ToolDispatchResult]:
        """Dispatch a batch: one result for each call, in call order. Built in lesson 07.

        on_result(index, result) is called in the caller's thread as each call ends, and for all
        that have ended before a KeyboardInterrupt passes: at least once each (but for one whose
        handler returns in that very moment). Handlers that still run are then left behind; Python
        waits for them when the program ends.

        Each handler sees the caller's context variables; what it sets stays its own.
        """
        calls = list(calls)
        results: list[ToolDispatchResult | None] = [None] * len(calls)

        def finish(index: int, result: ToolDispatchResult) -> None:
            results[index] = result
            if on_result is not None:
                on_result(index, result)

        tools = [self._find(call.name) for call in calls]
        for group in split_batch([tool and tool.spec for tool in tools]):
            if group.concurrent:
                self._run_together({index: calls[index] for index in group.indexes}, finish)
            else:
                for index in group.indexes:
                    finish(index, copy_context().run(self.dispatch, calls[index]))
        return results

    def _run_together(self, calls: dict[int, ToolCall], finish: OnResult) -> None:
        # One pool a batch: in a shared one, handlers that dispatch a batch themselves could
        # take all the workers and wait for ever for one more.
        pool = ThreadPoolExecutor(min(len(calls), MAX_WORKERS), thread_name_prefix="tool")
        running: dict[Future[ToolDispatchResult], int] = {Future(): index for index in calls}
        unclaimed = dict(calls)

        def work(future: Future[ToolDispatchResult], index: int) -> None:
            call = unclaimed.pop(index, None)  # whoever takes it runs it, so that it runs once
            if call is not None:
                try:
                    future.set_result(self.dispatch(call))
                except BaseException as error:  # an interrupt, for the caller
                    future.set_exception(error)

        try:
            for future, index in list(running.items()):
                # Each call gets a context of its own: one context cannot be entered twice.
                try:
                    pool.submit(copy_context().run, work, future, index)
                except RuntimeError:
                    # No more threads, or Python is shutting down: run it here. The pool may have
                    # queued it before it failed, and a worker of before may have taken it.
                    copy_context().run(work, future, index)
                    if future.done():
                        finish(index, future.result())
                        del running[future]
            for future in as_completed(running):
                finish(running[future], future.result())
                del running[future]
        except KeyboardInterrupt:
            for future, index in running.items():
                if future.done() and future.exception() is None:
                    finish(index, future.result())
            raise
        finally:  # after an interrupt, handlers that still run are left behind
            pool.shutdown(wait=False, cancel_futures=True)

    def _find(self, name: object) -> _Tool | None:
        # The type is asked, not the name: its __class__, or a subclass's __hash__, could raise.
        return self._tools.get(str.__str__(name)) if issubclass(type(name), str) else None

    def _no_such_tool(self, name: object) -> str:
        if not issubclass(type(name), str):
            return f"a tool's name is text, not {class_name(name)}"
        name = str.__str__(name)
        shown = name if len(name) <= MAX_NAME_SHOWN else f"{name[:MAX_NAME_SHOWN]}..."
        tools = list(self._tools)  # at once: another thread may be registering
        near = nearest(name, tools)
        hint = f" (did you mean {near!r}?)" if near else ""
        known = ", ".join(tools[:MAX_LISTED]) or "none"
        more = f" and {len(tools) - MAX_LISTED} more" if len(tools) > MAX_LISTED else ""
        return f"no tool is named {shown!r}{hint}; registered: {known}{more}"


@dataclass(frozen=True, slots=True)
class _Tool:
    """What the registry keeps of a registration: the spec, with its own schema, and the checks.

    model_schema: as JSON text, from which a detached copy is made faster than by copying.
    """

    spec: ToolSpec
    model_schema: str
    validator: ArgumentValidator
