#!/usr/bin/env python3
"""A small MCP server over stdio with six bugs, one in each tool. Python's standard library is all it needs.

Everything but the six bugs is meant to be right: arguments are checked, strange messages are refused politely.
"""

import json
import sys
import time

VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MOST_NOTES = 100
BOOKS = ["Emma", "Ulysses", "The Waves", "Middlemarch", "The Trial"]

notes = []


class Refused(Exception):
    """The arguments are not what the tool takes."""


# Reading arguments


def only(arguments, names):
    for name in arguments:
        if name not in names:
            raise Refused(f"`{name}` is not known")


def integer(arguments, name, least, most):
    value = arguments.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Refused(f"`{name}` must be an integer from {least} to {most}")
    return value


def text(arguments, name, longest):
    value = arguments.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        raise Refused(f"`{name}` must be a string of 1 to {longest} characters")
    return value


# The tools


def divide(arguments):
    """Crash: nobody thought of zero, and nobody catches what follows."""
    only(arguments, ["a", "b"])
    a = integer(arguments, "a", -1_000_000, 1_000_000)
    b = integer(arguments, "b", -1_000_000, 1_000_000)
    return said(str(a // b))


def search(arguments):
    """Hang: pages of no size never come to an end."""
    only(arguments, ["query", "page_size"])
    query = text(arguments, "query", 100)
    size = integer(arguments, "page_size", 0, 50)
    found, offset = [], 0
    while offset < len(BOOKS):
        found += [title for title in BOOKS[offset : offset + size] if query.lower() in title.lower()]
        offset += size
        time.sleep(0.001)
    return said(", ".join(found) or "nothing found")


def weather(arguments):
    """Schema violation: the temperature is promised as a number."""
    only(arguments, ["city"])
    city = text(arguments, "city", 100)
    return structured({"city": city, "temperature": "21.5"})


def discount(arguments):
    """Property failure: the discount is taken twice, so that more than half makes the price negative."""
    only(arguments, ["price", "percent"])
    price = integer(arguments, "price", 0, 1_000_000)
    percent = integer(arguments, "percent", 0, 100)
    return structured({"total": price - 2 * price * percent / 100})


def export(arguments):
    """Protocol error: what was meant for a file goes to standard output, in place of the reply."""
    only(arguments, ["format"])
    kind = arguments.get("format")
    if kind == "json":
        return said(json.dumps(BOOKS))
    if kind == "csv":
        print("number,title")
        for number, title in enumerate(BOOKS, 1):
            print(f"{number},{title}")
        sys.stdout.flush()
        return None
    raise Refused("`format` must be json or csv")


def take_notes(arguments):
    """State leak: notes are kept for a session, and given to all."""
    only(arguments, ["session", "add"])
    session = text(arguments, "session", 40)
    if "add" in arguments:
        notes.append((session, text(arguments, "add", 200)))
        del notes[:-MOST_NOTES]
    return structured({"notes": [note for _, note in notes]})


def schema(required, **properties):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def bounded(least, most):
    return {"type": "integer", "minimum": least, "maximum": most}


def string(longest):
    return {"type": "string", "minLength": 1, "maxLength": longest}


TOOLS = {
    "divide": {
        "run": divide,
        "description": "Divides one integer by another, rounding down.",
        "inputSchema": schema(["a", "b"], a=bounded(-1_000_000, 1_000_000), b=bounded(-1_000_000, 1_000_000)),
    },
    "search": {
        "run": search,
        "description": "Finds the books whose title holds the query.",
        "inputSchema": schema(["query", "page_size"], query=string(100), page_size=bounded(0, 50)),
    },
    "weather": {
        "run": weather,
        "description": "Tells the temperature in a city, in degrees Celsius.",
        "inputSchema": schema(["city"], city=string(100)),
        "outputSchema": schema(
            ["city", "temperature"], city={"type": "string"}, temperature={"type": "number"}
        ),
    },
    "discount": {
        "run": discount,
        "description": "Takes a discount off a price.",
        "inputSchema": schema(["price", "percent"], price=bounded(0, 1_000_000), percent=bounded(0, 100)),
        "outputSchema": schema(["total"], total={"type": "number"}),
    },
    "export": {
        "run": export,
        "description": "Exports the list of books.",
        "inputSchema": schema(["format"], format={"type": "string", "enum": ["json", "csv"]}),
    },
    "notes": {
        "run": take_notes,
        "description": "Gives the notes of a session, after adding one if there is one to add. "
        "Notes are private to their session.",
        "inputSchema": schema(["session"], session=string(40), add=string(200)),
        "outputSchema": schema(["notes"], notes={"type": "array", "items": {"type": "string"}}),
    },
}


def said(words):
    return {"content": [{"type": "text", "text": words}]}


def structured(value):
    return {**said(json.dumps(value)), "structuredContent": value}


# The protocol


def answer(method, params):
    """The result, an error as (code, message), or None where the tool has written for itself."""
    if method == "initialize":
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "six-bugs", "version": "1.0.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        shown = [{"name": name, **tool} for name, tool in TOOLS.items()]
        return {"tools": [{key: value for key, value in tool.items() if key != "run"} for tool in shown]}
    if method == "tools/call":
        return call(params)
    return -32601, f"there is no method `{method}`"


def call(params):
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or name not in TOOLS:
        return -32602, "there is no such tool"
    if not isinstance(arguments, dict):
        return -32602, "`arguments` must be an object"
    try:
        return TOOLS[name]["run"](arguments)
    except Refused as refused:
        return {**said(str(refused)), "isError": True}


def reply(identity, result):
    if isinstance(result, tuple):
        body = {"error": {"code": result[0], "message": result[1]}}
    else:
        body = {"result": result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": identity, **body}) + "\n")
    sys.stdout.flush()


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def handle(line):
    try:
        message = json.loads(line.decode(), parse_constant=no_constant)
        # Half of a surrogate pair can be escaped in JSON, but is no text.
        json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return reply(None, (-32700, "this is not JSON"))
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return reply(None, (-32600, "this is no request"))
    method, identity = message.get("method"), message.get("id")
    if "id" not in message or "method" not in message:
        return None
    if not isinstance(identity, (str, int)) or isinstance(identity, bool) or not isinstance(method, str):
        return reply(None, (-32600, "this is no request"))
    params = message.get("params", {})
    if not isinstance(params, dict):
        return reply(identity, (-32602, "`params` must be an object"))
    result = answer(method, params)
    if result is not None:
        reply(identity, result)
    return None


def main():
    for line in sys.stdin.buffer:
        if line.strip():
            handle(line)


if __name__ == "__main__":
    main()
