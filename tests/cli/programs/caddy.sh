#!/bin/sh
# The application, and Caddy before it.
python3 app.py &
exec "$CADDY" run --config Caddyfile
