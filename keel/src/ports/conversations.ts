/**
 * Conversations and what was said in them, as tables: a cache over the logs, for lists and searches that read no log. It
 * may be deleted or damaged at any moment and is made again from the logs; only of a log that is gone it is all that is
 * left. Whatever is told to it stands in a log too, and telling it again changes nothing.
 */
import type { Json } from "../kernel/json.ts";
import type { InputBlock } from "../protocol/message.ts";
import type { CountedCall, Outcome } from "../protocol/outcome.ts";

export type StoredConversation = {
  /** Also the id of its session. */
  readonly id: string;
  /** As a person named it, else made of its first exchange; empty before that. */
  readonly title: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How many messages it has. */
  readonly messages: number;
  /** The session that its next message goes to; left out before the first message. */
  readonly session?: string | undefined;
  /** `gone`: its log is not there any more, and what the tables hold is all that is left of it. */
  readonly log: "there" | "gone";
};

export type ConversationMessage = {
  /** The row of the transcript that it is. */
  readonly id: string;
  readonly role: "user" | "assistant";
  /** What a person said with its pictures, or the text of a reply. */
  readonly content: readonly InputBlock[];
  readonly at: number;
};

/** A call of a tool, as it is counted and looked up later. */
export type LoggedToolUse = {
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  /** The start of what it gave back. */
  readonly result: string;
  readonly outcome: Outcome["kind"];
  /** By whose leave it ran: a rule, the mode, a hook, a person; left out for one that did not run. */
  readonly by?: string | undefined;
  readonly at: number;
  readonly ms: number;
};

/** A place in the list: what comes after it was changed earlier. */
export type ConversationCursor = { readonly updatedAt: number; readonly id: string };

export type ConversationPage = {
  readonly conversations: readonly StoredConversation[];
  /** Where the next page begins; left out on the last one. */
  readonly next?: ConversationCursor | undefined;
};

export type FoundMessage = {
  readonly conversation: string;
  readonly title: string;
  readonly cwd: string;
  /** The message, or left out where the words stand in the title. */
  readonly message?: string | undefined;
  readonly role: ConversationMessage["role"] | "title";
  readonly at: number;
  /** One line: the words with a little of what stands around them. */
  readonly excerpt: string;
};

export type CallsWanted = {
  readonly id?: string | undefined;
  readonly cwd?: string | undefined;
  readonly since?: number | undefined;
};

/** Every method but `create`, `list`, `search` and `calls` throws `session_unknown` for what is not there. */
export interface Conversations {
  /** One that has said nothing yet. Known already: nothing changes. */
  create(begun: {
    id: string;
    cwd: string;
    at: number;
    title?: string | undefined;
  }): Promise<StoredConversation>;
  /** The newest change first. */
  list(page?: {
    cwd?: string | undefined;
    limit?: number | undefined;
    after?: ConversationCursor | undefined;
  }): Promise<ConversationPage>;
  load(id: string): Promise<{ conversation: StoredConversation; messages: readonly ConversationMessage[] }>;
  rename(id: string, title: string): Promise<void>;
  /** With its messages and tool uses. */
  delete(id: string): Promise<void>;
  /** By its id once. Moves the conversation to the front of the list. */
  addMessage(id: string, message: ConversationMessage): Promise<void>;
  /** Which session its next message goes to. */
  saveSession(id: string, session: string): Promise<void>;
  /** By its call once. */
  logToolUse(id: string, use: LoggedToolUse): Promise<void>;
  toolUses(id: string): Promise<readonly LoggedToolUse[]>;
  /** The calls of one, of all in a folder, or of all, since a time; the oldest first. Those of agents are among them. */
  calls(wanted: CallsWanted): Promise<readonly CountedCall[]>;
  /** The best first: all of the words, in titles and messages. No words: nothing. */
  search(wanted: { words: string; limit?: number | undefined }): Promise<readonly FoundMessage[]>;
}
