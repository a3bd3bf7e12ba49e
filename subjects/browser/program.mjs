// Programs of the machine.
import {accessSync, constants} from "node:fs";
import {delimiter, join} from "node:path";

/** Where PATH has the first of these programs that it has. */
export function onPath(...names) {
  for (const name of names) {
    for (const folder of process.env.PATH.split(delimiter)) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        continue;
      }
    }
  }
  throw new Error(`not on PATH: ${names.join(", ")}`);
}
