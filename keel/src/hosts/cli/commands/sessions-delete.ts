/** `keel sessions delete ID`. */
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";
import { onlyOne } from "./only-one.ts";

export async function deleteSession(
  { positionals }: { positionals: readonly string[] },
  context: Context,
): Promise<number> {
  const id = onlyOne(positionals, "the id of a session");
  await openHome(context).sessions.delete(id);
  context.err.line(`Deleted ${id}.`);
  return exitCodes.ended;
}
