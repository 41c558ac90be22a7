"""Wrong answers to lesson 01."""

import sys
import threading
from dataclasses import dataclass

from tests.wrong_answers import wrong


@dataclass
class Turn:
    text: str
    calls: list
    stop_reason: str | None


def calls_of(response):
    return [block for block in response.content if block.type == "tool_use"]


def text_of(response):
    return "".join(block.text for block in response.content if block.type == "text")


# --- the lesson's own piece -----------------------------------------------------------------------


@wrong("01.turn", "TypeError")
def always_one_call(response):
    calls = calls_of(response)
    return Turn(text_of(response), calls and calls[0], response.stop_reason)


@wrong("01.turn", "A text may come in parts.")
def first_text(response):
    text = next((block.text for block in response.content if block.type == "text"), "")
    return Turn(text, calls_of(response), response.stop_reason)


@wrong("01.turn", "The blocks are the turn")
def believes_the_stop_reason(response):
    calls = calls_of(response) if response.stop_reason == "tool_use" else []
    return Turn(text_of(response), calls, response.stop_reason)


@wrong("01.turn", "Its type is server_tool_use")
def takes_server_tools(response):
    calls = [block for block in response.content if block.type != "text"]
    if any(call.type == "server_tool_use" for call in calls):
        return Turn(text_of(response), ["it will be run twice"], response.stop_reason)
    return Turn(text_of(response), calls, response.stop_reason)


@wrong("01.turn", "Nothing is asked for, whatever the stop reason says.")
def takes_the_last_block_for_a_call(response):
    calls = response.content[-1:] if response.stop_reason == "tool_use" else []
    return Turn(text_of(response), calls, response.stop_reason)


@wrong("01.turn", "No call in it: the loop ends here.")
def makes_a_stop_reason_up(response):
    return Turn(text_of(response), calls_of(response), "tool_use")


# --- 01.1 -----------------------------------------------------------------------------------------


@wrong("01.1", "Nothing came back. Return True or False.")
def says_nothing(response):
    any(block.type == "tool_use" for block in response.content)


@wrong("01.1", "True or False is wanted")
def gives_the_calls(response):
    return calls_of(response)


@wrong("01.1", "True or False is wanted")
def gives_the_calls_as_a_tuple(response):
    return tuple(calls_of(response))


@wrong("01.1", "Having content is not asking for a tool.")
def any_content(response):
    return len(response.content) > 0


@wrong("01.1", "A call is in it, and was passed over")
@wrong("01.1", "with no result to send, and the API refuses that")
def asks_the_stop_reason(response):
    return response.stop_reason == "tool_use"


@wrong("01.1", "A call is in it, and was passed over")
def asks_both(response):
    return response.stop_reason == "tool_use" and bool(calls_of(response))


@wrong("01.1", "with no result to send, and the API refuses that")
def asks_either(response):
    return response.stop_reason == "tool_use" or bool(calls_of(response))


@wrong("01.1", "The call is the second block, and was passed over.")
@wrong("01.1", "There is no block to pick by its number.")
def looks_at_the_first(response):
    return response.content[0].type == "tool_use"


@wrong("01.1", "The call is the first block, and was passed over.")
def looks_at_the_last(response):
    return bool(response.content) and response.content[-1].type == "tool_use"


@wrong("01.1", "server_tool_use was taken for tool_use.")
def looks_for_the_word(response):
    return any("tool_use" in block.type for block in response.content)


@wrong("01.1", "An empty turn asks for nothing.")
def takes_all_for_any(response):
    return all(block.type != "text" for block in response.content)


# --- 01.2 -----------------------------------------------------------------------------------------


def result_of(call, run):
    output = run(call.input["command"])
    return {"type": "tool_result", "tool_use_id": call.id, "content": output}


