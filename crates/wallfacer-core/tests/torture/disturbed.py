"""A small server that goes wrong when something happens to it in the middle of its work.

    python3 disturbed.py NAME [--fixed] [--http PORT]

NAME is one of the flaws below. `--fixed` plays the same server without the flaw.
"""

import atexit
import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = sys.argv[1]
FIXED = "--fixed" in sys.argv
HOME = os.path.join(os.path.expanduser("~"), ".board")
STORE = os.path.join(HOME, "notes.json")
SERVICE = "http://api.example.com/words/"
OUT = threading.Lock()
LOCK = threading.Lock()
cancelled = set()
local = threading.local()
kept = []


def flawed(*names):
    return NAME in names and not FIXED


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def failed(text):
    return {**said(text), "isError": True}


# What is stored.


def load():
    try:
        with open(STORE) as file:
            return json.load(file)
    except FileNotFoundError:
        return []


def save(notes):
    os.makedirs(HOME, exist_ok=True)
    if flawed("rewrites-in-place", "fills-up"):
        with open(STORE, "w") as file:
            text = json.dumps(notes)
            for place in range(0, len(text), 16 if NAME == "rewrites-in-place" else len(text)):
                file.write(text[place : place + 16] if NAME == "rewrites-in-place" else text)
                file.flush()
                if NAME == "rewrites-in-place":
                    time.sleep(0.004)
        return
    if NAME == "rewrites-in-place":
        time.sleep(0.02)
    whole = STORE + ".new"
    with open(whole, "w") as file:
        json.dump(notes, file)
    os.replace(whole, STORE)


def note(arguments):
    with LOCK:
        if flawed("saves-at-the-end"):
            kept.append(arguments["text"])
            return said("noted")
        if flawed("hides-failures"):
            kept.append(arguments["text"])
            try:
                save(kept)
            except OSError:
                pass
            return said("noted")
        try:
            save(load() + [arguments["text"]])
        except OSError as error:
            return failed("the note was not stored: %s" % error.strerror)
    return said("noted")


def notes(_):
    with LOCK:
        if flawed("saves-at-the-end", "hides-failures"):
            return said(json.dumps(kept))
        return said(json.dumps(load()))


def save_at_the_end():
    if flawed("saves-at-the-end"):
        save(kept)


# What takes long.


def ponder(arguments):
    end = time.time() + 6
    child = subprocess.Popen(["sleep", "60"]) if NAME == "keeps-helpers" else None
    while time.time() < end:
        if FIXED and local.key in cancelled:
            break
        if child or NAME == "answers-late":
            time.sleep(0.02)
        if NAME == "answers-late" and time.time() > end - 4.5:
            break
    if child and FIXED:
        child.kill()
        child.wait()
    return said("pondered " + arguments["word"])


# What is asked of a service.


def fetch(word, timeout):
    with urllib.request.urlopen(SERVICE + word, timeout=timeout) as reply:
        return json.loads(reply.read(1 << 20))


def look_up(arguments):
    word = arguments["word"]
    if flawed("asks-for-ever"):
        while True:
            try:
                return said(str(fetch(word, 2)))
            except Exception:
                time.sleep(0.01)
    if flawed("shows-traces"):
        try:
            return said(str(fetch(word, 2)))
        except Exception:
            return failed(traceback.format_exc())
    if flawed("waits-for-ever"):
        return said(str(fetch(word, 600)))
    if flawed("dies-of-services"):
        try:
            return said(str(fetch(word, 2)))
        except Exception:
            traceback.print_exc()
            os._exit(1)
    try:
        return said(str(fetch(word, 2)))
    except Exception as error:
        return failed("the dictionary cannot be reached: %s" % type(error).__name__)


# What is not given back.


def glance(arguments):
    if flawed("keeps-threads"):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    if flawed("keeps-scraps"):
        handle, _ = tempfile.mkstemp()
        os.close(handle)
    return said("seen " + arguments["word"])


WORD = {"word": {"type": "string", "minLength": 1, "maxLength": 40}}
TEXT = {"text": {"type": "string", "minLength": 1}}


def tool(run, about, properties, required):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"run": run, "description": about, "inputSchema": schema}


BOARD = {
    "add_note": tool(note, "Adds a note to the board.", TEXT, ["text"]),
    "list_notes": tool(notes, "Lists the notes.", {}, []),
}
PONDER = {"ponder": tool(ponder, "Thinks about a word.", WORD, ["word"])}
WORDS = {"look_up": tool(look_up, "Looks a word up.", WORD, ["word"])}
GLANCE = {name: tool(glance, "Looks at a word.", WORD, ["word"]) for name in ["peek", "glance", "view", "scan"]}
KINDS = {
    "goes-on-working": PONDER,
    "keeps-helpers": PONDER,
    "answers-late": PONDER,
    "asks-for-ever": WORDS,
    "shows-traces": WORDS,
    "waits-for-ever": WORDS,
    "dies-of-services": WORDS,
    "keeps-threads": {"peek": GLANCE["peek"]},
    "keeps-scraps": {"peek": GLANCE["peek"]},
    "shuffles": GLANCE,
    "drops-unread": GLANCE,
}
TOOLS = KINDS.get(NAME, BOARD)


