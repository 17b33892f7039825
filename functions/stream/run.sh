#!/bin/sh
# The function's handler: Lambda Web Adapter starts it, and passes the function's requests on to the port.
cd "$(dirname "$0")" || exit
export PYTHONPATH="/opt/python${PYTHONPATH:+:$PYTHONPATH}"
exec python3 -m uvicorn handler:app --host 127.0.0.1 --port "$AWS_LWA_PORT" --no-access-log --log-level warning
