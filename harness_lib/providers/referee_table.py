"""The referee's rules as one table: request, verdict, rule, source.

`python -m harness_lib.providers.referee_table` replays it against the live API when a key is set,
and prints where the two differ. No row has been verified live yet: each says where it is known
from instead.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from harness_lib.providers.referee import judge

DOCS = "Anthropic's documentation of tool use and the Messages API; not verified live"
SDK = "the parameter types of Anthropic's SDK; not verified live"


def seen(where: str) -> str:
    return f"an error of the API quoted in {where}; not verified live"


@dataclass(frozen=True, slots=True)
class Row:
    """One request (its messages and tools), whether the API takes it, and why we think so."""

    rule: str
    accepted: bool
    source: str
    messages: tuple[dict, ...]
    tools: tuple[dict, ...] = ()

    def request(self) -> dict[str, object]:
        request: dict[str, object] = {"messages": list(self.messages)}
        return request | ({"tools": list(self.tools)} if self.tools else {})


def user(*content: object) -> dict:
    return {"role": "user", "content": _content(content)}


def assistant(*content: object) -> dict:
    return {"role": "assistant", "content": _content(content)}


def _content(content: tuple) -> object:
    return content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def use(tool_use_id: object = "a", name: object = "tool", **fields: object) -> dict:
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": {}} | fields


def result(tool_use_id: object = "a", content: object = "ok", **fields: object) -> dict:
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": content} | fields


def tool(name: object = "tool", schema: object = None, **fields: object) -> dict:
    schema = {"type": "object", "properties": {}} if schema is None else schema
    return {"name": name, "description": "A tool.", "input_schema": schema} | fields


GO = user("go")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
}
DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "words"},
}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search"}
HIDDEN = {"type": "redacted_thinking", "data": "EmwKAhgB"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "EqQBCgIYAhIM"}
T = (tool(),)


def refused(rule: str, source: str, *messages: dict, tools: tuple[dict, ...] = T) -> Row:
    return Row(rule, False, source, messages, tools)


def accepted(rule: str, source: str, *messages: dict, tools: tuple[dict, ...] = T) -> Row:
    return Row(rule, True, source, messages, tools)


def schema(rule: str, source: str, input_schema: object) -> Row:
    return refused(rule, source, GO, tools=(tool(schema=input_schema),))


PAIRING = seen("anthropics/claude-code#3860")
IDS = seen("maximhq/bifrost#5097")
EMPTY = seen("anthropics/claude-code#59812")
UNSIGNED = seen("lbjlaq/Antigravity-Manager#1650")
SERVER_IDS = seen("ding113/claude-code-hub#470")
SERVER_PAIRING = seen("anthropics/claude-code#80439")
UNKNOWN_FIELD = seen("langchain-ai/langchain#31208")


def said(*blocks: object) -> tuple[dict, ...]:
    """A finished turn of the model that holds these blocks."""
    return GO, assistant(*blocks, text("so")), user("next")


ROWS = (
    # Calls and results belong together.
    refused("a call without its result", PAIRING, GO, assistant(use()), user("next")),
    refused("a call at the end", PAIRING, GO, assistant(use())),
    refused("one of two results is missing", PAIRING, GO, assistant(use("a"), use("b")), user(result("a"))),
    refused("a result without a call", DOCS, GO, assistant("hi"), user(result("a"))),
    refused("a result for another id", DOCS, GO, assistant(use("a")), user(result("a"), result("b"))),
    refused("a result one turn too late", PAIRING, GO, assistant(use()), user("wait"), assistant("hm"), user(result())),
    refused("text before the results", DOCS, GO, assistant(use()), user(text("first"), result())),
    refused("a user message before the results", DOCS, GO, assistant(use()), user("first"), user(result())),
    refused("two results for one call", DOCS, GO, assistant(use()), user(result(), result())),
    refused("a result in an assistant turn", DOCS, GO, assistant(use(), result()), user("next")),
    refused("a call in a user turn", DOCS, user(use())),
    # Ids, names and inputs.
    refused("one id twice in a turn", seen("trycua/cua#524"), GO, assistant(use("a"), use("a")), user(result("a"), result("a"))),
    refused("one id in two turns", seen("trycua/cua#524"), GO, *[assistant(use("a")), user(result("a"))] * 2),
    *(
        refused(f"the id {bad!r}", IDS, GO, assistant(use(bad)), user(result(bad)))
        for bad in ("", "a b", "functions.Bash:0", "ü", "a\n")
    ),
    refused("a name of 201 characters in the history", seen("anthropics/claude-code#2673"), GO, assistant(use("a", "x" * 201)), user(result())),
    *(
        refused(f"input that is {kind}", DOCS, GO, assistant(use(input=bad)), user(result()))
        for kind, bad in {"a list": ["oops"], "text": "{}", "null": None}.items()
    ),
    # Content.
    refused("an error without content", DOCS, GO, assistant(use()), user(result(content="", is_error=True))),
    refused("an error with an empty list", DOCS, GO, assistant(use()), user(result(content=[], is_error=True))),
    refused("an empty user message", EMPTY, user("")),
    refused("an empty list of blocks", EMPTY, user(), assistant("hi"), user("go")),
    refused("an empty assistant turn inside", EMPTY, GO, assistant(), user("next")),
    refused("an empty text", EMPTY, user(text(""))),
    refused("a text of white space", EMPTY, user(text(" \n"))),
    refused("an empty text beside a call", seen("coasys/ad4m#996"), GO, assistant(text(""), use()), user(result())),
    refused("no messages", DOCS),
    refused("an assistant's message first", DOCS, assistant("hi"), user("go")),
    refused("another role", DOCS, {"role": "tool", "content": "ok"}),
    refused("a final turn that ends in white space", DOCS, GO, assistant("The answer is ")),
    refused("a final turn that ends in a thought", seen("tailcallhq/forgecode#2107"), GO, assistant(HIDDEN)),
    refused("a field of a result that is none", DOCS, GO, assistant(use()), user(result(name="tool"))),
    refused("a field of a message that is none", DOCS, {**GO, "tool_call_id": "a"}),
    refused("a result whose content is an object", DOCS, GO, assistant(use()), user(result(content={"a": 1}))),
    refused("a result whose content is a number", DOCS, GO, assistant(use()), user(result(content=5))),
    refused("a result in a result", DOCS, GO, assistant(use()), user(result(content=[result()]))),
    refused("is_error that is text", DOCS, GO, assistant(use()), user(result(is_error="yes"))),
    refused("a block whose type is empty", DOCS, *said({"type": ""})),
    refused("an image without source", SDK, user({"type": "image"})),
    refused("a field of a text that is none", UNKNOWN_FIELD, *said(text("a") | {"index": 0})),
    refused("a field of a call that is none", UNKNOWN_FIELD, GO, assistant(use(index=1)), user(result())),
    refused("a system message with a call", SDK, GO, {"role": "system", "content": [use()]}),
    # Thoughts.
    refused("a thought without signature", UNSIGNED, *said({"type": "thinking", "thinking": "hm"})),
    *(
        refused(f"a thought with {field} {bad!r}", SDK, *said(THOUGHT | {field: bad}))
        for field, bad in (("signature", ""), ("signature", None), ("signature", 5), ("thinking", None))
    ),
    refused("a thought without words", seen("LibreChat-AI/agents#279"), *said({"type": "thinking", "signature": "EqQB"})),
    refused("a hidden thought without data", seen("diegosouzapw/OmniRoute#2191"), *said({"type": "redacted_thinking"})),
    refused("a hidden thought with empty data", SDK, *said(HIDDEN | {"data": ""})),
    refused("a thought of the user", DOCS, user(THOUGHT, text("go"))),
    refused("a thought in a result", SDK, GO, assistant(use()), user(result(content=[THOUGHT]))),
    # Tools that the provider runs.
    refused("a server tool's use without its result", seen("AnswerDotAI/lisette#108"), GO, assistant(SEARCH), user("next")),
    refused("a server tool's result without its use", SERVER_PAIRING, *said(FOUND)),
    refused("a server tool's result before its use", SERVER_PAIRING, *said(FOUND, SEARCH)),
    refused("a server tool's result for a call of ours", SERVER_PAIRING, GO, assistant(use(), FOUND | {"tool_use_id": "a"}), user(result())),
    refused("a server tool's use by the user", DOCS, user(SEARCH, FOUND)),
    refused("a server tool's use in a result", SDK, GO, assistant(use()), user(result(content=[SEARCH]))),
    *(
        refused(f"the server tool's id {bad!r}", SERVER_IDS, *said(SEARCH | {"id": bad}, FOUND | {"tool_use_id": bad}))
        for bad in ("", "toolu_1", "srvtoolu_a-b", None, ["a"], {"a": 1})
    ),
    refused("a server tool's input that is a list", SDK, *said(SEARCH | {"input": []}, FOUND)),
    # Tools.
    refused("a description that is no text", DOCS, GO, tools=(tool(description=5),)),
    *(
        refused(f"the tool name {bad[:8]!r} of {len(bad)}", seen("anthropics/claude-code#96152"), GO, tools=(tool(bad),))
        for bad in ("", "a.b", "a b", "é", "x" * 129)
    ),
    refused("two tools of one name", DOCS, GO, tools=(tool(), tool())),
    refused("a field of a tool that is none", seen("mangowhoiscloud/geode#152"), GO, tools=(tool(category="files"),)),
    refused("the same with its type", SDK, GO, tools=(tool(type="custom", category="files"),)),
    schema("a schema without type", DOCS, {"properties": {}}),
    schema("a schema of another type", DOCS, {"type": "array"}),
    schema("anyOf at the root", DOCS, {"type": "object", "anyOf": [{"required": ["a"]}]}),
    schema("oneOf at the root", DOCS, {"type": "object", "oneOf": [{"required": ["a"]}]}),
    schema("allOf at the root", DOCS, {"type": "object", "allOf": [{"required": ["a"]}]}),
    schema("a property name with a space", DOCS, {"type": "object", "properties": {"a b": {}}}),
    schema("a property name of 65 characters", DOCS, {"type": "object", "properties": {"a" * 65: {}}}),
    schema("an unknown type", DOCS, {"type": "object", "properties": {"a": {"type": "str"}}}),
    schema("items as a list", DOCS, {"type": "object", "properties": {"a": {"items": [{}]}}}),
    # Odd, but the API takes them.
    accepted("plain", DOCS, GO, assistant(use()), user(result()), assistant("done")),
    accepted("consecutive user messages", DOCS, GO, user("and"), user("more")),
    accepted("consecutive assistant messages", DOCS, GO, assistant("one"), assistant("two")),
    accepted("results, then a user message", DOCS, GO, assistant(use()), user(result()), user("next")),
    accepted("results in two user messages", DOCS, GO, assistant(use("a"), use("b")), user(result("a")), user(result("b"))),
    accepted("text after the results", DOCS, GO, assistant(use()), user(result(), text("and?"))),
    accepted("results in another order", DOCS, GO, assistant(use("a"), use("b")), user(result("b"), result("a"))),
    accepted("a result with empty content", DOCS, GO, assistant(use()), user(result(content=""))),
    accepted("a result without content", DOCS, GO, assistant(use()), user({"type": "tool_result", "tool_use_id": "a"})),
    accepted("a result of blocks", DOCS, GO, assistant(use()), user(result(content=[text("ok")]))),
    accepted("a result with an image", DOCS, GO, assistant(use()), user(result(content=[IMAGE]))),
    accepted("a result with a document", DOCS, GO, assistant(use()), user(result(content=[DOCUMENT]))),
    accepted("an error with content", DOCS, GO, assistant(use()), user(result(is_error=True))),
    accepted("is_error false", DOCS, GO, assistant(use()), user(result(is_error=False))),
    accepted("text before a call", DOCS, GO, assistant(text("look"), use()), user(result())),
    accepted("text after a call", DOCS, GO, assistant(use(), text("wait")), user(result())),
    accepted("a thought before a text", DOCS, GO, assistant(HIDDEN, text("hi")), user("next")),
    accepted("a thought at the end of an earlier turn", DOCS, GO, assistant(text("a"), HIDDEN), user("next")),
    accepted("a thought whose words the API left out", seen("LibreChat-AI/agents#279"), *said(THOUGHT | {"thinking": ""})),
    accepted("a text with citations and a cache mark", SDK, *said(text("a") | {"citations": [], "cache_control": {"type": "ephemeral"}})),
    accepted("a call with its caller", SDK, GO, assistant(use(caller={"type": "direct"})), user(result())),
    accepted("a call of a toolset", SDK, GO, assistant(use(toolset_name="browser")), user(result(toolset_name="browser"))),
    accepted("a block of a type that nobody knows", "we judge none: a new one of the API must go back; not verified live", *said({"type": "weird", "z": 1})),
    accepted("a result with a tool reference", SDK, GO, assistant(use()), user(result(content=[{"type": "tool_reference", "tool_name": "tool"}]))),
    accepted("a system message inside", SDK, GO, assistant(use()), user(result()), {"role": "system", "content": "Be brief."}, user("next")),
    accepted("a name in the history that no tool has", DOCS, GO, assistant(use("a", "git diff")), user(result())),
    accepted("a name of 200 characters in the history", seen("anthropics/claude-code#2673"), GO, assistant(use("a", "x" * 200)), user(result())),
    accepted("a server tool's use with its result", DOCS, GO, assistant(SEARCH, FOUND, text("so")), user("next"), tools=(WEB_SEARCH,)),
    accepted("an MCP tool's use with its result", f"the beta ones of {SDK}", *said({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "server_name": "s", "input": {}}, {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []})),
    accepted("a server tool's result that waited for ours", DOCS, GO, assistant(SEARCH, use()), user(result()), assistant(FOUND, text("so")), user("next"), tools=(*T, WEB_SEARCH)),
    accepted("a paused server tool at the end", DOCS, GO, assistant(SEARCH), tools=(WEB_SEARCH,)),
    accepted("a final empty assistant turn", DOCS, GO, assistant()),
    accepted("a final assistant turn to go on from", DOCS, GO, assistant("The answer is")),
    accepted("a tool name of 128 characters", seen("anthropics/claude-code#96152"), GO, tools=(tool("x" * 128),)),
    accepted("a tool of type custom", DOCS, GO, tools=(tool(type="custom"),)),
    accepted("a tool whose type is null", SDK, GO, tools=(tool(type=None),)),
    accepted("a tool with every field", SDK, GO, tools=(tool(strict=True, defer_loading=False, allowed_callers=["direct"], input_examples=[{}], eager_input_streaming=None, cache_control=None),)),
    accepted("a toolset, which has no name", SDK, GO, tools=({"type": "browser_toolset_20260801"}, {"type": "computer_toolset_20260801"})),
    accepted("an open schema", DOCS, GO, tools=(tool(schema={"type": "object"}),)),
    accepted("a property name with a dot", DOCS, GO, tools=(tool(schema={"type": "object", "properties": {"a.b-c_1": {}}}),)),
    accepted("an ECMA pattern", DOCS, GO, tools=(tool(schema={"type": "object", "properties": {"a": {"pattern": "^\\p{L}+$"}}}),)),
    accepted("no tools", DOCS, GO, tools=()),
)  # fmt: skip


def replay() -> int:
    """Send every row to the live API and print where it and the referee differ."""
    import anthropic

    from harness_lib.providers.live import NotConfigured, live_client, live_model

    try:
        client, model = live_client(), live_model()
    except NotConfigured as error:
        print(error, file=sys.stderr)
        return 2
    differences = 0
    for row in ROWS:
        try:
            client.messages.create(model=model, max_tokens=1, **row.request())
            answer = "accepted"
        except anthropic.BadRequestError as error:
            answer = f"refused: {error.message}"
        except anthropic.APIError as error:
            print(f"?  {row.rule}: no verdict, {error}")
            continue
        if answer.startswith("accepted") != row.accepted:
            differences += 1
            print(
                f"!= {row.rule}\n   table: {judge(row.request()) or 'accepted'}\n   live:  {answer}"
            )
    print(f"{len(ROWS)} rows, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(replay())
