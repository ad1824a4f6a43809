"""A FastMCP server with the tool `get_time` of humble, for comparison. Argument: the port."""
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

from fastmcp import FastMCP

server = FastMCP("time")


@server.tool
def get_time(timezone: str | None = None) -> dict:
    """The present date and time, in the local time zone or in another."""
    now = datetime.now(ZoneInfo(timezone)) if timezone else datetime.now().astimezone()
    offset = now.strftime("%z")
    return {
        "date": now.strftime("%Y-%m-%d"),
        "time": now.strftime("%H:%M:%S"),
        "zone": str(now.tzinfo),
        "offset": f"{offset[:3]}:{offset[3:]}",
    }


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
