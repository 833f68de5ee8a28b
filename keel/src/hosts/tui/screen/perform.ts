/** What the reducers want done outside of the screen, one by one. What comes of it is told as a value, also when it fails. */
import { toFault } from "../../../kernel/fault.ts";
import type { Durable } from "../../../protocol/event/durable.ts";
import type { RuleFile } from "../../../view/ask-words.ts";
import { documentOf } from "../../../view/document.ts";
import { toHtml } from "../../../view/html.ts";
import { toMarkdown } from "../../../view/markdown.ts";
import { rowsOf, transcriptOf } from "../../../view/transcript.ts";
import { type RowContext, shortPath } from "../rows/context.ts";
import { rowLines } from "../rows/row.ts";
import { diffLines, nearChanges } from "../text/diff.ts";
import { inertLines, inertOne } from "../text/inert.ts";
import { blank, bold, cut, dim, type PrintLine } from "../text/styled.ts";
import { copyToClipboard } from "../writer/modes.ts";
import type { Effect, Got } from "./effects.ts";
import { findMemory } from "./find-memory.ts";
import type { ScreenHost } from "./host.ts";
import { screenSettings } from "./settings.ts";
import { rowContext, type ScreenState } from "./state.ts";

type Performed = { readonly got?: Got | undefined; readonly say?: string | undefined };

/** Never throws. */
export async function perform(effect: Effect, host: ScreenHost, state: ScreenState): Promise<Performed> {
  try {
    return await attempt(effect, host, state);
  } catch (thrown) {
    const tag = "tag" in effect && effect.tag !== undefined ? effect.tag : effect.type;
    return { got: { what: "failed", tag, text: toFault(thrown).message } };
  }
}

async function attempt(effect: Effect, host: ScreenHost, state: ScreenState): Promise<Performed> {
  const { handle, own, sessions } = host;
  switch (effect.type) {
    case "submit": {
      const receipt = await handle.submit(effect.command);
      return effect.tag === undefined ? {} : { got: { what: "receipt", tag: effect.tag, receipt } };
    }
    case "inquire": {
      const answer = await handle.inquire(effect.name, effect.question as never);
      return { got: { what: "inquiry", tag: effect.tag, name: effect.name, answer } as Got };
    }
    case "keep-rule": {
      if (!sessions.keepRule)
        return said("It holds for this session: from here no settings file can be written.");
      return said(await sessions.keepRule(effect.rule, effect.to));
    }
    case "drop-rule":
      return { got: { what: "rules-changed", text: await dropped(effect, host) } };
    case "settings-schema":
      return { got: { what: "schema", schema: (await sessions.settings?.schema()) ?? null } };
    case "set-setting": {
      if (!sessions.settings)
        return said("From here no settings file can be written: `keel config set` does it there.");
      const text = await sessions.settings.write(effect.name, effect.text);
      return { got: { what: "settings", settings: screenSettings(await sessions.settings.read()), text } };
    }
    case "clipboard": {
      const image = await own.clipboardImage();
      return image ? { got: { what: "image", ...image } } : said("There is no picture in the clipboard.");
    }
    case "attach-path": {
      const image = await own.readImage(effect.path);
      if (image) return { got: { what: "image", ...image } };
      return { got: { what: "edited", text: state.editor.text + effect.typed } };
    }
    case "copy":
      if (effect.text === "") return said("There is no reply to copy yet.");
      return {
        ...said(effect.said ?? "The last reply is in the clipboard."),
        say: copyToClipboard(effect.text),
      };
    case "remember-input":
      await own.addHistory(state.session.cwd, effect.text);
      return {};
    case "list-sessions": {
      const items = (await sessions.list()).filter(({ id }) => id !== handle.id);
      return { got: { what: effect.for === "mention" ? "other-sessions" : "sessions", items } };
    }
    case "preview-session": {
      const lines = await previewSession(sessions.read(effect.id), rowContext(state));
      return { got: { what: "preview", id: effect.id, lines } };
    }
    case "read-changes":
      return { got: { what: "changes", lines: await changesSince(effect.since, host, state) } };
    case "search-memory": {
      const { words, scope } = effect;
      return { got: { what: "memory", words, scope, items: await findMemory(effect, host) } };
    }
    case "forget-memory":
      return { got: { what: "forgotten", text: (await sessions.memory?.forget(effect.piece)) ?? "" } };
    case "read-transcript":
      return { got: { what: "transcript", lines: await wholeTranscript(sessions.read(handle.id), state) } };
    case "export":
      return said(await exported(effect.format, host));
    default:
      return {};
  }
}

