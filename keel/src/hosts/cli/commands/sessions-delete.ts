/** `keel sessions delete ID`. */
import { storedSessions } from "../../../app/sessions/sessions.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";
import { onlyOne } from "./only-one.ts";

export async function deleteSession(
  { positionals }: { positionals: readonly string[] },
  context: Context,
): Promise<number> {
  const id = onlyOne(positionals, "the id of a session");
  await storedSessions(context).delete(id);
  context.err.line(`Deleted ${id}.`);
  return exitCodes.ended;
}
