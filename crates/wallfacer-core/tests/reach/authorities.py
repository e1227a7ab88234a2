"""A small server that asks a service over TLS, and trusts only the authorities in a file that it brought along.

    python3 authorities.py FILE
"""

import json
import ssl
import sys
import urllib.request

TRUSTED = sys.argv[1]


def read_tide():
    context = ssl.create_default_context(cafile=TRUSTED)
    with urllib.request.urlopen("https://tides.example/v1/now", timeout=20, context=context) as answer:
        answer.read()
    return "high"


def answer(method):
    if method == "initialize":
        about = {"name": "tides", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        tool = {"name": "read_tide", "description": "Whether the tide is high or low."}
        return {"tools": [{**tool, "inputSchema": {"type": "object", "properties": {}}}]}
    if method == "tools/call":
        try:
            return {"content": [{"type": "text", "text": read_tide()}]}
        except OSError as error:
            return {"content": [{"type": "text", "text": f"no tide: {error}"}], "isError": True}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"])}
        print(json.dumps(reply), flush=True)
