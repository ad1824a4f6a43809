"""A FastMCP client for the interop tests. Arguments: the URL of a server, or the command line of
one; then `--` and a JSON array of calls, each with `tool` and `arguments`. Prints one JSON object:
the names of all tools, and the structured result of each call."""
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main():
    separator = sys.argv.index("--")
    target, calls = sys.argv[1:separator], json.loads(sys.argv[separator + 1])
    if target[0].startswith("http"):
        transport = target[0]
    else:
        transport = StdioTransport(command=target[0], args=target[1:])
    async with Client(transport) as client:
        tools = [tool.name for tool in await client.list_tools()]
        results = [await client.call_tool(call["tool"], call["arguments"]) for call in calls]
    print(json.dumps({"tools": tools, "results": [result.structured_content for result in results]}))


asyncio.run(main())
