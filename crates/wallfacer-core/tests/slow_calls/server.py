"""A server with a tool that takes longer than most, and does one call after another: `server.py [--fixed] [--hangs]`.
With `--fixed` it does calls side by side; with `--hangs` the slow tool never answers one of its values."""

import json
import sys
import threading
import time

SIDE_BY_SIDE = "--fixed" in sys.argv
HANGS = "--hangs" in sys.argv
# Longer than others wait for a call that is not answered, and well below the limit that the test gives.
LONG = 1.5
WRITES = threading.Lock()
FIELDS = {
    "build_report": {"year": {"type": "integer", "minimum": 2000, "maximum": 2030}},
    "count_pages": {"pages": {"type": "integer", "minimum": 0, "maximum": 9}},
}


def is_valid(name, given):
    if not isinstance(given, dict) or set(given) != set(FIELDS[name]):
        return False
    (field, value), = given.items()
    bounds = FIELDS[name][field]
    return type(value) is int and bounds["minimum"] <= value <= bounds["maximum"]


def call(params):
    name, given = params.get("name"), params.get("arguments", {})
    if name not in FIELDS:
        return {"error": {"code": -32602, "message": "no such tool"}}
    if not is_valid(name, given):
        return {"result": {"content": [{"type": "text", "text": "not valid"}], "isError": True}}
    if name == "build_report":
        time.sleep(LONG)
        if HANGS and given["year"] == 2030:
            threading.Event().wait()
    return {"result": {"content": [{"type": "text", "text": "done"}]}}


def listed(name):
    properties = FIELDS[name]
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"name": name, "description": "A tool", "inputSchema": schema}


def answer(method, params):
    if method == "initialize":
        info = {"name": "slow-calls", "version": "1.0.0"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [listed(name) for name in FIELDS]}}
    if method == "tools/call" and isinstance(params, dict):
        return call(params)
    return {"error": {"code": -32601, "message": "no such method"}}


def write(message):
    with WRITES:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def serve(message):
    write({"id": message["id"], **answer(message["method"], message.get("params") or {})})


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        code = -32700 if message is None else -32600
        write({"id": None, "error": {"code": code, "message": "no request"}})
    elif "id" in message and SIDE_BY_SIDE and message["method"] == "tools/call":
        threading.Thread(target=serve, args=(message,), daemon=True).start()
    elif "id" in message:
        serve(message)
