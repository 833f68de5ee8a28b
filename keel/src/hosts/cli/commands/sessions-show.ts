/** `keel sessions show ID`: what was said and done, as Markdown. Nothing runs because a session is only shown. */
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { documentOf } from "../../../view/document.ts";
import { toMarkdown } from "../../../view/markdown.ts";
import type { Context } from "../context.ts";
import { onlyOne } from "./only-one.ts";

export async function showSession(
  { positionals }: { positionals: readonly string[] },
  context: Context,
): Promise<number> {
  const id = onlyOne(positionals, "the id of a session");
  const events = await Array.fromAsync(
    openHome(context).sessions.read(id, ({ text }) => context.err.line(`keel: ${text}`)),
  );
  context.out.write(toMarkdown(documentOf(events)));
  return exitCodes.ended;
}
