"""`python -m harness_lib --demo` runs the whole boundary offline; without it, a live prompt."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path

from harness_lib.globbing import harmless
from harness_lib.loop import LoopStopReason, agent_loop
from harness_lib.providers.live import NotConfigured, live_client, live_model
from harness_lib.registry import ToolRegistry
from harness_lib.result import ToolDispatchResult
from harness_lib.tools import workspace_tools

SYSTEM = (
    "You work on the files of one workspace through tools. Paths are relative to the workspace. "
    "Prefer the dedicated tools to bash. A tool's error says what to mend; read it and try again."
)

MAX_SHOWN_LINES = 12
"""How many lines of a result the prompt shows."""


def main(argv: list[str] | None = None) -> int:
    """Run the demo or the live prompt; the exit status is 2 where something has to be set."""
    parser = argparse.ArgumentParser(
        prog="python -m harness_lib",
        description="The tool-dispatch boundary of an agent harness.",
    )
    parser.add_argument("--demo", action="store_true", help="play a scripted conversation, offline")
    parser.add_argument("--workdir", default=".", help="the workspace (default: this folder)")
    parser.add_argument("--model", help="a model id (default: ANTHROPIC_MODEL)")
    options = parser.parse_args(argv)
    if options.demo:
        from harness_lib.demo import run_demo

        print(run_demo())
        return 0
    try:
        model = options.model or live_model()
        client = live_client()
        registry = ToolRegistry(workspace_tools(Path(options.workdir)))
    except (NotConfigured, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return converse(client, model, registry)


def converse(client: object, model: str, registry: ToolRegistry) -> int:
    """The live prompt: the history is kept, and Ctrl-C stops a turn, not the program."""
    import anthropic

    print("Ask for something; Ctrl-C stops a turn, q or Ctrl-D leaves.")
    messages: list[dict[str, object]] = []
    while True:
        try:
            text = input("> ").strip()
        except KeyboardInterrupt:
            print("\n(q or Ctrl-D leaves)")
            continue
        except (EOFError, RuntimeError):  # the latter where there is no stdin at all
            print()
            return 0
        if text in ("q", "quit", "exit"):
            return 0
        if not text:
            continue
        messages.append({"role": "user", "content": text})
        try:
            outcome = agent_loop(
                messages,
                registry=registry,
                client=client,
                model=model,
                system=SYSTEM,
                max_turns=25,
                on_result=show_result,
            )
        except KeyboardInterrupt:
            print("\n(stopped)")
        except anthropic.AnthropicError as error:
            print(f"The model could not be asked: {harmless(one_line(error))}")
        except Exception as error:  # an answer that is no JSON: the SDK lets its parser's pass
            kind = type(error).__name__
            print(f"The model's answer could not be read: {harmless(one_line(f'{kind}: {error}'))}")
        else:
            why = f"(no text; the provider says: {outcome.provider_stop_reason or 'nothing'})"
            print(harmless(outcome.final_text or why))
            if outcome.stop_reason is not LoopStopReason.FINAL_ANSWER:
                print(f"(ended by {outcome.stop_reason})")


def show_result(index: int, result: ToolDispatchResult) -> None:
    """One call and the first lines of its result, as it comes."""
    print(f"  [{index + 1}] {harmless(one_line(f'{result.call.name} {result.call.arguments}'))}")
    lines = result.content.splitlines()
    for line in lines[:MAX_SHOWN_LINES]:
        print(f"      {harmless(line)}")
    if len(lines) > MAX_SHOWN_LINES:
        print(f"      ... {len(lines) - MAX_SHOWN_LINES} more lines")


def one_line(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 300 else f"{text[:297]}..."


def run() -> int:
    """`main` as a command: odd bytes, a closed pipe and Ctrl-C do not end in a traceback."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):  # None where the shell has closed it
            stream.reconfigure(errors=errors)
    try:
        status = main()
        print(end="", flush=True)  # here, and not at exit, where nobody could catch its error
    except BrokenPipeError:  # `| head`; what is still buffered has to go somewhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("\n(stopped)", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(run())