def right(ask, run, messages, max_turns, **changes):
    """The right answer, with one thing done otherwise."""
    text = ""
    for _ in range(max_turns - changes.get("fewer", 0)):
        response = ask(messages)
        text = text_of(response)
        calls = calls_of(response)
        if changes.get("keeps", lambda calls: True)(calls):
            messages.append({"role": "assistant", "content": response.content})
        if changes.get("ends", lambda response, calls: not calls)(response, calls):
            return changes.get("pair", lambda text: ("final_answer", text))(text)
        results = [result_of(call, run) for call in calls]
        messages += changes.get("answers", in_one)(results)
    return changes.get("limit", lambda text: ("max_turns", text))(text)


def in_one(results):
    return [{"role": "user", "content": results}]


@wrong("01.2", 'Nothing came back. Return the pair ("final_answer", text).')
def returns_nothing(*args):
    right(*args)


@wrong("01.2", "The text alone came back.")
def returns_the_text(*args):
    return right(*args, pair=lambda text: text)


@wrong("01.2", "The last turn is not in the list that you were given.")
def forgets_the_last_turn(*args):
    return right(*args, keeps=bool)


@wrong("01.2", "Was it left out, or appended to a copy?")
@wrong("01.2", "The list that you were given is unchanged; did you copy it?")
def works_on_a_copy(ask, run, messages, max_turns):
    return right(ask, run, list(messages), max_turns)


@wrong("01.2", "a result that belongs to no call")
def forgets_turns_with_calls(*args):
    return right(*args, keeps=lambda calls: not calls)


@wrong("01.2", "Without a call the loop is over.")
def never_looks_for_an_end(*args):
    return right(*args, ends=lambda response, calls: False)


@wrong("01.2", "The call has no result in the history.")
def answers_nothing(*args):
    return right(*args, answers=lambda results: [])


@wrong("01.2", "It ended at a turn that holds a call.")
def one_question_only(*args):
    return right(*args, ends=lambda response, calls: True)


@wrong("01.2", "It has to be a tool_result block, with the id of its call.")
def answers_in_plain_text(*args):
    def plain(results):
        return [{"role": "user", "content": result["content"]} for result in results]

    return right(*args, answers=plain)


@wrong("01.2", "run was given the whole input of the call")
def runs_the_whole_input(ask, run, messages, max_turns):
    def run_input(command):
        return run({"command": command})

    return right(ask, run_input, messages, max_turns)


@wrong("01.2", "Only the first call was answered.")
def answers_the_first(*args):
    return right(*args, answers=lambda results: in_one(results[:1]))


@wrong("01.2", "Only the last call was answered")
def answers_the_last(*args):
    return right(*args, answers=lambda results: in_one(results[-1:]))


@wrong("01.2", "Each result has a user message of its own.")
def one_message_each(*args):
    return right(*args, answers=lambda results: [in_one([result])[0] for result in results])


@wrong("01.2", "so did the loop of the first cell")
@wrong("01.2", "The stop reason says tool_use, but no call is there.")
def believes_the_word(*args):
    return right(*args, ends=lambda response, calls: response.stop_reason != "tool_use")


@wrong("01.2", "and the model was asked a third time")
def has_no_limit(ask, run, messages, max_turns):
    return right(ask, run, messages, 1_000)


@wrong("01.2", "One turn too few: the model was asked once")
@wrong("01.2", "max_turns=2 lets the model speak twice")
def one_turn_too_few(*args):
    return right(*args, fewer=1)


@wrong("01.2", "The calls of the last turn have no results.")
def leaves_the_last_calls_open(ask, run, messages, max_turns):
    ended = right(ask, run, messages, max_turns)
    if ended[0] == "max_turns":
        messages.pop()
    return ended


@wrong("01.2", "takes half the work for all of it")
def calls_it_an_answer(*args):
    return right(*args, limit=lambda text: ("final_answer", text))


@wrong("01.2", "Nothing came back at the limit.")
def falls_off_the_end(*args):
    return right(*args, limit=lambda text: None)


