"""A server that computes for half a second before it answers, with as many bugs as it is told: `server.py [--fixed]`."""

import json
import sys
import time

FIXED = "--fixed" in sys.argv
TEXT = {"type": "string", "maxLength": 40}
COUNT = {"type": "integer", "minimum": 0, "maximum": 100}


def shorten(given):
    """Fails for an empty text."""
    text = given["text"]
    return text[:1] if FIXED else text[0]


def halve(given):
    """Takes what its schema forbids."""
    count = given.get("count")
    if FIXED and (type(count) is not int or not 0 <= count <= 100):
        raise ValueError("count must be a whole number from 0 to 100")
    return str(count)


def tell(given):
    """Gives back what it does not declare."""
    return "fine"


TOOLS = {
    "shorten": (shorten, {"text": TEXT}, None),
    "halve": (halve, {"count": COUNT}, None),
    "tell": (tell, {}, {"type": "object", "properties": {"state": {"type": "string"}}, "required": ["state"]}),
}


def listed(name):
    _, properties, output = TOOLS[name]
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    tool = {"name": name, "description": "A tool", "inputSchema": schema}
    return {**tool, "outputSchema": output} if output else tool


def is_valid(name, given):
    """What a careful server looks at before it does anything."""
    properties = TOOLS[name][1]
    if not isinstance(given, dict) or set(given) != set(properties):
        return False
    return "text" not in given or isinstance(given["text"], str) and len(given["text"]) <= 40


def call(params):
    name, given = params.get("name"), params.get("arguments", {})
    if name not in TOOLS:
        return {"error": {"code": -32602, "message": "no such tool"}}
    if not is_valid(name, given):
        return {"result": {"content": [{"type": "text", "text": "not valid"}], "isError": True}}
    try:
        text = TOOLS[name][0](given)
    except ValueError as error:
        return {"result": {"content": [{"type": "text", "text": str(error)}], "isError": True}}
    except IndexError as error:
        return {"error": {"code": -32603, "message": f"internal error: {error}"}}
    state = {"state": text} if FIXED else {"state": 1}
    structured = {"structuredContent": state} if name == "tell" else {}
    return {"result": {"content": [{"type": "text", "text": text}], **structured}}


def answer(method, params):
    if method == "initialize":
        info = {"name": "slow-starts", "version": "1.0.0"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [listed(name) for name in TOOLS]}}
    if method == "tools/call" and isinstance(params, dict):
        return call(params)
    return {"error": {"code": -32601, "message": "no such method"}}


while time.process_time() < 0.5:
    sum(range(10_000))
for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        error = {"code": -32700 if message is None else -32600, "message": "no request"}
        print(json.dumps({"jsonrpc": "2.0", "id": None, "error": error}), flush=True)
    elif "id" in message:
        reply = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
