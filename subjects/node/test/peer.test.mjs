// Tests of what the JavaScript subjects share: `node --test` in subjects/node.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { pieces } from "../peer/block.mjs";
import { now } from "../peer/clock.mjs";
import { Comparison } from "../peer/comparison.mjs";
import { within } from "../peer/deadline.mjs";
import { classify, ProtocolError, Timeout, WrongBytes } from "../peer/failures.mjs";
import { route } from "../peer/routes.mjs";
import { Sample } from "../peer/samples.mjs";
import { Seat } from "../peer/seat.mjs";

const lasting = { usable: true };
const never = new AbortController().signal;

test("a body is the block, repeated and cut", () => {
  const digest = (index) => createHash("sha256").update("h123").update(Buffer.from([0, 0, index >> 8, index & 255])).digest();
  const block = Buffer.concat(Array.from({ length: 2048 }, (_, index) => digest(index)));
  for (const length of [0, 1, 65_536, 65_537, 1_000_000]) {
    const expected = Buffer.alloc(length, block);
    assert.ok(Buffer.concat([...pieces(length)]).equals(expected), `${length} bytes`);
    assert.ok(Buffer.concat([...pieces(length, 4096)]).equals(expected), `${length} bytes in small pieces`);
  }
});

test("each byte is compared, however the body is cut", () => {
  const right = Buffer.concat([...pieces(200_001)]);
  const wrong = (body, size) => {
    const held = new Comparison();
    for (let at = 0; at < body.length; at += size) held.take(body.subarray(at, at + size));
    return held.wrong;
  };
  for (const size of [1000, 16_384, 65_536, 65_537, 200_001]) {
    assert.equal(wrong(right, size), false, `pieces of ${size}`);
    for (const at of [0, 65_535, 65_536, 131_072, 200_000]) {
      const body = Buffer.from(right);
      body[at] ^= 1;
      assert.equal(wrong(body, size), true, `byte ${at} in pieces of ${size}`);
    }
  }
});

test("what is asked for", () => {
  assert.deepEqual(route("GET", "/bytes/10"), { status: 200, bytes: 10 });
  assert.deepEqual(route("HEAD", "/bytes/0"), { status: 200, bytes: 0 });
  assert.deepEqual(route("POST", "/upload"), { status: 200, upload: true });
  for (const path of ["/bytes/", "/bytes/-1", "/bytes/1x", "/", "/upload"]) assert.equal(route("GET", path).status, 404);
});

test("a row has the columns' order, and nothing where nothing is known", () => {
  const sample = new Sample("warm", 2, 5n);
  Object.assign(sample, { end: 9n, error: 'other: a "b", c' });
  assert.equal(sample.row(), 'warm,2,5,,,,9,0,0,0,,,0,"other: a ""b"", c",,');
});

test("errors in the contract's words", () => {
  const coded = (code) => classify(Object.assign(new Error("x\n y"), { code }));
  assert.equal(coded("ECONNREFUSED"), "refused");
  assert.equal(coded("ECONNRESET"), "reset");
  assert.equal(coded("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL"), "protocol");
  assert.equal(coded("ERR_TLS_CERT_ALTNAME_INVALID"), "tls");
  assert.equal(coded("ESTRANGE"), "other: x y");
  assert.equal(classify(new Timeout()), "timeout");
  assert.equal(classify(new ProtocolError()), "protocol");
  assert.equal(classify(new WrongBytes()), "wrong-bytes");
});

test("a deadline counts from the start, and its error is a timeout", async () => {
  const begun = now();
  const waiting = (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("broken off"))));
  await assert.rejects(within(2e9, begun - 1_900_000_000n, waiting), Timeout);
  assert.ok(now() - begun < 1_000_000_000n);
  const ending = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));
  await assert.rejects(within(1_000_000, now(), ending), Timeout);
  assert.equal(await within(1e9, now(), async () => 7), 7);
});

test("an exclusive seat serves one after another, a shared one all, each by a single dial", async () => {
  for (const exclusive of [true, false]) {
    let dials = 0;
    const seat = new Seat(async () => (dials++, lasting), exclusive);
    const first = await seat.take(never);
    let served = false;
    const second = seat.take(never).then((taken) => ((served = true), taken));
    await new Promise(setImmediate);
    assert.equal(served, !exclusive);
    first.leave();
    (await second).leave();
    assert.equal(dials, 1);
  }
});

test("who cannot wait for a seat leaves it to the next", async () => {
  const seat = new Seat(async () => lasting, true);
  const first = await seat.take(never);
  const hurried = new AbortController();
  const second = seat.take(hurried.signal);
  const third = seat.take(never);
  hurried.abort(new Timeout());
  await assert.rejects(second, Timeout);
  first.leave();
  assert.equal((await third).connection, lasting);
});

test("a dial that fails leaves the seat empty for the next", async () => {
  let dials = 0;
  const seat = new Seat(async () => {
    if (dials++ === 0) throw new Error("refused");
    return lasting;
  }, true);
  await assert.rejects(seat.take(never));
  assert.equal((await seat.take(never)).connection, lasting);
});
