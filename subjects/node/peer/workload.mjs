// workload.json: what a client is to do.
import { readFileSync } from "node:fs";

import { BadInput } from "./command.mjs";

const FORMAT = "workload/1";
const FIELDS = [
  "protocol", "host", "address", "port", "ca", "method", "path", "upload_bytes", "users", "requests", "rate",
  "connections", "cold", "warmup", "timeout_ns", "seed",
];

/** The workload in a file, with `count`, the connections it asks for, and `trusted`, the text of its CA. */
export function readWorkload(path) {
  try {
    const workload = JSON.parse(readFileSync(path, "utf8"));
    check(workload);
    return { ...workload, count: connections(workload), trusted: readFileSync(workload.ca) };
  } catch (error) {
    throw new BadInput(`${path}: ${error.message}`);
  }
}

function check(workload) {
  if (workload.h123 !== FORMAT) throw new Error(`h123: must be "${FORMAT}", not ${JSON.stringify(workload.h123)}`);
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
