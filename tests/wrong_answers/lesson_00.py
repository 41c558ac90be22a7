"""Wrong answers to lesson 00."""

from tests.wrong_answers import wrong

CODES = {"unknown_tool": "look up", "invalid_arguments": "validate", "execution_error": "run"}


@wrong("00.1", "Only here was the tool itself at work.")
def always_look_up(result):
    return "look up"


@wrong("00.1", "Two codes are mixed up.")
def mixed_up(result):
    swapped = CODES | {"unknown_tool": "validate", "invalid_arguments": "look up", None: "result"}
    return swapped[result.error_code]


@wrong("00.1", "which your dict does not hold")
def forgets_success(result):
    return CODES[result.error_code]


@wrong("00.1", "Nothing came back for a success.")
def says_nothing_of_success(result):
    return CODES.get(result.error_code)
