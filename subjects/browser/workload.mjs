// The workload, as workload.json says it: what is asked, and by how many users over how many connections.
import {readFileSync} from "node:fs";

/** Exit statuses of the contract. */
export const BAD_INPUT = 2;
export const UNSUPPORTED = 127;

/** An error that ends the driver with a status of its own. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Reads the file, of one of these kinds; throws a Refusal with status 2 if it is none. */
export function readWorkload(path, kinds, remembers) {
  let workload;
  try {
    workload = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Refusal(BAD_INPUT, `cannot read the workload ${path}: ${error.message}`);
  }
  refuseUnknown(workload, kinds, remembers);
  return workload;
}

const FORMAT = "workload/2";
const COMMON = [
  "h123", "kind", "protocol", "host", "address", "port", "ca", "users", "requests", "rate", "connections", "cold",
  "warmup", "timeout_ns", "seed", "headers",
];
const PROTOCOLS = ["h1", "h2", "h3"];
const OLDER_TLS = "1.2"; // in `tls`, which is there where it is asked for
const REPEAT = "repeat"; // in `visit`, likewise
const FOUND = "h3-or-h2"; // in `protocol`: HTTP/3 is to be found
const DNS = "dns"; // in `lookup`, which is there where the browser is to look the server up by itself
const OWN = {requests: ["method", "path", "upload_bytes"], page: ["page", "at_once"]};
// A browser would join its connections to hosts that are one server, so of a resource there is no `host`.
const OF_RESOURCES = ["path", "headers", "initiator", "urgency", "run_ns"];
const PAUSED = "pause_ns"; // of a page, where there is one

/**
 * What is asked for and not known is not passed over. `remembers`: the browser keeps what it learns of a server from one
 * visit to the next.
 */
export function refuseUnknown(workload, kinds = ["requests"], remembers = false) {
  const {h123, kind, headers, page, protocol, tls, visit, lookup, pause_ns: pause} = workload;
  const refuse = (message) => {
    throw new Refusal(UNSUPPORTED, message);
  };
  if (h123 !== FORMAT) refuse(`h123: only ${FORMAT} is understood here, not ${JSON.stringify(h123)}`);
  if (!kinds.includes(kind)) refuse(`kind: only ${kinds.join(" and ")} is possible here, not ${JSON.stringify(kind)}`);
  const fields = [...COMMON, ...OWN[kind]];
  const unknown = Object.keys(workload).find((field) => ![...fields, "tls", "visit", "lookup", PAUSED].includes(field));
  const strange = unknown ?? (page ?? []).flatMap(Object.keys).find((field) => !OF_RESOURCES.includes(field));
  if (strange !== undefined) refuse(`the field ${strange} is not known here`);
  const missing = fields.find((field) => !Object.hasOwn(workload, field));
  if (missing !== undefined) throw new Refusal(BAD_INPUT, `the field ${missing} is missing`);
  if (tls !== undefined && (tls !== OLDER_TLS || ["h3", FOUND].includes(protocol))) refuse(`tls: not ${JSON.stringify(tls)} over ${protocol}`);
  if (pause !== undefined && !(kind === "page" && pause > 0)) refuse(`${PAUSED}: not ${JSON.stringify(pause)} here`);
  const visits = kind === "page" && remembers;
  if (visit !== undefined && (visit !== REPEAT || !visits)) refuse(`visit: not ${JSON.stringify(visit)} here`);
  if (![...PROTOCOLS, ...(visits ? [FOUND] : [])].includes(protocol)) refuse(`no protocol ${protocol} here`);
  if (lookup !== undefined && (lookup !== DNS || protocol !== FOUND)) refuse(`lookup: not ${JSON.stringify(lookup)} over ${protocol}`);
  // A browser has priorities of its own, and so what is said of them is left to it.
  const asked = [...headers, ...(page ?? []).flatMap((resource) => resource.headers)];
  if (asked.some(({name}) => kind === "requests" || name !== "priority")) {
    refuse("headers: a page's own cannot be chosen here");
  }
}

/** How many connections the workload asks for; one request at a time goes over one of HTTP/1.1. */
export function seatCount({connections, protocol, users}) {
  if (typeof connections === "number") return connections;
  return connections === "per-user" || protocol === "h1" ? users : 1;
}

/** The tag of a seat's cold request, as the page takes tags. */
export function coldTags({users}, seat) {
  return [[`cold-${seat % users}-${seat}`]];
}

/** The tags of a seat's users, one list a user; users are dealt to the seats in turn. */
export function userTags(workload, seat) {
  const seats = seatCount(workload);
  const lists = [];
  for (let user = seat; user < workload.users; user += seats) {
    const phases = [...Array(workload.warmup).fill("warmup"), ...Array(workload.requests).fill("warm")];
    lists.push(phases.map((phase, n) => `${phase}-${user}-${n}`));
  }
  return lists;
}

/** What a tag says. */
export function parseTag(tag) {
  const [phase, user] = tag.split("-");
  return {phase, user: Number(user)};
}
