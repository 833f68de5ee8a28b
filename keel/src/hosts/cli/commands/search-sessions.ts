/** `keel sessions search`: words in what people and models said, in all sessions. Nothing runs. */
import { usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";

const maxFound = 20;

export const searchSessions: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const words = positionals.join(" ");
  if (words.trim() === "") throw usage("Say which words to look for.");
  await using home = openHome(context);
  const found = await (await home.conversations()).search({ words, limit: maxFound });
  if (values.json) return context.out.line(toLine(found));
  if (found.length === 0) return context.err.line("Nobody said that in a session that is kept.");
  for (const { conversation, at, role, excerpt } of found) {
    const when = (isoTime(at) ?? "").slice(0, 16).replace("T", " ");
    context.out.line(`${conversation}  ${when}  ${by[role]}: ${visible(excerpt)}`);
  }
};

const by = { user: "you", assistant: "model", title: "title" } as const;
