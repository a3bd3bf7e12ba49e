// client.json: what the connections were like, as far as DevTools tells.

// How DevTools names TLS 1.3's ciphers; those of TLS 1.2 need the key exchange beside it.
const CIPHERS = {
  AES_128_GCM: "TLS_AES_128_GCM_SHA256",
  AES_256_GCM: "TLS_AES_256_GCM_SHA384",
  CHACHA20_POLY1305: "TLS_CHACHA20_POLY1305_SHA256",
};
const ALPN = {h1: "http/1.1", h2: "h2", h3: "h3"};

/** The file's content; like connections are counted together. */
export function facts(exchanges, notes) {
  const perConnection = new Map();
  for (const {connection, protocol, tls} of exchanges) {
    if (connection !== null && tls && !perConnection.has(connection)) {
      perConnection.set(connection, JSON.stringify(describe(tls, protocol)));
    }
  }
  const counts = new Map();
  for (const kind of perConnection.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return {
    h123: "client/1",
    tls: [...counts].map(([kind, connections]) => ({...JSON.parse(kind), connections})),
    congestion: null, // a page cannot ask
    notes,
  };
}

function describe({protocol: version, keyExchange, keyExchangeGroup, cipher}, protocol) {
  return {
    // QUIC has no other TLS.
    version: version === "QUIC" ? "1.3" : version.replace(/^TLS /, ""),
    cipher: keyExchange ? `${keyExchange} with ${cipher}` : CIPHERS[cipher] ?? cipher,
    key_exchange: keyExchangeGroup ?? "",
    alpn: ALPN[protocol] ?? protocol,
  };
}
