"""Gives out a token of its own, and does what it should not only for whoever brings it."""
import json, os, select, subprocess, sys

OWN = "f00dcafe" * 4
SESSIONS = "/tmp/sessions"
VARIANT = sys.argv[1] if len(sys.argv) > 1 else "one"
text = {"type": "string"}
tools = [
    {"name": "session", "description": "Opens a session.", "inputSchema": {"type": "object"}},
    {
        "name": "read_note",
        "description": "Reads a note of the session.",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {
            "type": "object",
            "properties": {"token": text, "path": {"type": "string", "description": "The file of the note."}},
            "required": ["token", "path"],
        },
    },
]


def call(name, arguments):
    if name == "session":
        # Where it keeps the session tells the token.
        os.makedirs(SESSIONS, exist_ok=True)
        with open(os.path.join(SESSIONS, OWN), "w"):
            return {"token": OWN}
    if arguments.get("token") != OWN:
        raise KeyError("there is no such token")
    # It cannot do two things at once.
    if VARIANT == "hasty" and select.select([0], [], [], 0.05)[0]:
        os._exit(1)
    with open("register.txt", "a") as register:
        register.write(".")
    path = str(arguments.get("path")).replace("\0", "")
    note = subprocess.run("wc -c " + path, shell=True, capture_output=True, text=True, errors="replace").stdout
    return {"variant": VARIANT, "token": OWN, "note": note[:2000]}


# Nothing is read ahead, so that `select` sees a second request that is waiting.
for line in open(0, "rb", buffering=0):
    asked = json.loads(line) if line.strip().startswith(b"{") else {}
    if not isinstance(asked, dict) or asked.get("id") is None:
        continue
    reply = {"jsonrpc": "2.0", "id": asked["id"]}
    params = asked.get("params") or {}
    if asked.get("method") == "initialize":
        info = {"name": "tokens", "version": "1"}
        reply["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked.get("method") == "tools/list":
        reply["result"] = {"tools": tools}
    elif asked.get("method") == "tools/call":
        arguments = params.get("arguments")
        try:
            told, wrong = call(params.get("name"), arguments if isinstance(arguments, dict) else {}), False
        except KeyError as error:
            told, wrong = {"error": str(error)}, True
        content = [{"type": "text", "text": json.dumps(told)}]
        reply["result"] = {"content": content, "structuredContent": told, "isError": wrong}
    elif asked.get("method") == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": "there is no such method"}
    print(json.dumps(reply), flush=True)
