"""Lesson 02, otherwise."""

import itertools
import re


def read_lines(text, limit=None):
    pieces = text.split("\n")
    ends = [piece + "\n" for piece in pieces[:-1]]
    if pieces[-1]:
        ends.append(pieces[-1])
    if limit is None or limit >= len(ends):
        return text
    out = ""
    for line in itertools.islice(ends, limit):
        out += line
    rest = len(ends) - limit
    return out + ("[1 more line]" if rest == 1 else "[" + str(rest) + " more lines]")


def grep_lines(text, pattern):
    out = ""
    number = 0
    for line in text.split("\n"):
        number += 1
        if re.search(re.escape(pattern), line):
            out += ("\n" if out else "") + str(number) + ": " + line
    if out == "":
        return "no match for " + repr(pattern)
    return out


def drift(tools, handlers):
    names = []
    for tool in tools:
        names.append(tool["name"])
    told = [name for name in names if name not in handlers]
    runs = [name for name in handlers if name not in names]
    told.sort()
    runs.sort()
    return told, runs


ANSWERS = {"02.1": read_lines, "02.2": grep_lines, "02.3": drift}
