// samples.csv: a row for every request.
import { writeFileSync } from "node:fs";

import { now } from "./clock.mjs";

const COLUMNS = [
  "phase", "user", "start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns", "status",
  "bytes_up", "bytes_down", "protocol", "connection", "reused", "error", "group", "resource",
];

/** One request. Times are nanoseconds of the monotonic clock; null is what is not known. */
export class Sample {
  connected = null;
  sent = null;
  firstByte = null;
  end = null;
  status = 0;
  up = 0;
  down = 0;
  protocol = null;
  connection = null;
  reused = false;
  error = "";

  held = null; // a Comparison, where the body is the block

  constructor(phase, user, start, number = 0) {
    Object.assign(this, { phase, user, start, number });
  }

  /** The request has been written. What is told of that after the answer's end is too late to be a time. */
  written() {
    if (this.end === null) this.sent = now();
  }

  /** A piece of the answer's body. */
  take(chunk) {
    this.down += chunk.length;
    this.held?.take(chunk);
  }

  /** Whether the body has not the bytes that it should have. */
  get wrong() {
    return this.status === 200 && this.held !== null && this.held.wrong;
  }

  row() {
    return [
      this.phase, this.user, this.start, this.connected, this.sent, this.firstByte, this.end, this.status,
      this.up, this.down, this.protocol, this.connection, this.reused ? 1 : 0, quoted(this.error), null, null,
    ].join(",");
  }
}

function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes the rows. They were kept until now: writing while measuring would take processor time from the server. */
export function writeSamples(path, samples) {
  writeFileSync(path, [COLUMNS.join(","), ...samples.map((sample) => sample.row())].join("\n") + "\n");
}

/** One line: how many requests there were, and what became of them. */
export function summary(samples) {
  const failed = samples.filter((sample) => sample.error);
  const failures = failed.length > 0 ? `, ${failed.length} of them failed, the first: ${failed[0].error}` : "";
  return `${samples.length} requests${failures}`;
}
