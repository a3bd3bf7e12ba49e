// Whom the browser trusts: a new NSS database with the trial's CA and nothing else.
import {execFileSync} from "node:child_process";
import {mkdirSync} from "node:fs";

/** Makes the database `folder`, where the CA of a PEM file may vouch for servers. */
export function trust(folder, ca) {
  mkdirSync(folder, {recursive: true});
  const database = ["-d", `sql:${folder}`];
  execFileSync("certutil", ["-N", ...database, "--empty-password"]);
  execFileSync("certutil", ["-A", ...database, "-n", "h123", "-t", "C,,", "-i", ca]);
}
