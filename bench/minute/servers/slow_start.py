"""A server that computes for so many seconds of processor time before it answers anything: `slow_start.py SECONDS`."""

import sys
import time

from small_server import serve, tool

TEXT = {"type": "string", "maxLength": 1000, "description": "A text"}
NUMBER = {"type": "integer", "minimum": -1000, "maximum": 1000, "description": "A number"}


def warm_up(seconds):
    while time.process_time() < seconds:
        sum(range(10_000))


warm_up(float(sys.argv[1]))
serve("slow-start", [
    tool("repeat", "Says a text again", {"text": TEXT}, lambda given: given["text"]),
    tool("reverse", "Turns a text round", {"text": TEXT}, lambda given: given["text"][::-1]),
    tool("add", "Adds two numbers", {"left": NUMBER, "right": NUMBER},
         lambda given: str(int(given["left"]) + int(given["right"]))),
    tool("words", "Counts the words of a text", {"text": TEXT}, lambda given: str(len(given["text"].split()))),
    tool("status", "Says how the server is", {}, lambda given: "fine"),
])
