// client.json: what the connections were like, as far as the browser tells.

const ALPN = {h1: "http/1.1", h2: "h2", h3: "h3"};

/** The file's content; like connections are counted together. `visits`: what each page was told; none where there are none. */
export function facts(exchanges, visits, notes) {
  const perConnection = new Map();
  for (const {connection, protocol, tls} of exchanges) {
    if (connection !== null && tls && !perConnection.has(connection)) {
      perConnection.set(connection, JSON.stringify({...tls, alpn: ALPN[protocol] ?? protocol}));
    }
  }
  const counts = new Map();
  for (const kind of perConnection.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return {
    h123: "client/1",
    tls: [...counts].map(([kind, connections]) => ({...JSON.parse(kind), connections})),
    congestion: null, // a page cannot ask
    ...(visits.length > 0 ? {visits} : {}),
    notes,
  };
}
