// Connections to the server, by protocol.
import { Unsupported } from "../peer/command.mjs";
import { dial as http1 } from "./http1.mjs";
import { dial as http2 } from "./http2.mjs";

const dials = { h1: http1, h2: http2 };

export function connect(protocol) {
  if (!Object.hasOwn(dials, protocol)) throw new Unsupported(`no ${protocol}: h1 and h2`);
  return dials[protocol];
}
