"""What a pattern in a schema means: ECMA-262's, as Python's re spells it. Built in lesson 05.

JSON Schema's patterns are JavaScript's. The two languages differ little, and each difference
could let through what the schema's author refused: so each is translated here, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_HEX = "[0-9a-fA-F]"
_ESCAPE = (
    rf"\\u\{{0*(?:10{_HEX}{{4}}|{_HEX}{{1,5}})\}}"
    rf"|\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|\\u{_HEX}{{4}}"
    rf"|\\x{_HEX}{{2}}|\\c[a-zA-Z]|\\."
)
_PIECE = re.compile(
    r"(?P<set>\[\^?(?:\\.|[^\]\\])*\])"
    r"|\\(?P<number>[1-9][0-9]*)|\\k<(?P<name>[^\W\d]\w*)>"
    rf"|(?P<escape>{_ESCAPE})"
    r"|(?P<group>\((?!\?)|\(\?<(?=[^\W\d]\w*>))|\(\?(?:[:=!]|<[=!])"
    r"|(?P<other>\(\?.?|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\+|\[)"
    r"|\{(?=,[0-9]*\})|[$.]",
    re.DOTALL,
)
"""What may differ between ECMA-262 and Python; `other` is what ECMA-262 does not have."""

_ATOMS = re.compile(f"({_ESCAPE}|.)(?:-({_ESCAPE}|.))?", re.DOTALL)
"""Within a set of characters: one of them, or two that may be the ends of a range."""

_IN_A_SET = {
    "d": "0-9",
    "w": "A-Z_a-z0-9",
    "s": r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
    "D": r"\x00-/:-\U0010ffff",
    "W": r"\x00-/:-@\[-\^`{-\U0010ffff",
    "S": r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
    r"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff",
}
_ELSEWHERE = {"b": r"(?a:\b)", "B": r"(?!(?a:\b))"} | {c: f"[{s}]" for c, s in _IN_A_SET.items()}
_AS_A_WHOLE = {
    "$": r"\Z",
    ".": r"[^\n\r\u2028\u2029]",
    "[]": r"[^\x00-\U0010ffff]",
    "[^]": r"[\x00-\U0010ffff]",
    "{": r"\{",
    "(?<": "(?P<",
}


class Pattern(str):
    """A pattern as it was written, which searches as JSON Schema means it: as ECMA-262 does.

    There `$` is the very end, where Python's lets a newline follow; \\d, \\w and \\b are ASCII;
    \\s and the dot differ in a few characters. What Python cannot read (\\p{L}) raises re.error,
    and so does what it alone can: flags, possessive quantifiers, groups and escapes of its own.
    """

    def __init__(self, written: str) -> None:
        groups = sum(piece["group"] is not None for piece in _PIECE.finditer(written))
        translated = _PIECE.sub(lambda piece: _in_python(piece, groups), written)
        self.search = re.compile(translated).search


def _in_python(piece: re.Match, groups: int) -> str:
    """A piece of a pattern with so many groups, as Python spells what ECMA-262 means by it."""
    text, kind = piece[0], piece.lastgroup
    if text in _AS_A_WHOLE:
        return _AS_A_WHOLE[text]
    if kind == "set":
        start = "[^" if text[1] == "^" else "["
        return f"{start}{_ATOMS.sub(_atoms_in_python, text[len(start) : -1])}]"
    if kind == "escape":
        return _escape_in_python(text, _ELSEWHERE)
    if kind == "number":  # of a group that took no part, the empty text
        if int(text[1:3]) > groups or len(text) > 3:
            raise re.error(f"{text} leads to no group")
        return f"(?({text[1:]}){text})"
    if kind == "name":
        return f"(?({piece['name']})(?P={piece['name']}))"
    if kind == "other":
        if text == "[":
            raise re.error("a [ has no ]")
        is_flag = text[:2] == "(?" and text[2:] in [*"aiLmsux-"]
        raise re.error(f"{'flags in a pattern are' if is_flag else f'{text} is'} not JSON Schema's")
    return text


def _atoms_in_python(atoms: re.Match) -> str:
    first, last = (atom and _escape_in_python(atom, _IN_A_SET) for atom in atoms.groups())
    if last is None:
        return first
    between = r"\-" if any(atom[1:] in _IN_A_SET for atom in atoms.groups()) else "-"
    return first + between + last


def _escape_in_python(text: str, meanings: Mapping[str, str]) -> str:
    """An escape, or in a set a bare character: escaped, since Python warns of some pairs."""
    if text[0] != "\\":
        return re.escape(text)
    if text[:3] == r"\u{":
        return re.escape(chr(int(text[3:-1], 16)))
    if len(text) == 12:  # two halves of one character
        return re.escape(bytes.fromhex(text[2:6] + text[8:]).decode("utf-16-be"))
    if text[1] == "c" and len(text) > 2:
        return re.escape(chr(ord(text[2]) % 32))
    if text[1] in "AZaNU":
        raise re.error(f"{text} is not JSON Schema's")
    return meanings.get(text[1], text)
