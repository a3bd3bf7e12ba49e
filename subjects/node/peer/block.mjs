// Bodies: the block that all of h123's servers repeat, digests of a counter, so that nothing can compress it and
// everybody can check it.
import { createHash } from "node:crypto";

const DIGESTS = 2048;
const REPEATS = 4; // fewer, larger writes cost Node less

function digest(index) {
  const text = Buffer.from("h123\0\0\0\0");
  text.writeUInt32BE(index, 4);
  return createHash("sha256").update(text).digest();
}

const block = Buffer.concat(Array.from({ length: DIGESTS }, (_, index) => digest(index)));
const sheet = Buffer.concat(Array(REPEATS).fill(block));

/** Bytes of the block. */
export const BLOCK = block.length;

/** Whether a piece of at most a block is what a body has from this place in the block on. */
export function same(piece, at) {
  return sheet.compare(piece, 0, piece.length, at, at + piece.length) === 0;
}

/** Bytes of the largest piece of a body. */
export const PIECE = sheet.length;

/** A body of so many bytes, in pieces of `size`, which divides PIECE. */
export function* pieces(bytes, size = PIECE) {
  for (let made = 0; made < bytes; made += size) {
    const at = made % PIECE;
    yield sheet.subarray(at, at + Math.min(size, bytes - made));
  }
}
