// client.json: what the connections were like.
import { writeFileSync } from "node:fs";

/** Facts about connections, like ones counted together. `tls` of each: version, cipher, key_exchange, alpn. */
export function facts(connections) {
  const kinds = new Map();
  for (const { tls } of connections) {
    const kind = JSON.stringify(tls);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const described = [...kinds].map(([kind, number]) => ({ ...JSON.parse(kind), connections: number }));
  const notes = ["congestion control is the kernel's, which JavaScript cannot ask"];
  return { h123: "client/1", tls: described, congestion: null, notes };
}

export function writeFacts(path, content) {
  writeFileSync(path, JSON.stringify(content, null, 2) + "\n");
}
