"""A small server that answers each call on a thread of its own, over stdio or over HTTP with a session for each client.

    python3 server.py NAME [--fixed] [--http PORT]

NAME is one of the flaws below, or of the habits that look like one. `--fixed` plays the same server without the flaw.
"""

import json
import os
import random
import sys
import tempfile
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = sys.argv[1]
FIXED = "--fixed" in sys.argv
LOCK = threading.Lock()
OUT = threading.Lock()
STORE = os.path.join(tempfile.mkdtemp(), "items.json")
items = []
running = 0
total = 0
current = {"word": ""}
pending = {}
first, second = threading.Lock(), threading.Lock()


class Guard:
    """Holds the lock where the server is correct."""

    def __enter__(self):
        if FIXED:
            LOCK.acquire()

    def __exit__(self, *_):
        if FIXED:
            LOCK.release()


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def failed(text):
    return {**said(text), "isError": True}


def pause():
    time.sleep(0.01)


def load():
    if not os.path.exists(STORE):
        return []
    with open(STORE) as file:
        return json.load(file)


def add_to_file(arguments):
    with Guard():
        stored = load()
        pause()
        stored.append(arguments["text"])
        whole = STORE + "." + str(threading.get_ident())
        with open(whole, "w") as file:
            json.dump(stored, file)
        os.replace(whole, STORE)
    return said("added")


def add_in_pieces(arguments):
    with Guard():
        try:
            stored = load()
        except ValueError:
            stored = []
        text = json.dumps(stored + [arguments["text"]])
        with open(STORE, "w" if FIXED or not os.path.exists(STORE) else "r+") as file:
            for place in range(0, len(text), 8):
                file.seek(place)
                file.write(text[place : place + 8])
                file.flush()
                time.sleep(0.001)
            if not FIXED and running > 1:
                file.write("]")
    return said("added")


def list_file(_):
    with Guard():
        try:
            return said(json.dumps(load()))
        except ValueError:
            return failed("the list cannot be read")


def add(arguments):
    with LOCK:
        items.append(arguments["text"])
    return said("added")


def list_items(_):
    with LOCK:
        return said(json.dumps(items))


def list_latest(_):
    with LOCK:
        return said(json.dumps(items[-5:]))


def keep_one(arguments):
    with LOCK:
        items[:] = [arguments["text"]]
    return said("kept")


def look_up(arguments):
    if FIXED:
        word = arguments["word"]
        pause()
        return said("meaning of " + word)
    current["word"] = arguments["word"]
    pause()
    return said("meaning of " + current["word"])


def look_up_once(arguments):
    if not FIXED and running > 1:
        time.sleep(3600)
    pause()
    return said("meaning of " + arguments["word"])


def take_both(arguments):
    order = (first, second) if FIXED or arguments["word"][-1:] < "n" else (second, first)
    with order[0]:
        pause()
        with order[1]:
            return said("took " + arguments["word"])


def count(_):
    global total
    with Guard():
        seen = total
        pause()
        total = seen + 1
        return said("visit number %d" % total)


def fragile(arguments):
    pause()
    if not FIXED and running > 3:
        os._exit(3)
    pause()
    return said("weighed " + arguments["word"])


def locked(arguments):
    if not FIXED and running > 2:
        return failed("the database is locked")
    pause()
    return said("found " + arguments["word"])


def limited(arguments):
    if running > 2:
        return failed("too many requests, try again later")
    pause()
    return said("found " + arguments["word"])


def clock(arguments):
    pause()
    mood = random.choice(["calm", "rough", "still"])
    return said("%s at %.6f: the sea is %s" % (arguments["word"], time.time(), mood))


def one_by_one(arguments):
    with LOCK:
        time.sleep(0.03)
        return said("read " + arguments["word"])


def notes(arguments):
    with LOCK:
        if "add" in arguments:
            items.append((arguments["session"], arguments["add"]))
        return said(json.dumps([text for owner, text in items if not FIXED or owner == arguments["session"]]))


def board(arguments):
    with LOCK:
        if "add" in arguments:
            items.append((arguments["user"], arguments["add"]))
        return said(json.dumps(items))


local = threading.local()
by_session = {}


def session_notes(arguments):
    with LOCK:
        kept = by_session.setdefault(local.session if FIXED else "", [])
        if "add" in arguments:
            kept.append(arguments["add"])
        return said(json.dumps(kept))


def by_id(arguments):
    """The answer is handed over under the id of the request."""
    key = local.key if FIXED else local.key[1]
    pending[key] = "meaning of " + arguments["word"]
    pause()
    return said(pending[key])


WORD = {"word": {"type": "string", "minLength": 1, "maxLength": 40}}
TEXT = {"text": {"type": "string", "minLength": 1, "maxLength": 40}}


