// The command `drive`: carries a workload out.
import { now } from "./clock.mjs";
import { Comparison } from "./comparison.mjs";
import { Unsupported } from "./command.mjs";
import { within } from "./deadline.mjs";
import { facts, writeFacts } from "./facts.mjs";
import { classify, WrongBytes } from "./failures.mjs";
import { Sample, summary, writeSamples } from "./samples.mjs";
import { Seat } from "./seat.mjs";
import { numberOf, readWorkload } from "./workload.mjs";

/**
 * Drives the workload in a file. `connect` gives, for a protocol that it can, a function that dials:
 * (workload, signal) -> connection, which has `ready`, `tls`, `usable`, `request(workload, sample, signal)` and `close()`.
 */
export async function drive(files, connect) {
  const workload = readWorkload(files.workload);
  if (workload.rate !== null) throw new Unsupported("no open loop");
  const dial = connect(workload.protocol);
  const load = new Load(workload, dial);
  await load.run();
  writeSamples(files.samples, load.samples);
  writeFacts(files.facts, facts(load.connections));
  console.error(summary(load.samples));
}

class Load {
  samples = [];
  connections = [];
  #workload;
  #seats;

  constructor(workload, dial) {
    const numbered = async (signal) => {
      const connection = await dial(workload, signal);
      connection.index = this.connections.push(connection) - 1;
      connection.served = 0;
      return connection;
    };
    this.#workload = workload;
    this.#seats = Array.from({ length: workload.count }, () => new Seat(numbered, workload.protocol === "h1"));
  }

  async run() {
    const { users, cold } = this.#workload;
    for (const [index, seat] of this.#seats.entries()) {
      if (cold) await this.#request(seat, "cold", index % users, numberOf(this.#workload, users, index));
    }
    await Promise.all(Array.from({ length: users }, (_, user) => this.#user(user)));
    for (const connection of this.connections) connection.close();
  }

  /** Makes a user's requests, each when the last has ended. */
  async #user(user) {
    const { warmup, requests } = this.#workload;
    const seat = this.#seats[user % this.#seats.length];
    for (let done = 0; done < warmup + requests; done++) {
      await this.#request(seat, done < warmup ? "warmup" : "warm", user, numberOf(this.#workload, user, done));
    }
  }

  async #request(seat, phase, user, number) {
    const sample = new Sample(phase, user, now(), number);
    if (this.#workload.compares) sample.held = new Comparison();
    try {
      await within(this.#workload.timeout_ns, sample.start, (signal) => this.#attempt(seat, sample, signal));
    } catch (error) {
      sample.error = classify(error);
    }
    sample.end ??= now();
    this.samples.push(sample);
  }

  async #attempt(seat, sample, signal) {
    const { connection, leave } = await seat.take(signal);
    try {
      sample.connection = connection.index;
      sample.protocol = this.#workload.protocol; // or dialling had failed
      sample.reused = connection.served++ > 0;
      if (sample.phase === "cold") sample.connected = connection.ready;
      await connection.request(this.#workload, sample, signal);
      sample.end = now();
      if (sample.status < 200 || sample.status > 299) throw new Error(`status ${sample.status}`);
      if (sample.wrong) throw new WrongBytes();
    } finally {
      leave();
    }
  }
}