@wrong("01.2", "a run that ended well is called unfinished")
def looks_at_the_limit_first(ask, run, messages, max_turns):
    ended = right(ask, run, messages, max_turns)
    turns = sum(message["role"] == "assistant" for message in messages)
    return ("max_turns", ended[1]) if turns == max_turns else ended


@wrong("01.2", "an endless loop, or a deadlock?")
def loops_for_ever(ask, run, messages, max_turns):
    response = ask(messages)
    while True:
        calls_of(response)


@wrong("01.2", "it tried to end the program (SystemExit)")
def exits_at_the_limit(*args):
    return right(*args, limit=sys.exit)


@wrong("01.2", "an endless loop, or a deadlock?")
def waits_for_its_own_lock(ask, run, messages, max_turns):
    lock = threading.Lock()

    def locked(command):
        with lock:
            return run(command)

    with lock:
        return right(ask, locked, messages, max_turns)


# --- 01.3 -----------------------------------------------------------------------------------------


def mark(count):
    return f"\n[... {count:,} characters left out ...]\n"


def cut(text, room, count=None):
    head = (room + 1) // 2
    tail = room - head
    count = len(text) - room if count is None else count
    return text[:head] + mark(count) + text[len(text) - tail :]


def room_for(text, limit):
    return limit - len(mark(len(text)))


@wrong("01.3", "one that fits goes back as it is")
def forgets_what_fits(text, limit):
    if len(text) > limit:
        return cut(text, room_for(text, limit))


@wrong("01.3", "It fits, so nothing is cut")
def cuts_at_the_limit(text, limit):
    return text if len(text) < limit else cut(text, room_for(text, limit))


@wrong("01.3", "who reads it takes it for all")
def cuts_in_silence(text, limit):
    return text[:limit]


@wrong("01.3", "The text's end does not stand after the mark.")
def keeps_the_head_alone(text, limit):
    if len(text) <= limit:
        return text
    room = room_for(text, limit)
    return text[:room] + mark(len(text) - room)


@wrong("01.3", "The text's end does not stand after the mark.")
def keeps_half_a_head_alone(text, limit):
    if len(text) <= limit:
        return text
    head = room_for(text, limit) // 2
    return text[:head] + mark(len(text) - head)


@wrong("01.3", "The text's end does not stand after the mark.")
def keeps_too_much_of_the_head(text, limit):
    return text if len(text) <= limit else text[:limit] + mark(len(text) - limit)


@wrong("01.3", "The text's end does not stand after the mark.")
def keeps_the_head_and_counts_what_is_over(text, limit):
    if len(text) <= limit:
        return text
    return text[: room_for(text, limit)] + mark(len(text) - limit)


@wrong("01.3", "that two equal halves of an odd room leave free")
def makes_equal_halves(text, limit):
    if len(text) <= limit:
        return text
    room = room_for(text, limit)
    half = room // 2
    return text[:half] + mark(len(text) - room) + text[len(text) - half :]


@wrong("01.3", "the whole text, less what you kept")
@wrong("01.3", "what the mark pushes out")
def counts_what_is_over(text, limit):
    return text if len(text) <= limit else cut(text, room_for(text, limit), len(text) - limit)


@wrong("01.3", "with it, the text is longer than the limit")
def forgets_the_room_of_the_mark(text, limit):
    return text if len(text) <= limit else cut(text, limit)


@wrong("01.3", "more was thrown away than need be")
def wastes_room(text, limit):
    return text if len(text) <= limit else cut(text, limit // 4)


@wrong("01.3", "A number of five digits takes a longer mark")
def fixes_the_room(text, limit):
    return text if len(text) <= limit else cut(text, limit - len(mark(1_000)))


@wrong("01.3", "an endless loop, or a deadlock?")
def shortens_for_ever(text, limit):
    while len(text) > limit:
        text = cut(text, len(text) - 1)
    return text
