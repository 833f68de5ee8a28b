/**
 * A session as the records that SDKs of the interface read by themselves, without an executable: a chain of messages,
 * each with the id of the one before. Keel's own log stays the truth; this is a copy for others. Pure.
 */
import { isObject, type Json, parseJson } from "../../kernel/json.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { isoTime } from "../../view/say.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import { entryOf } from "./mirror.ts";
import type { SessionStoreEntry } from "./session-store.ts";
import { messageReader } from "./stored-messages.ts";

export type TranscriptEntry = {
  type: "user" | "assistant";
  uuid: string;
  parentUuid: string | null;
  isSidechain: false;
  sessionId: string;
  timestamp?: string;
  cwd: string;
  version: string;
  userType: "external";
  entrypoint: string;
  message: unknown;
};

export type TranscriptRecord = TranscriptEntry | SessionStoreEntry;

export type TranscriptFacts = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly version: string;
  readonly entrypoint: string;
  /** `events`: with Keel's own records between the messages, so that the session can be brought back from them. */
  readonly holds: "messages" | "events";
};

export class Transcript {
  readonly #facts: TranscriptFacts;
  readonly #messagesOf: (event: Durable) => SDKSentMessage[];
  #parent: string | null = null;

  constructor(facts: TranscriptFacts) {
    this.#facts = facts;
    this.#messagesOf = messageReader(facts);
  }

  take(event: Durable): TranscriptRecord[] {
    const entries = this.#messagesOf(event).flatMap((message) => this.#entryOf(message, event.at));
    return this.#facts.holds === "events" ? [...entries, entryOf(event)] : entries;
  }

  #entryOf(message: SDKSentMessage, at: number): TranscriptEntry[] {
    if (message.type !== "user" && message.type !== "assistant") return [];
    // What sub-agents say stands in transcripts of their own.
    if (message.parent_tool_use_id !== null || message.uuid === undefined) return [];
    const { sessionId, cwd, version, entrypoint } = this.#facts;
    const { uuid } = message;
    const timestamp = isoTime(at);
    const entry: TranscriptEntry = {
      type: message.type,
      uuid,
      parentUuid: this.#parent,
      isSidechain: false,
      sessionId,
      ...(timestamp === undefined ? {} : { timestamp }),
      cwd,
      version,
      userType: "external",
      entrypoint,
      message: message.message,
    };
    this.#parent = uuid;
    return [entry];
  }
}

/** Keel's own records among those of a transcript. */
export function ownRecordsIn(lines: Iterable<string>): SessionStoreEntry[] {
  const found: SessionStoreEntry[] = [];
  for (const line of lines) {
    const parsed = parseJson(line); // Undefined: not ours, or cut.
    if (isObject(parsed) && parsed["type"] === "keel_event" && isObject(parsed["event"]))
      // A line of JSON; each event is held against its schema where it is used.
      found.push(parsed as SessionStoreEntry & { event: Json });
  }
  return found;
}