const ruleFiles: readonly RuleFile[] = ["user", "project", "local"];

async function dropped(
  { rule, list, source }: Extract<Effect, { type: "drop-rule" }>,
  { handle, sessions }: ScreenHost,
): Promise<string> {
  if (source === "session") {
    await handle.submit({
      type: "set",
      patch: { permissions: [{ type: "rules", change: "remove", list, rules: [rule] }] },
    });
    return "Taken away: it was of this session.";
  }
  const file = ruleFiles.find((one) => one === source);
  if (!sessions.dropRule || !file)
    return "From here it cannot be taken away: `keel permissions remove` does it there.";
  return await sessions.dropRule(rule, list, file);
}

const said = (text: string): Performed => ({ got: { what: "said", text } });

/** The last words of a session. */
export async function previewSession(
  events: AsyncIterable<Durable>,
  context: RowContext,
): Promise<readonly PrintLine[]> {
  const kept: Durable[] = [];
  for await (const event of events) {
    kept.push(event);
    if (kept.length > maxPreviewed) kept.shift();
  }
  const rows = rowsOf(transcriptOf(kept))
    .toArray()
    .filter(({ kind }) => kind === "user" || kind === "text");
  const lines = rows.slice(-4).flatMap((row) => rowLines(row, context));
  return lines.length > 0 ? lines.slice(-12) : [cut(dim("Nothing was said in it."))];
}

const maxPreviewed = 200;

/** What would be undone, file by file. */
async function changesSince(
  since: number,
  { handle, sessions }: ScreenHost,
  state: ScreenState,
): Promise<readonly PrintLine[]> {
  const { cwd, home } = state.session;
  const changes: { readonly path: string; readonly lines: readonly PrintLine[] }[] = [];
  for await (const event of sessions.read(handle.id)) {
    if (event.seq <= since || event.type !== "tool.finished" || event.failed) continue;
    if (event.display.kind !== "diff") continue;
    const { path, hunks } = event.display;
    const clean = (line: string): string => inertLines(line)[0] ?? "";
    const lines = diffLines(nearChanges(hunks), { signs: state.look.signs, indent: 0 }, clean);
    changes.push({ path, lines });
  }
  // One file alone is named above, with its counts.
  const isOne = new Set(changes.map(({ path }) => path)).size === 1;
  return changes.flatMap(({ path, lines }) =>
    isOne ? lines : [cut(bold(inertOne(shortPath(path, { cwd, home })))), ...lines],
  );
}

/** Everything, in full: what the screen printed in short too. */
async function wholeTranscript(
  events: AsyncIterable<Durable>,
  state: ScreenState,
): Promise<readonly PrintLine[]> {
  const all: Durable[] = [];
  for await (const event of events) all.push(event);
  const context = rowContext(state);
  return rowsOf(transcriptOf(all))
    .toArray()
    .flatMap((row) => {
      const lines = rowLines(row, context, "all");
      return lines.length === 0 ? [] : [...lines, blank];
    });
}

async function exported(
  format: "md" | "html" | "jsonl",
  { handle, sessions, own }: ScreenHost,
): Promise<string> {
  const all: Durable[] = [];
  for await (const event of sessions.read(handle.id)) all.push(event);
  const text =
    format === "jsonl"
      ? `${all.map((event) => JSON.stringify(event)).join("\n")}\n`
      : format === "html"
        ? toHtml(documentOf(all))
        : toMarkdown(documentOf(all));
  return `Written: ${await own.writeExport(`keel-${handle.id.slice(0, 8)}.${format}`, text)}`;
}
