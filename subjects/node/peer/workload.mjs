// workload.json: what a client is to do.
import { readFileSync } from "node:fs";

import { BadInput, Unsupported } from "./command.mjs";

const FORMAT = "workload/2";
const KIND = "requests";
const DIGITS = 12; // of a request's number, with which the value of a header that changes ends
const FIELDS = [
  "protocol", "host", "address", "port", "ca", "method", "path", "upload_bytes", "users", "requests", "rate",
  "connections", "cold", "warmup", "timeout_ns", "seed", "headers",
];

/** The workload in a file, with `count`, the connections it asks for, `trusted`, the text of its CA, and whether
 * answers are the block, which is then compared. */
export function readWorkload(path) {
  try {
    const workload = JSON.parse(readFileSync(path, "utf8"));
    check(workload);
    const compares = workload.method === "GET" && /^\/bytes\/[0-9]+$/.test(workload.path);
    return { ...workload, compares, count: connections(workload), trusted: readFileSync(workload.ca) };
  } catch (error) {
    if (error instanceof Unsupported) throw error;
    throw new BadInput(`${path}: ${error.message}`);
  }
}

function check(workload) {
  const { h123, kind } = workload;
  if (h123 !== FORMAT) throw new Unsupported(`h123: only ${FORMAT} is understood here, not ${JSON.stringify(h123)}`);
  if (kind !== KIND) throw new Unsupported(`kind: only ${KIND} is possible here, not ${JSON.stringify(kind)}`);
  const unknown = Object.keys(workload).filter((field) => !["h123", "kind", ...FIELDS].includes(field));
  if (unknown.length > 0) throw new Unsupported(`the field ${unknown[0]} is not known here`);
  const missing = FIELDS.filter((field) => !Object.hasOwn(workload, field));
  if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
  const { connections: number } = workload;
  if (number !== "shared" && number !== "per-user" && !(Number.isInteger(number) && number >= 1)) {
    throw new Error(`connections: ${JSON.stringify(number)} is not "shared", "per-user" or a number from 1`);
  }
}

/** An HTTP/1.1 connection carries one request at a time, so sharing gives each user one. */
function connections({ connections: number, users, protocol }) {
  if (Number.isInteger(number)) return number;
  return number === "per-user" || protocol === "h1" ? users : 1;
}

/** Counts the requests of all users, one user after another; cold ones come after them. */
export function numberOf({ warmup, requests }, user, n) {
  return user * (warmup + requests) + n;
}

/** The headers, besides those that its protocol needs, of the request with this number. */
export function named({ headers }, number) {
  const written = String(number).padStart(DIGITS, "0");
  const value = ({ value, changes }) => (changes ? value.slice(0, -DIGITS) + written : value);
  return { "user-agent": "h123", ...Object.fromEntries(headers.map((header) => [header.name, value(header)])) };
}
