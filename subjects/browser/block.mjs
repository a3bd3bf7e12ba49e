// The block that downloads repeat (docs/contracts/subject.md).
import {createHash} from "node:crypto";

const DIGESTS = 2048;

/** Its 65 536 bytes. */
export function block() {
  const digest = (number) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(number);
    return createHash("sha256").update("h123").update(counter).digest();
  };
  return Buffer.concat(Array.from({length: DIGESTS}, (_, number) => digest(number)));
}
