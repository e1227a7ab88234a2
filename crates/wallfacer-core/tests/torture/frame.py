"""What the small servers of these tests share: tools, calls and answers, over pipes or over HTTP with a session for each client.

    python3 SERVER.py NAME [--fixed] [--http PORT]

NAME is one of the flaws of that server, or of the habits that look like one. `--fixed` plays the same server without the flaw.
"""

import json
import os
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = sys.argv[1]
FIXED = "--fixed" in sys.argv
OUT = threading.Lock()
# Of the call at hand: the session, and what tells it from all others.
local = threading.local()
cancelled = set()


def flawed(*names):
    return NAME in names and not FIXED


def said(text):
    return {"content": [{"type": "text", "text": text}]}


def failed(text):
    return {**said(text), "isError": True}


def tool(run, about, properties, required):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"run": run, "description": about, "inputSchema": schema}


def is_refused(schema, arguments):
    known = schema["properties"]
    if any(key not in known or not isinstance(value, str) for key, value in arguments.items()):
        return True
    if any(key not in arguments for key in schema["required"]):
        return True
    length = lambda key, value: known[key].get("minLength", 0) <= len(value) <= known[key].get("maxLength", 1 << 30)
    return not all(length(key, value) for key, value in arguments.items())


class Server:
    """A correct one. What a flawed one does otherwise, it overrides."""

    def __init__(self, tools):
        self.tools = tools
        self.sessions = set()
        self.capabilities = {"tools": {}}

    def run(self, chosen, arguments):
        return chosen["run"](arguments)

    def listed(self):
        return [{"name": name, **{k: v for k, v in each.items() if k != "run"}} for name, each in self.tools.items()]

    def call(self, identity, params, session=""):
        chosen = self.tools.get(params.get("name"))
        arguments = params.get("arguments", {})
        if chosen is None or is_refused(chosen["inputSchema"], arguments):
            return {"id": identity, "error": {"code": -32602, "message": "invalid arguments"}}
        local.session, local.key = session, (session, identity)
        local.progress = params.get("_meta", {}).get("progressToken")
        try:
            return {"id": identity, "result": self.run(chosen, arguments)}
        except Exception as error:
            return {"id": identity, "error": {"code": -32603, "message": "failed: %s" % error}}

    def answer(self, message):
        """What is answered at once; none where a tool is called."""
        method, identity = message.get("method"), message.get("id")
        if method == "initialize":
            version = message.get("params", {}).get("protocolVersion", "2025-06-18")
            about = {"serverInfo": {"name": "torture-" + NAME, "version": "1"}, "capabilities": self.capabilities}
            return {"id": identity, "result": {"protocolVersion": version, **about}}
        if method == "ping":
            return {"id": identity, "result": {}}
        if method == "tools/list":
            return {"id": identity, "result": {"tools": self.listed()}}
        if method == "tools/call":
            return None
        return {"id": identity, "error": {"code": -32601, "message": "no such method"}}

    # Over pipes.

    def lines(self):
        return sys.stdin.buffer

    def write(self, data):
        while data:
            data = data[os.write(1, data) :]

    def send(self, message):
        with OUT:
            self.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())

    def take_what_is_no_message(self):
        self.send({"id": None, "error": {"code": -32700, "message": "not JSON"}})

    def withholds(self, identity):
        """Whether an answer is not sent, because nobody wants it any more."""
        return ("", identity) in cancelled

    def work(self, message):
        result = self.call(message["id"], message.get("params", {}))
        if not self.withholds(message["id"]):
            self.send(result)

    def take(self, line):
        try:
            message = json.loads(line)
        except ValueError:
            return self.take_what_is_no_message()
        if message.get("method") == "notifications/cancelled":
            cancelled.add(("", message["params"].get("requestId")))
        if message.get("id") is None:
            return None
        at_once = self.answer(message)
        if at_once is not None:
            return self.send(at_once)
        return threading.Thread(target=self.work, args=(message,), daemon=True).start()

    def over_pipes(self):
        for line in self.lines():
            self.take(line)

    # Over HTTP.

    def begin_session(self):
        """The id of a new session; none where there is to be none."""
        return uuid.uuid4().hex

    def is_known(self, session):
        return session in self.sessions

    def end_session(self, session):
        self.sessions.discard(session)

    def stale(self):
        """The status for who goes on with a session that is not there."""
        return 404

    def is_foreign(self, origin):
        return origin and "127.0.0.1" not in origin

    def read(self, body, length):
        return body.read(length)

    def over_http(self, port):
        handler = self.handler
        handler.server_of_ours = self
        ThreadingHTTPServer(("127.0.0.1", port), handler).serve_forever()

    def serve(self):
        if "--http" in sys.argv:
            self.over_http(int(sys.argv[sys.argv.index("--http") + 1]))
        else:
            self.over_pipes()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of_ours = None

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
        self.server_of_ours.end_session(self.headers.get("Mcp-Session-Id"))
        self.reply(200)

    def do_POST(self):
        ours = self.server_of_ours
        data = ours.read(self.rfile, int(self.headers["Content-Length"]))
        if ours.is_foreign(self.headers.get("Origin", "")):
            return self.reply(403)
        message = json.loads(data)
        session = self.headers.get("Mcp-Session-Id")
        if message.get("id") is None:
            return self.reply(202)
        if message.get("method") == "initialize":
            session = ours.begin_session()
            if session is None:
                return self.reply(500, b'"Server already initialized"')
            ours.sessions.add(session)
        elif not ours.is_known(session):
            return self.reply(ours.stale())
        result = ours.answer(message) or ours.call(message["id"], message.get("params", {}), session)
        self.reply(200, json.dumps({"jsonrpc": "2.0", **result}).encode(), session)


Server.handler = Handler
