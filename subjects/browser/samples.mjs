// samples.csv: one row a request (docs/contracts.md, section 4).
import {parseTag} from "./workload.mjs";

const COLUMNS = [
  "phase", "user", "start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns", "status", "bytes_up", "bytes_down",
  "protocol", "connection", "reused", "error", "group", "resource",
];

/** The file's text, rows in the order in which the requests ended. */
export function samplesCsv(exchanges) {
  const connections = new Map();
  const indexOf = (id) => {
    if (id === null) return "";
    if (!connections.has(id)) connections.set(id, connections.size);
    return connections.get(id);
  };
  const ended = [...exchanges].sort((a, b) => a.end - b.end);
  const openers = openersOf(exchanges);
  const rows = ended.map((exchange) => row(exchange, indexOf(exchange.connection), openers.has(exchange)));
  return [COLUMNS, ...rows].map((cells) => cells.map(quoted).join(",") + "\n").join("");
}

/**
 * Of each connection the request that it served first. Mostly the browser says so itself (`reused` is false); but where it
 * dialled for one request, gave that another connection that had become free, and the new one to a later request, it
 * says of all of them that they found theirs open.
 */
function openersOf(exchanges) {
  const openers = new Map();
  for (const exchange of exchanges) {
    const {connection} = exchange;
    if (connection !== null && (!openers.has(connection) || isBefore(exchange, openers.get(connection)))) {
      openers.set(connection, exchange);
    }
  }
  return new Set(openers.values());
}

function isBefore(one, other) {
  if (one.reused !== other.reused) return !one.reused;
  return (one.firstByte ?? Infinity) < (other.firstByte ?? Infinity);
}

function row(exchange, connection, opens) {
  const {phase, user, group, resource} = exchange.place ?? parseTag(exchange.tag);
  const {sent, firstByte, end, outcome, reused} = exchange;
  const start = exchange.start - Math.round(outcome.waitedMs * 1e6); // the user had asked before its turn came
  const connected = phase === "cold" ? exchange.connected : null;
  return [
    phase, user, start, connected, sent, firstByte, end, outcome.status, outcome.up, outcome.down,
    exchange.protocol, connection, reused === null ? "" : Number(!opens), outcome.error, group, resource,
  ];
}

function quoted(cell) {
  const text = String(cell ?? "").replaceAll(/\s+/g, " ");
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
