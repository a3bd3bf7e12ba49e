// Errors in the words of the contract: timeout, reset, refused, tls, protocol, wrong-bytes, or `other: ` with their own text.

/** An answer that breaks HTTP's rules, or another protocol than the one asked for. */
export class ProtocolError extends Error {}

/** The time allowed for a request is over. */
export class Timeout extends Error {}

/** A body that came whole and is not the block. */
export class WrongBytes extends Error {}

const WORDS = [
  ["refused", /^ECONNREFUSED$/],
  ["reset", /^(ECONNRESET|EPIPE|ERR_HTTP2_(STREAM_ERROR|SESSION_ERROR|STREAM_CANCEL|GOAWAY_SESSION|INVALID_SESSION)|ERR_STREAM_PREMATURE_CLOSE|ERR_QUIC_STREAM_(RESET|ABORTED))$/],
  ["protocol", /^(HPE_|ERR_HTTP2_ERROR|ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL|ERR_QUIC_APPLICATION_ERROR)/],
  ["tls", /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$)/],
];

export function classify(error) {
  if (error instanceof Timeout) return "timeout";
  if (error instanceof ProtocolError) return "protocol";
  if (error instanceof WrongBytes) return "wrong-bytes";
  const known = WORDS.find(([, codes]) => codes.test(error.code ?? ""));
  return known ? known[0] : `other: ${String(error.message).replace(/\s+/g, " ")}`;
}
