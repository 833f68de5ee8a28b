/**
 * Makes a session again of what the tables hold of a conversation whose log is gone: its words and pictures, in their
 * order. What tools did, files and rules are not there, and whoever goes on with it is told so.
 */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { toLine } from "../../kernel/json.ts";
import { isUuid } from "../../kernel/uuid.ts";
import type { ConversationMessage, StoredConversation } from "../../ports/conversations.ts";
import { conversationDatabase } from "../../store/sqlite/conversation-table.ts";
import {
  type ImportedTranscript,
  type ImportPlace,
  importTranscript,
} from "../transcripts/import-transcript.ts";
import { inputBlock } from "../transcripts/wire-blocks.ts";

/** Undefined where the tables have no words of it. */
export async function rebuildLog(id: string, place: ImportPlace): Promise<ImportedTranscript | undefined> {
  if (!isUuid(id) || !existsSync(conversationDatabase(place.path))) return undefined;
  const { sqliteConversations } = await import("../../store/sqlite/conversations.ts");
  const cache = sqliteConversations({ home: place.path });
  const folder = path.join(place.path, `rebuilding-${place.ids.uuid()}`);
  try {
    const found = await cache.load(id).catch(() => undefined);
    if (!found || found.messages.length === 0) return undefined;
    await mkdir(folder, { mode: 0o700 });
    const file = path.join(folder, `${id}.jsonl`);
    await writeFile(file, [...linesOf(found.conversation, found.messages)].join(""), { mode: 0o600 });
    const made = await importTranscript(file, place);
    // Its rows have other names from now on; they are taken in from the log.
    await cache.delete(id);
    const says = `The log of conversation ${id} was gone. It was made again from the ${found.messages.length} messages that its tables hold: what was said is there, what tools did is not.`;
    return { ...made, notices: [says, ...made.notices] };
  } finally {
    await rm(folder, { recursive: true, force: true });
    cache.close();
  }
}

/** As a transcript that is taken over. */
function* linesOf(
  { id, cwd }: StoredConversation,
  messages: readonly ConversationMessage[],
): Generator<string> {
  let parent: string | null = null;
  for (const [index, message] of messages.entries()) {
    const uuid = `00000000-0000-4000-8000-${String(index + 1).padStart(12, "0")}`;
    const about = { uuid, parentUuid: parent, sessionId: id, cwd, isSidechain: false };
    const timestamp = new Date(message.at).toISOString();
    parent = uuid;
    const content = message.content.map(inputBlock);
    const said =
      message.role === "user"
        ? { role: "user", content }
        : {
            id: `message-${index + 1}`,
            role: "assistant",
            type: "message",
            model: "unknown",
            content,
            stop_reason: "end_turn",
            usage: { input_tokens: 0, output_tokens: 0 },
          };
    yield `${toLine({ ...about, type: message.role, timestamp, message: said })}\n`;
  }
}
