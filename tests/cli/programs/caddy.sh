#!/bin/sh
# The application, and Caddy before it.
./application &
exec "$CADDY" run --config Caddyfile
