// TLS connections over TCP.
import { connect } from "node:tls";

import { now } from "../peer/clock.mjs";
import { ProtocolError } from "../peer/failures.mjs";
import { ALPN, describe, pinned } from "../peer/tls.mjs";

/** An established socket to the workload's server, and when it was. */
export function secure({ protocol, address, port, host, trusted }, signal) {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...pinned(protocol), host: address, port, servername: host, ca: trusted });
    const giveUp = () => socket.destroy(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    socket.setNoDelay(true);
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      const ready = now();
      signal.removeEventListener("abort", giveUp);
      socket.off("error", reject);
      const alpn = socket.alpnProtocol || ""; // none: the server takes no part in ALPN, and speaks HTTP/1.1
      if ((alpn || ALPN.h1) === ALPN[protocol]) resolve({ socket, ready, tls: { ...describe(socket), alpn } });
      else socket.destroy(), reject(new ProtocolError(`negotiated ${alpn || "no protocol"}`));
    });
  });
}
