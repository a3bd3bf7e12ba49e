// Sending and counting bodies.
import { pipeline, Readable } from "node:stream";

import { PIECE, pieces } from "./block.mjs";

/** Writes a body of so many bytes and ends the stream, no faster than it is taken; `taken` is told of every piece. */
export function send(stream, bytes, taken = () => {}) {
  if (bytes <= PIECE) {
    stream.end(...pieces(bytes));
    taken(bytes);
    return;
  }
  const body = function* () {
    for (const piece of pieces(bytes)) {
      yield piece;
      taken(piece.length);
    }
  };
  pipeline(Readable.from(body()), stream, () => {}); // the stream's own listeners hear of its errors
}

/** Reads a body to its end and calls back with its length. */
export function count(body, done) {
  let bytes = 0;
  body.on("data", (chunk) => (bytes += chunk.length));
  body.on("end", () => done(bytes));
}
