/** `keel sessions search`: sessions by what was said and done in them. Nothing runs. */
import { amount, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";

const maxFound = 20;

type SessionSearchValues = {
  json: boolean;
  file: string | undefined;
  command: string | undefined;
  tool: string | undefined;
  cost: string | undefined;
  fault: string | undefined;
  since: string | undefined;
  until: string | undefined;
};

export const searchSessions: CommandRun<SessionSearchValues> = async ({ values, positionals }, context) => {
  const { json, file, command, tool, fault } = values;
  const words = positionals.join(" ").trim();
  const facts = {
    file,
    command,
    tool,
    fault,
    leastUsd: amount("cost", values.cost),
    since: timeOf("since", values.since, "start"),
    until: timeOf("until", values.until, "end"),
  };
  const isByFacts = Object.values(facts).some((fact) => fact !== undefined);
  if (words === "" && !isByFacts)
    throw usage(
      "Say which words to look for, or --file, --command, --tool, --cost, --fault, --since, --until.",
    );
  await using home = openHome(context);
  const tables = await home.conversations();
  if (isByFacts) {
    const found = await tables.find({ ...facts, words: words === "" ? undefined : words, limit: maxFound });
    if (json) return context.out.line(toLine(found));
    if (found.length === 0) return context.err.line("No session that is kept did that.");
    for (const { id, updatedAt, costUsd, excerpt } of found)
      context.out.line(`${id}  ${minute(updatedAt)}  ${costUsd.toFixed(4)} USD  ${visible(excerpt)}`);
    return;
  }
  const found = await tables.search({ words, limit: maxFound });
  if (json) return context.out.line(toLine(found));
  if (found.length === 0) return context.err.line("Nobody said that in a session that is kept.");
  for (const { conversation, at, role, excerpt } of found)
    context.out.line(`${conversation}  ${minute(at)}  ${by[role]}: ${visible(excerpt)}`);
};

const minute = (at: number): string => (isoTime(at) ?? "").slice(0, 16).replace("T", " ");

const dayMs = 24 * 60 * 60 * 1000;

/** A day means all of it, in universal time. */
function timeOf(name: string, text: string | undefined, which: "start" | "end"): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw usage(`--${name} takes a day such as 2026-11-18, or a time in ISO 8601.`);
  return which === "end" && /^\d{4}-\d{2}-\d{2}$/.test(text) ? at + dayMs - 1 : at;
}

const by = { user: "you", assistant: "model", title: "title" } as const;
