// What both sides have in common: TLS 1.3, X25519 first, AES-128-GCM first, a single protocol.
export const ALPN = { h1: "http/1.1", h2: "h2", h3: "h3" };

export function pinned(protocol) {
  return {
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ciphers: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
    ecdhCurve: "X25519:P-256",
    ALPNProtocols: [ALPN[protocol]],
  };
}

/** What was negotiated on a TLS socket, as client.json has it. */
export function describe(socket) {
  return {
    version: socket.getProtocol().replace("TLSv", ""),
    cipher: socket.getCipher().name,
    key_exchange: socket.getEphemeralKeyInfo().name ?? "",
    alpn: socket.alpnProtocol,
  };
}
