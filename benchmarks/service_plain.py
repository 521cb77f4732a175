"""An endpoint of Starlette that does nothing but read a body and answer, served as the service is.

python -m benchmarks.service_plain PORT
"""

import sys
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ANSWER = {"id": 1099511627777, "arm": "green", "probability": 0.4375, "time": 1763254800.12}


async def plain(request: Request) -> Response:
    msgspec.json.decode(await request.body(), type=dict[str, Any])
    return Response(msgspec.json.encode(ANSWER), media_type="application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/plain", plain, methods=["POST"])])
    uvicorn.run(app, port=int(sys.argv[1]), http="httptools", log_level="error", access_log=False)
