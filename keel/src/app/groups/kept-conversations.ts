/**
 * What was said in a group before its agent's conversation was made shorter: as Markdown in the group's folder, where the
 * agent finds it later. Keel's own log has all of it too; this is for whoever reads.
 */
import { realpath } from "node:fs/promises";
import path from "node:path";
import { summaryIntroduction } from "../../core/model-text.ts";
import { spoken } from "../../groups/spoken.ts";
import { toldLines } from "../../groups/trigger.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { shorten } from "../../kernel/text.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import { lastTextOf, textOf } from "../../protocol/message.ts";
import type { OpenSession } from "../open-session.ts";

type KeptPorts = {
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

const keptFolder = "conversations";
const titleWords = 8;

/** Until it is closed. Throws nothing: a folder that cannot be written costs the group no answer. */
export function keepConversations(
  group: Pick<ChatGroup, "id" | "folder" | "trigger">,
  session: Pick<OpenSession, "onEvent" | "history">,
  { tell }: KeptPorts,
): () => void {
  let keeping: Promise<void> = Promise.resolve();
  return session.onEvent((event) => {
    if (event.type !== "context.compacted" || event.origin !== undefined || !isDurable(event)) return;
    const { seq } = event;
    keeping = keeping
      .then(async () => {
        const why = await keep(group, session.history(), seq);
        if (why !== undefined) tell?.("group.not_kept", { group: group.id, why });
      })
      .catch((thrown: unknown) => tell?.("group.not_kept", { group: group.id, why: reasonOf(thrown) }));
  });
}

async function keep(
  { folder, trigger }: Pick<ChatGroup, "folder" | "trigger">,
  history: ReturnType<OpenSession["history"]>,
  upTo: number,
): Promise<string | undefined> {
  let said: string[] = [];
  let compacted: Extract<Durable, { type: "context.compacted" }> | undefined;
  for await (const event of history) {
    if (event.type !== "context.compacted") said.push(...lineOf(event, trigger));
    else if (event.seq === upTo) compacted = event;
    // What was said before an earlier one has its own page.
    else said = [];
    if (event.seq === upTo) break;
  }
  if (!compacted) return undefined;
  const summary = compacted.summary.replace(summaryIntroduction, "").trim();
  const title = titleOf(summary);
  const page = `# ${title}\n\n${summary}\n\n## What was said\n\n${said.join("\n\n")}\n`;
  const day = new Date(compacted.at).toISOString().slice(0, "2026-01-01".length);
  // The number keeps two of one day apart, and one that is written once more the same.
  const name = `${day}-${slugOf(title)}-${upTo}.md`;
  const [{ openParent, replaceFile }, { Stamps }] = await Promise.all([
    import("../../workspace/files/atomic-write.ts"),
    import("../../workspace/files/stamps.ts"),
  ]);
  // Through no link: its agent may have put one there.
  const opened = await openParent(path.join(await realpath(folder), keptFolder));
  if (!opened.ok) return opened.why;
  await using directory = opened.directory;
  const bytes = new TextEncoder().encode(page);
  return await replaceFile(directory, { name, bytes, basis: { stamp: null }, stamps: new Stamps() });
}

function lineOf(event: DurableEvent, trigger: string): string[] {
  if (event.type === "input.accepted") return toldLines(textOf(event.input.content)).map(asLine);
  if (event.type !== "model.finished") return [];
  const { said } = spoken(lastTextOf(event.content));
  return said === "" ? [] : [asLine({ from: trigger, text: said })];
}

const asLine = ({ from, at, text }: { from?: string; at?: string; text: string }): string =>
  from === undefined ? text : `**${from}**${at === undefined || at === "" ? "" : ` (${at})`}: ${text}`;

const titleOf = (summary: string): string => {
  const words = (/[\p{L}\p{N}].*/u.exec(summary)?.[0] ?? "A conversation").split(/\s+/);
  return shorten(words.slice(0, titleWords).join(" "), 80);
};

const slugOf = (title: string): string =>
  title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60) || "conversation";
