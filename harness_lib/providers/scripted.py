"""A scripted model behind the real SDK: no key, no network, the same code as in production.

Only the HTTP transport is replaced. Requests are built, sent and parsed by the Anthropic SDK, so
what a lesson shows is what a live model would be sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_lib.providers.referee import judge

if TYPE_CHECKING:
    import anthropic
    import httpx2


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the script.

    text: what the model says, before its calls; "" for nothing.
    calls: (name, arguments) pairs, which get an id in order; a mapping is sent as a block of its
        own, as it is: so a script can send what no well-behaved model would. Kept as a tuple.
    stop_reason: None for the usual one: tool_use with calls, else end_turn.
    """

    text: str = ""
    calls: Iterable[tuple[str, object] | Mapping[str, object]] = ()
    stop_reason: str | None = None

    def __post_init__(self) -> None:
        # A generator would be empty when the same turn is played again.
        object.__setattr__(self, "calls", tuple(self.calls))


Request = dict[str, object]
Step = str | Turn | Callable[[Request], "str | Turn"]


class ScriptedModel:
    """Plays turns in order. A str is a final answer; a function reads the request and decides.

    turns: the script. When it runs out, the model answers 400 with a sentence that says so.
    requests: the bodies of all requests that it took a turn for, in order. One that the API
        would refuse gets a 400 from the referee, as from the API, and takes no turn.
    """

    def __init__(self, turns: Iterable[Step]) -> None:
        self._turns = list(turns)
        self._calls = 0
        self.requests: list[Request] = []

    def client(self) -> anthropic.Anthropic:
        """A real client of the SDK that talks to this script."""
        import anthropic  # slow to import, so on first use
        import httpx2

        transport = httpx2.MockTransport(self._answer)
        return anthropic.Anthropic(
            api_key="offline",
            base_url="http://scripted.invalid",
            http_client=httpx2.Client(transport=transport),
            max_retries=0,
        )

    def _answer(self, http_request: httpx2.Request) -> httpx2.Response:
        """A response to any request; an exception would reach the caller as a lost connection."""
        if http_request.url.path != "/v1/messages":
            asked = f"{http_request.method} {http_request.url.path}"
            return _refusal(f"a scripted model answers POST /v1/messages alone, not {asked}")
        try:
            request = json.loads(http_request.content)
            fault = judge(request)
            if not fault and request.get("stream"):
                fault = "stream: a scripted model answers in one piece; leave `stream` out"
        except Exception as error:
            fault = f"the request cannot be judged: {type(error).__name__}: {error}"
        if fault:
            return _refusal(fault)
        number = len(self.requests) + 1
        if number > len(self._turns):
            return _refusal(
                f"the script has {len(self._turns)} turns and this is request {number}: "
                "add a turn to the ScriptedModel, or look why the loop asked again"
            )
        self.requests.append(request)
        step = self._turns[number - 1]
        try:
            turn = step(request) if callable(step) else step
        except Exception as error:
            return _refusal(f"the function of turn {number} raised {type(error).__name__}: {error}")
        try:
            return _reply(200, self._message(request, turn))
        except Exception as error:
            return _refusal(f"turn {number} cannot be sent: {type(error).__name__}: {error}")

    def _message(self, request: Request, turn: object) -> dict[str, object]:
        if isinstance(turn, str):
            turn = Turn(turn)
        if not isinstance(turn, Turn):
            raise TypeError(f"a turn is a str or a Turn, not {type(turn).__name__}")
        content: list[Mapping[str, object]] = []
        if turn.text:
            content.append({"type": "text", "text": turn.text})
        for call in turn.calls:
            if not isinstance(call, Mapping):
                if not isinstance(call, (tuple, list)) or len(call) != 2:
                    raise TypeError(f"a call is (name, arguments) or a mapping, not {call!r}")
                self._calls += 1
                name, arguments = call
                tool_use_id = f"toolu_{self._calls:02}"
                call = {"type": "tool_use", "id": tool_use_id, "name": name, "input": arguments}
            content.append(call)
        has_calls = any(block.get("type") == "tool_use" for block in content)
        return {
            "id": f"msg_{len(self.requests):02}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            "content": content,
            "stop_reason": turn.stop_reason or ("tool_use" if has_calls else "end_turn"),
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }


def _refusal(message: str) -> httpx2.Response:
    """A 400 in the API's own shape, from which the SDK makes its BadRequestError."""
    error = {"type": "invalid_request_error", "message": message}
    return _reply(400, {"type": "error", "error": error, "request_id": "req_offline"})


def _reply(status: int, body: dict[str, object]) -> httpx2.Response:
    import httpx2

    return httpx2.Response(status, content=json.dumps(body).encode())
