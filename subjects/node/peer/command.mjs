// The command line: `COMMAND --option value ...`, every option required; and what the exit statuses mean.
import { parseArgs } from "node:util";

const FAILED = 1;
const BAD_INPUT = 2;
const UNSUPPORTED = 127;

/** What this program cannot do. */
export class Unsupported extends Error {
  exit = UNSUPPORTED;
}

/** What it was given is wrong. */
export class BadInput extends Error {
  exit = BAD_INPUT;
}

/** Runs the command that the arguments name, one of `commands`: {name: {options, start}}. */
export async function run(commands) {
  try {
    const [name, ...rest] = process.argv.slice(2);
    if (!Object.hasOwn(commands, name ?? "")) throw new BadInput(`one of: ${Object.keys(commands).join(", ")}`);
    const { options, start } = commands[name];
    await start(parse(rest, options));
    process.exit(0);
  } catch (error) {
    console.error(error.exit ? error.message : error);
    process.exit(error.exit ?? FAILED);
  }
}

function parse(words, names) {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  let values;
  try {
    ({ values } = parseArgs({ args: words, options }));
  } catch (error) {
    throw new BadInput(error.message);
  }
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new BadInput(`missing: --${missing.join(", --")}`);
  return values;
}

/** Resolves when the process is asked to stop. */
export function untilStopped() {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
