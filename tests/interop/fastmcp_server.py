"""A FastMCP server for the interop tests. Arguments: `stdio`, `http PORT` or `sse PORT`."""
import asyncio
import sys

from fastmcp import Context, FastMCP

server = FastMCP("fast")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Counts ten numbers per second and reports progress."""
    for number in range(1, to + 1):
        await asyncio.sleep(0.1)
        await ctx.report_progress(number, to, f"at {number}")
    return f"counted to {to}"


@server.tool
def refuse() -> str:
    """Always fails."""
    raise ValueError("this tool fails")


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False)
else:
    server.run(transport=sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
