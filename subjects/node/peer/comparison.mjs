// Bodies on their way in, held against the block.
import { BLOCK, same } from "./block.mjs";

/** A body that comes in pieces. What differs from the block, repeated, shows in its end. */
export class Comparison {
  wrong = false;
  #at = 0;

  take(chunk) {
    for (let done = 0; done < chunk.length && !this.wrong; ) {
      const piece = chunk.length <= BLOCK ? chunk : chunk.subarray(done, done + BLOCK);
      this.wrong = !same(piece, this.#at);
      this.#at = (this.#at + piece.length) % BLOCK;
      done += piece.length;
    }
  }
}