def send(message):
    data = (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode()
    with OUT:
        if flawed("drops-unread"):
            try:
                os.write(1, data)
            except BlockingIOError:
                pass
            return
        while data:
            data = data[os.write(1, data) :]


def call(identity, params, key=None):
    chosen = TOOLS.get(params.get("name"))
    arguments = params.get("arguments", {})
    if chosen is None:
        return {"id": identity, "error": {"code": -32602, "message": "no such tool"}}
    schema = chosen["inputSchema"]
    wrong = [k for k, v in arguments.items() if k not in schema["properties"] or not isinstance(v, str) or not v]
    if wrong or [k for k in schema["required"] if k not in arguments]:
        return {"id": identity, "error": {"code": -32602, "message": "invalid arguments"}}
    if any(len(v) > schema["properties"][k].get("maxLength", 1 << 30) for k, v in arguments.items()):
        return {"id": identity, "error": {"code": -32602, "message": "too long"}}
    local.key = key or identity
    try:
        return {"id": identity, "result": chosen["run"](arguments)}
    except Exception as error:
        return {"id": identity, "error": {"code": -32603, "message": "failed: %s" % error}}


def answer(message):
    """What is answered at once; none where a tool is called."""
    method, identity = message.get("method"), message.get("id")
    params = message.get("params", {})
    if method == "initialize":
        info = {"name": "disturbed-" + NAME, "version": "1"}
        version = params.get("protocolVersion", "2025-06-18")
        return {"id": identity, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "ping":
        return {"id": identity, "result": {}}
    if method == "tools/list":
        shown = [{"name": name, **{k: v for k, v in each.items() if k != "run"}} for name, each in TOOLS.items()]
        if flawed("shuffles"):
            random.shuffle(shown)
        return {"id": identity, "result": {"tools": shown}}
    if method == "tools/call":
        return None
    return {"id": identity, "error": {"code": -32601, "message": "no such method"}}


def take(line):
    try:
        message = json.loads(line)
    except ValueError:
        if flawed("dies-of-a-line"):
            sys.exit(1)
        send({"id": None, "error": {"code": -32700, "message": "not JSON"}})
        return
    if message.get("method") == "notifications/cancelled":
        cancelled.add(message["params"].get("requestId"))
    if message.get("id") is None:
        return
    at_once = answer(message)
    if at_once is not None:
        return send(at_once)

    def work():
        result = call(message["id"], message.get("params", {}))
        if not (FIXED and message["id"] in cancelled):
            send(result)

    threading.Thread(target=work, daemon=True).start()


def lines():
    if flawed("reads-in-pieces"):
        while piece := os.read(0, 1 << 20):
            yield from (line for line in piece.split(b"\n") if line)
        return
    yield from sys.stdin.buffer


def over_pipes():
    if flawed("drops-unread"):
        fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK)
    for line in lines():
        take(line)
    save_at_the_end()
    if flawed("stays", "stays-below"):
        threading.Event().wait()


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
        data = self.rfile.read(int(self.headers["Content-Length"]))
        origin = self.headers.get("Origin", "")
        if not flawed("takes-any-page") and origin and "127.0.0.1" not in origin:
            return self.reply(403)
        message = json.loads(data)
        session = self.headers.get("Mcp-Session-Id")
        if message.get("id") is None:
            return self.reply(202)
        if message.get("method") == "initialize":
            session = uuid.uuid4().hex
            Handler.sessions.add(session)
        elif session not in Handler.sessions:
            return self.reply(500 if flawed("fails-on-old-sessions") else 404)
        result = answer(message) or call(message["id"], message.get("params", {}), (session, message["id"]))
        try:
            self.reply(200, json.dumps({"jsonrpc": "2.0", **result}).encode(), session)
        except OSError:
            if flawed("dies-when-hung-up-on"):
                os._exit(1)


def begin():
    if flawed("ignores-signals"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if NAME == "leaves-helpers":
        helper = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if FIXED:
            atexit.register(helper.kill)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if NAME == "takes-a-port":
        door = socket.socket()
        try:
            door.bind(("127.0.0.1", 47113))
        except OSError:
            if not FIXED:
                raise
            door.bind(("127.0.0.1", 0))
        door.listen()
        kept.append(door)
    if NAME == "locks":
        os.makedirs(HOME, exist_ok=True)
        lock = os.open(os.path.join(HOME, "lock"), os.O_CREAT | os.O_RDWR | (0 if FIXED else os.O_EXCL))
        atexit.register(lambda: os.path.exists(os.path.join(HOME, "lock")) and os.remove(os.path.join(HOME, "lock")))
        os.write(lock, b"%d" % os.getpid())
    if flawed("saves-at-the-end", "hides-failures"):
        kept[:] = load()
    if NAME == "stays-below" and "--below" not in sys.argv:
        raise SystemExit(subprocess.run([sys.executable, *sys.argv, "--below"]).returncode)


begin()
if "--http" in sys.argv:
    port = int(sys.argv[sys.argv.index("--http") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
else:
    over_pipes()
