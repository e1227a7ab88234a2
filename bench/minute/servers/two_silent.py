"""A server with ten tools, two of which never answer. Everything else is answered all the while."""

from small_server import Silent, serve, tool

TEXT = {"type": "string", "maxLength": 1000, "description": "A text"}


def never(given):
    raise Silent


serve("two-silent", [
    tool("wait_for_reply", "Says a text to somebody", {"text": TEXT}, never),
    tool("fetch_status", "Asks how things are", {}, never),
    *[
        tool(f"echo_{number}", f"Says a text again, {number} times", {"text": TEXT},
             lambda given, number=number: given["text"] * number)
        for number in range(1, 9)
    ],
])
