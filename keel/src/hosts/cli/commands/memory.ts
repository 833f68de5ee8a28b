/** `keel memory`: what earlier conversations said, found, forgotten, counted and made anew. No model runs. */
import { oneOf, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { readable, shorten } from "../../../kernel/text.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { confirms } from "../terminal/terminal.ts";

type OpenIndex = Awaited<ReturnType<ReturnType<typeof openHome>["memoryIndex"]>>;
type Stats = Awaited<ReturnType<OpenIndex["stats"]>>;
type FoundPassage = Awaited<ReturnType<OpenIndex["search"]>>["found"][number];

const scopes = ["session", "project", "person"] as const;
/** A model that was not loaded yet is by then: whoever asks once waits for it. */
const loadedMs = 5_000;
/** What a person reads of a passage in a list. */
const maxShown = 600;

type SearchValues = {
  json: boolean;
  scope: string | undefined;
  session: string | undefined;
  limit: string | undefined;
};

export const searchMemory: CommandRun<SearchValues> = async ({ values, positionals }, context) => {
  const words = positionals.join(" ").trim();
  if (words === "") throw usage("Say what to look for: `keel memory search WORDS`.");
  const { session } = values;
  const named = oneOf("scope", values.scope, scopes);
  if (named === "session" && session === undefined)
    throw usage("Of which session? `--session ID` says it; `keel sessions list` lists them.");
  const scope = session === undefined ? (named ?? "project") : "session";
  const limit = wholeNumber("limit", values.limit, 1);
  const { found, by } = await withMemory(context, async (memory) => {
    await memory.catchUp();
    return memory.search({ words, scope, session, cwd: context.cwd, limit, waitMs: loadedMs });
  });
  if (values.json) context.out.line(toLine({ found, by }));
  else if (found.length > 0) context.out.line(found.map(sayFound).join("\n\n"));
  else
    context.err.line(
      scope === "project"
        ? "Nothing of this project says that; --scope person looks everywhere."
        : "Nothing says that.",
    );
};

function sayFound({ id, at, source, session, passage }: FoundPassage): string {
  const who = source.kind === "tool" ? source.tool : source.kind;
  return `${id}  ${isoTime(at)}  ${who}  session ${session}\n${indented(readable(shorten(passage, maxShown)))}`;
}

const indented = (text: string): string => text.replace(/^/gm, "    ");

type ForgetValues = { json: boolean; yes: boolean; words: string | undefined; session: string | undefined };

export const forgetMemory: CommandRun<ForgetValues> = async ({ values, positionals }, context) => {
  const { words, session } = values;
  const ids = positionals.map((given) => wholeNumber("ID", given, 1) ?? 0);
  const named = [ids.length > 0, words !== undefined, session !== undefined].filter(Boolean).length;
  if (named !== 1 || words?.trim() === "")
    throw usage("Say what to forget: ids of `keel memory search`, or --words TEXT, or --session ID.");
  const what = words !== undefined ? { words } : session !== undefined ? { session } : { chunks: ids };
  const said = words !== undefined ? `every message with ${JSON.stringify(words)}` : "this";
  if (!values.yes && !(await confirms(context, `Forget ${said}? [no] > `))) return exitCodes.turnFailed;
  const forgotten = await withMemory(context, (memory) => memory.forget(what));
  if (values.json) context.out.line(toLine(forgotten));
  else {
    const { chunks, sessions } = forgotten;
    context.out.line(
      `Forgotten: ${chunks} pieces of ${sessions.length} sessions. Their logs say so, and stay.`,
    );
  }
  for (const id of forgotten.busy)
    context.err.line(`keel: ${id} is open elsewhere: nothing of it was forgotten.`);
  return forgotten.busy.length > 0 ? exitCodes.sessionBusy : exitCodes.ended;
};

export const memoryStats: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const stats = await withMemory(context, (memory) => memory.stats());
  context.out.line(values.json ? toLine(stats) : sayStats(stats));
};

export const rebuildMemory: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const stats = await withMemory(context, (memory) => memory.rebuild());
  context.out.line(values.json ? toLine(stats) : sayStats(stats));
};

const sayStats = ({ chunks, sessions, bytes, embedded, embedder }: Stats): string =>
  [
    `${chunks} pieces of ${sessions} sessions, ${(bytes / 1_048_576).toFixed(1)} MiB`,
    embedder === undefined
      ? "found by words; `memory.embedder` of the settings adds meaning"
      : `${embedded} with a vector by ${embedder}`,
  ].join("\n");

async function withMemory<T>(context: Context, work: (memory: OpenIndex) => Promise<T>): Promise<T> {
  const { env, cwd, err } = context;
  await using home = openHome({ env, cwd });
  return work(await home.memoryIndex({ env, cwd, tell: (words) => err.line(`keel: ${words}`) }));
}
