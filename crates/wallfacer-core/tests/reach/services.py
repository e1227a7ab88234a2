"""A small server whose tools work only with what their services answer, and whose errors or code say what that is.

    python3 services.py [--flawed]

`--flawed` adds a tool that fails by itself, beside those that fail over what a service answered.
"""

import json
import sys
import urllib.request

SERVICE = "http://api.beetles.example"


def ask(path, query=None):
    body = None if query is None else json.dumps({"query": query}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(SERVICE + path, data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def count_beetles(_):
    data = ask("/v1/beetles")
    # Only the code says which word is meant.
    if data["status"] != "counted":
        raise Refused("the beetles cannot be counted")
    return "seven"


def name_beetle(_):
    data = ask("/v1/beetles/1")
    # The error says what was asked of nothing, and not of what.
    return data.get("latinName").split(" ")[0]


def show_case(_):
    data = ask("/graphql", "{ cabinet { drawer { pins { at } } } }")
    if not isinstance(data["data"]["cabinet"]["drawer"], list):
        raise Refused("data.drawer.map is not a function")
    return "open"


def label_case(arguments):
    label = arguments.get("label")
    text = label.get("inscription") if isinstance(label, dict) else None
    if not isinstance(text, str):
        fault = {"code": "invalid_type", "expected": "string", "path": ["label", "inscription"], "message": "Required"}
        raise Refused(json.dumps([fault]))
    return "labelled"


def open_drawer(arguments):
    if "/drawers/" not in arguments.get("url", ""):
        raise Refused("Invalid url. Its path must contain '/drawers/{drawer_id}'")
    return "opened"


def weigh_beetle(_):
    ask("/v1/scales")
    raise Broken("weighing needs scales of 2019 or later, and these are of 1.0.0")


def press_beetle(_):
    raise Broken("'NoneType' object has no attribute 'lid'")


class Refused(Exception):
    """A tool says that it will not."""


class Broken(Exception):
    """An internal error."""


NOTHING = {"type": "object", "properties": {}}
TOOLS = {
    "count_beetles": (count_beetles, NOTHING),
    "name_beetle": (name_beetle, NOTHING),
    "show_case": (show_case, NOTHING),
    "label_case": (label_case, {"type": "object", "properties": {"label": {"type": "object"}}, "required": ["label"]}),
    "open_drawer": (open_drawer, {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}),
    "weigh_beetle": (weigh_beetle, NOTHING),
}
if "--flawed" in sys.argv:
    TOOLS["press_beetle"] = (press_beetle, NOTHING)


def answer(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        about = {"name": "beetles", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": schema} for name, (_, schema) in TOOLS.items()]}
    if method == "ping":
        return {}
    if method != "tools/call":
        raise LookupError("no such method")
    if params.get("name") not in TOOLS:
        raise ValueError("no such tool")
    arguments = params.get("arguments") or {}
    if not isinstance(arguments, dict):
        raise ValueError("arguments must be an object")
    tool, _ = TOOLS[params["name"]]
    try:
        return {"content": [{"type": "text", "text": tool(arguments)}]}
    except Broken:
        raise
    except Exception as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}


def reply(line):
    try:
        request = json.loads(line)
    except ValueError:
        return {"id": None, "error": {"code": -32700, "message": "this is not JSON"}}
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        return {"id": None, "error": {"code": -32600, "message": "this is not a request"}}
    if "id" not in request:
        return None
    codes = {Broken: -32603, LookupError: -32601, ValueError: -32602}
    try:
        return {"id": request["id"], "result": answer(request)}
    except Exception as error:
        return {"id": request["id"], "error": {"code": codes.get(type(error), -32602), "message": str(error)}}


for line in sys.stdin:
    said = reply(line)
    if said is not None:
        print(json.dumps({"jsonrpc": "2.0", **said}), flush=True)