def tool(run, about, properties, required):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"run": run, "description": about, "inputSchema": schema}


def words(run):
    return {"look_up": tool(run, "Looks a word up.", WORD, ["word"])}


def lists(write, read):
    return {
        "add_item": tool(write, "Adds an item to the list.", TEXT, ["text"]),
        "list_items": tool(read, "Lists the items.", {}, []),
    }


def jotter(about):
    add = {"add": {"type": "string", "maxLength": 40}}
    return {"jot": tool(session_notes, about, add, [])}


def owned(run, name, about):
    properties = {name: {"type": "string", "maxLength": 40}, "add": {"type": "string", "maxLength": 40}}
    return {"notes": tool(run, about, properties, [name])}


SERVERS = {
    "loses-writes": lists(add_to_file, list_file),
    "spoils-store": lists(add_in_pieces, list_file),
    "swaps-answers": words(look_up),
    "drops-answers": words(look_up_once),
    "locks-up": words(take_both),
    "loses-counts": {"count_visit": tool(count, "Counts a visit.", {}, [])},
    "dies-in-company": words(fragile),
    "fails-in-company": words(locked),
    "shows-notes": owned(notes, "session", "Gives the notes of a session. Notes are private to their session."),
    "leaks-sessions": jotter("Gives the notes of the current session, which are private to it."),
    "turns-second-away": words(one_by_one),
    "collides-ids": words(by_id),
    # What looks like a flaw and is none.
    "limits-calls": words(limited),
    "tells-the-time": words(clock),
    "answers-one-by-one": words(one_by_one),
    "shows-the-latest": lists(add, list_latest),
    "keeps-one": lists(keep_one, list_items),
    "keeps-all": lists(add, list_items),
    "one-jotter": jotter("Gives the notes of the team."),
    "shared-board": owned(board, "user", "A board that everybody reads. Gives all messages."),
}
TOOLS = SERVERS[NAME]


def send(message):
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def refused(schema, arguments):
    known = schema["properties"]
    wrong = [key for key in arguments if key not in known or not isinstance(arguments[key], str)]
    missing = [key for key in schema["required"] if key not in arguments]
    long = [key for key in arguments if not wrong and len(arguments[key]) > known[key]["maxLength"]]
    short = [key for key in arguments if not wrong and len(arguments[key]) < known[key].get("minLength", 0)]
    return wrong or missing or long or short


def call(identity, params, session=""):
    global running
    chosen = TOOLS.get(params.get("name"))
    arguments = params.get("arguments", {})
    if chosen is None or refused(chosen["inputSchema"], arguments):
        return {"id": identity, "error": {"code": -32602, "message": "invalid arguments"}}
    local.session, local.key = session, (session, identity)
    with OUT:
        running += 1
    try:
        result = chosen["run"](arguments)
    finally:
        with OUT:
            running -= 1
    return {"id": identity, "result": result}


def answer(message):
    """What is answered at once; none where a tool is called."""
    method, identity = message.get("method"), message.get("id")
    params = message.get("params", {})
    if method == "initialize":
        result = {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "torture-" + NAME, "version": "1"},
        }
        return {"id": identity, "result": result}
    if method == "ping":
        return {"id": identity, "result": {}}
    if method == "tools/list":
        shown = [{"name": name, **{k: v for k, v in each.items() if k != "run"}} for name, each in TOOLS.items()]
        return {"id": identity, "result": {"tools": shown}}
    if method == "tools/call":
        return None
    return {"id": identity, "error": {"code": -32601, "message": "no such method"}}


def over_pipes():
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            send({"id": None, "error": {"code": -32700, "message": "not JSON"}})
            continue
        if message.get("id") is None:
            continue
        at_once = answer(message)
        if at_once is not None:
            send(at_once)
            continue
        work = lambda message=message: send(call(message["id"], message.get("params", {})))
        threading.Thread(target=work, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sessions = set()

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", session=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if body:
            self.send_header("Content-Type", "application/json")
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.headers.get("Mcp-Session-Id")
        if message.get("id") is None:
            return self.reply(202)
        if message.get("method") == "initialize":
            if NAME == "turns-second-away" and not FIXED and Handler.sessions:
                return self.reply(500, b'"Server already initialized"')
            session = uuid.uuid4().hex
            Handler.sessions.add(session)
        elif session not in Handler.sessions:
            return self.reply(404)
        result = answer(message) or call(message["id"], message.get("params", {}), session)
        self.reply(200, json.dumps({"jsonrpc": "2.0", **result}).encode(), session)


if "--http" in sys.argv:
    port = int(sys.argv[sys.argv.index("--http") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
else:
    over_pipes()
