// client.json: what the connections were like.
import { writeFileSync } from "node:fs";

/**
 * Facts about connections, like ones counted together. Of each: `tls` (version, cipher, key_exchange, alpn), and
 * `congestion` where the connection's own side chooses it.
 */
export function facts(connections) {
  const kinds = new Map();
  for (const { tls } of connections) {
    const kind = JSON.stringify(tls);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const described = [...kinds].map(([kind, number]) => ({ ...JSON.parse(kind), connections: number }));
  const congestion = connections[0]?.congestion ?? null;
  const notes = congestion === null ? ["congestion control is the kernel's, which JavaScript cannot ask"] : [];
  return { h123: "client/1", tls: described, congestion, notes };
}

export function writeFacts(path, content) {
  writeFileSync(path, JSON.stringify(content, null, 2) + "\n");
}
