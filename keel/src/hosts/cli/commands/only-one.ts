/** For commands that work on exactly one thing. */
import { usage } from "../arguments.ts";

export function onlyOne(positionals: readonly string[], what: string): string {
  const [only, ...others] = positionals;
  if (only === undefined || only === "") throw usage(`This command needs ${what}.`);
  if (others.length > 0)
    throw usage(`This command takes only ${what}, not ${JSON.stringify(others[0])} too.`);
  return only;
}
