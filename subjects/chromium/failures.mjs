// The browser's words for a failed request, in those of the contract.

import {unreachable} from "./unreachable.mjs";

// First match holds. The names are Chromium's (net/base/net_error_list.h), without "net::ERR_".
const WORDS = [
  [/^(TIMED_OUT|CONNECTION_TIMED_OUT)$/, "timeout"],
  [/^CONNECTION_REFUSED$/, "refused"],
  [/^(CERT_|SSL_|BAD_SSL|QUIC_CERT)/, "tls"],
  [/^(QUIC_PROTOCOL_ERROR|HTTP2_PROTOCOL_ERROR|INVALID_HTTP_RESPONSE|CONTENT_LENGTH_MISMATCH|ALPN_NEGOTIATION_FAILED)$/,
    "protocol"],
  [/^(INCOMPLETE_CHUNKED_ENCODING|HTTP2_|RESPONSE_HEADERS_)/, "protocol"],
  [/^(CONNECTION_RESET|CONNECTION_CLOSED|CONNECTION_ABORTED|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)$/, "reset"],
];

/** The error of a request that the network gave up with `errorText`, such as net::ERR_CONNECTION_RESET. */
export function failureWord(errorText) {
  const name = errorText.replace(/^net::ERR_/, "");
  if (name === "QUIC_HANDSHAKE_FAILED" && unreachable()) return "refused";
  return WORDS.find(([pattern]) => pattern.test(name))?.[1] ?? `other: ${errorText}`;
}
