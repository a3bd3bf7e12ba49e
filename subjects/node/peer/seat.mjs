// Seats: the places for the connections that a workload asks for.
import { aborted } from "./deadline.mjs";

/** A place for one connection: empty at first and after its connection died. */
export class Seat {
  #dial;
  #exclusive;
  #turn = Promise.resolve(); // fulfilled when nobody sits: for a dial; if exclusive, for a whole request
  #current = null;

  constructor(dial, exclusive) {
    this.#dial = dial;
    this.#exclusive = exclusive;
  }

  /** The seat's connection, dialled if need be; the caller calls `leave` when its request has ended. */
  async take(signal) {
    const before = this.#turn;
    let leave;
    this.#turn = new Promise((resolve) => (leave = resolve));
    try {
      await Promise.race([before, aborted(signal)]);
      if (!this.#current?.usable) this.#current = await this.#dial(signal);
    } catch (error) {
      before.then(leave);
      throw error;
    }
    if (this.#exclusive) return { connection: this.#current, leave };
    leave();
    return { connection: this.#current, leave: () => {} };
  }
}
