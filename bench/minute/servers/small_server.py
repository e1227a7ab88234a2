"""Serves a table of tools over standard streams, as MCP 2025-06-18 asks for it and without any library.

The servers beside this file differ in their tools and in how long they take to start; what they share is here.
"""

import json
import sys

VERSION = "2025-06-18"
INVALID_PARAMS, METHOD_NOT_FOUND, INVALID_REQUEST, PARSE_ERROR = -32602, -32601, -32600, -32700

TYPES = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1,
}


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Silent(Exception):
    """A call that is never answered."""


def tool(name, description, properties, act):
    """A tool that wants all of its properties and no others. `act` takes the arguments and returns a text."""
    schema = {"type": "object", "properties": properties, "required": sorted(properties), "additionalProperties": False}
    notes = {"readOnlyHint": True, "openWorldHint": False}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": notes}, act


def serve(name, tools):
    table = {entry["name"]: (entry, act) for entry, act in tools}
    for line in sys.stdin.buffer:
        answer = reply(name, table, line)
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def reply(name, table, line):
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return error(None, PARSE_ERROR, "not JSON")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        is_reply = isinstance(message, dict) and ("result" in message or "error" in message)
        return None if is_reply else error(None, INVALID_REQUEST, "not a request")
    if "id" not in message:
        return None
    number = message["id"]
    if not isinstance(number, (str, int)) or isinstance(number, bool):
        return error(None, INVALID_REQUEST, "the id is neither a text nor a number")
    params = message.get("params", {})
    if not isinstance(params, dict):
        return error(number, INVALID_PARAMS, "params is not an object")
    try:
        return {"jsonrpc": "2.0", "id": number, "result": result(name, table, message["method"], params)}
    except Refused as refused:
        return error(number, refused.code, str(refused))
    except Silent:
        return None


def error(number, code, message):
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def result(name, table, method, params):
    if method == "initialize":
        about = {"name": name, "version": "1.0.0"}
        return {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "ping":
        return {}
    if method == "tools/list":
        if params.get("cursor") is not None:
            raise Refused(INVALID_PARAMS, "there is one page, which has no cursor")
        return {"tools": [entry for entry, _ in table.values()]}
    if method == "tools/call":
        return call(table, params)
    raise Refused(METHOD_NOT_FOUND, "there is no such method")


def call(table, params):
    wanted = params.get("name")
    if not isinstance(wanted, str) or wanted not in table:
        raise Refused(INVALID_PARAMS, "there is no such tool")
    entry, act = table[wanted]
    arguments = params.get("arguments", {})
    properties = entry["inputSchema"]["properties"]
    if not isinstance(arguments, dict) or set(arguments) != set(properties):
        raise Refused(INVALID_PARAMS, "wanted are exactly: " + ", ".join(sorted(properties)))
    for field, schema in properties.items():
        if not fits(schema, arguments[field]):
            raise Refused(INVALID_PARAMS, f"`{field}` does not fit its schema")
    return {"content": [{"type": "text", "text": act(arguments)}]}


def fits(schema, value):
    if not TYPES[schema["type"]](value):
        return False
    if schema["type"] == "string":
        return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    return schema.get("minimum", value) <= value <= schema.get("maximum", value)
