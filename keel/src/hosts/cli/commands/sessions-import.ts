/** `keel sessions import FILE`: an exported log as a new session of this folder. */
import path from "node:path";
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";
import { onlyOne } from "./only-one.ts";

export async function importSession(
  { positionals }: { positionals: readonly string[] },
  context: Context,
): Promise<number> {
  const file = path.resolve(context.cwd, onlyOne(positionals, "the file of an exported session"));
  const { id, events, notices } = await openHome(context).sessions.importFile(file, context);
  context.out.line(id);
  for (const notice of notices) context.err.line(notice);
  context.err.line(`Imported ${events} events. To go on: keel -p --resume ${id} "PROMPT"`);
  return exitCodes.ended;
}
