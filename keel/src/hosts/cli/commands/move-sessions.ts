/** `keel sessions move`: sessions from files into one database, or back. Nothing is lost on the way, whatever ends it. */
import { oneOf, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";

const kinds = ["jsonl", "sqlite", "postgres"] as const;
const names = {
  jsonl: "files of JSON lines",
  sqlite: "the SQLite database",
  postgres: "the PostgreSQL database",
} as const;
/** As often as somebody who waits wants to hear of it. */
const everyMs = 2_000;

export const moveSessions: CommandRun<{ to: string | undefined }> = async (
  { values, positionals },
  context,
) => {
  const to = oneOf("to", values.to, kinds);
  if (to === undefined) throw usage("Say where to: --to sqlite, --to jsonl or --to postgres.");
  await using home = openHome(context);
  const sessions = positionals.length > 0 ? positionals : undefined;
  let moved = 0;
  let left = 0;
  let toldAt = home.clock.now();
  for await (const one of home.sessions.move({ to, sessions })) {
    if (one.left === undefined) moved += 1;
    else {
      left += 1;
      context.err.line(`keel: ${visible(`${one.session} stays where it is: ${one.left.message}`)}`);
    }
    if (home.clock.now() - toldAt < everyMs) continue;
    toldAt = home.clock.now();
    context.err.line(`${moved + left} of ${one.of} …`);
  }
  const rest = left > 0 ? `; ${count(left)} stay where they are` : "";
  context.err.line(`Moved ${count(moved)} to ${names[to]}${rest}.`);
  if ((await home.sessions.kind()) !== to)
    context.err.line(`New sessions go elsewhere still: \`keel config set store ${to}\` changes that.`);
  return left > 0 ? exitCodes.sessionBusy : exitCodes.ended;
};

const count = (number: number): string => `${number} ${number === 1 ? "session" : "sessions"}`;
