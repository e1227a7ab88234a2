"""A small server over HTTP that goes wrong with its sessions, or with clients that are slow or many. See `frame.py`."""

import itertools
import json
import os
import random
import select
import socket
import threading
import time

from frame import NAME, Handler, Server, flawed, local, said, tool

# A server that takes few sessions says 500 from here on; a correct one takes as many as there are.
FEW = 16
READING = threading.Lock()
notes = {}
# The session that was served last.
latest = []
# The same numbers in each process.
drawn = random.Random(7)
# Few, and none of them twice.
short = random.sample(range(10_000), 500)
numbers = itertools.count(1001)


def add(arguments):
    owned().append(arguments["text"])
    return said("noted")


def show(_):
    return said(json.dumps(owned()))


def owned():
    """The notes of the session, where each has its own."""
    return notes.setdefault(local.session if NAME in ["draws-the-same", "own-notes", "serves-without-session"] else "", [])


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
        if flawed("draws-the-same"):
            return "%032x" % drawn.getrandbits(128)
        if flawed("short-ids"):
            return "s%04d" % short.pop()
        return super().begin_session()

    def end_session(self, session):
        if not flawed("keeps-ended-sessions"):
            super().end_session(session)

    def is_known(self, session):
        return (flawed("serves-without-session") and session is None) or super().is_known(session)

    def call(self, identity, params, session=""):
        if session is None:
            session = latest[0]
        latest[:] = [session]
        return super().call(identity, params, session)

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


class Hasty(Handler):
    """Refuses a session before it has read what was asked under it."""

    def do_POST(self):
        session = self.headers.get("Mcp-Session-Id")
        if session and not self.server_of_ours.is_known(session):
            return self.reply(404)
        return super().do_POST()


class Fragile(Handler):
    """Ends where a client does not wait for its answer."""

    def reply(self, status, body=b"", session=None):
        ready, _, _ = select.select([self.connection], [], [], 0.15)
        if ready and self.is_gone():
            os._exit(3)
        return super().reply(status, body, session)

    def is_gone(self):
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except ConnectionResetError:
            return True


if flawed("leaves-bodies"):
    Sessions.handler = Hasty
if flawed("dies-of-hang-ups"):
    Sessions.handler = Fragile
if NAME == "forgets-answers":
    Sessions.handler = Numbered
Sessions(BOARD).serve()
