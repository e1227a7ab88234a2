"""A small server on the official Python SDK: `python_sdk.py [PORT]` speaks stdio, or Streamable HTTP on a port."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("python-sdk", version="1.0")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


if len(sys.argv) > 1:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
