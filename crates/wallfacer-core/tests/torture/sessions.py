"""A small server over HTTP that goes wrong with its sessions, or with clients that are slow or many. See `frame.py`."""

import itertools
import json
import random
import threading
import time

from frame import NAME, Handler, Server, flawed, said, tool

# A server that takes few sessions says 500 from here on; a correct one takes as many as there are.
FEW = 16
READING = threading.Lock()
notes = []
numbers = itertools.count(1001)


def add(arguments):
    notes.append(arguments["text"])
    return said("noted")


def show(_):
    return said(json.dumps(notes))


TEXT = {"text": {"type": "string", "minLength": 1}}
BOARD = {
    "add_note": tool(add, "Adds a note to the board.", TEXT, ["text"]),
    "list_notes": tool(show, "Lists the notes.", {}, []),
}


class Sessions(Server):
    def begin_session(self):
        if flawed("takes-few-sessions") and len(self.sessions) >= FEW:
            return None
        if flawed("counts-sessions"):
            return "session-%d" % next(numbers)
        if flawed("short-ids"):
            return "s%04d" % random.randrange(10_000)
        return super().begin_session()

    def end_session(self, session):
        if not flawed("keeps-ended-sessions"):
            super().end_session(session)

    def stale(self):
        return 500 if flawed("fails-on-old-sessions") else 404

    def is_foreign(self, origin):
        return not flawed("takes-any-page") and super().is_foreign(origin)

    def read(self, body, length):
        if not flawed("waits-for-slow-bodies"):
            return super().read(body, length)
        with READING:
            return super().read(body, length)


class Numbered(Handler):
    """Answers with events that have numbers, so that whoever loses the connection may ask for the rest."""

    answers = {}

    def stream(self, *events, session=None):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        for event in events:
            self.wfile.write(event)
            self.wfile.flush()
            time.sleep(0.05)

    def reply(self, status, body=b"", session=None):
        if status != 200 or not body:
            return super().reply(status, body, session)
        number = next(numbers)
        self.answers[str(number)] = body
        return self.stream(b"id: %d\ndata:\n\n" % number, b"data: " + body + b"\n\n", session=session)

    def do_GET(self):
        answer = self.answers.get(self.headers.get("Last-Event-ID"))
        if answer is None or flawed("forgets-answers"):
            return self.reply(405)
        return self.stream(b"data: " + answer + b"\n\n")


if NAME == "forgets-answers":
    Sessions.handler = Numbered
Sessions(BOARD).serve()
