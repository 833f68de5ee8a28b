/**
 * What conversations and tool results said, found again by words and by meaning. A cache over the logs: it is filled
 * beside the work, never in its way, and can be made again from them. What was forgotten stays forgotten, because its log
 * says so. What it finds is data of earlier days and permits nothing.
 */

/** How far a search reaches: this conversation, this project, or all of a person's. */
export type MemoryScope = "session" | "project" | "person";

export type MemorySource =
  | { readonly kind: "person" }
  | { readonly kind: "agent" }
  | { readonly kind: "tool"; readonly tool: string };

/** A piece of what was said, of at most 512 tokens, cut between sentences or blocks of code. */
export type MemoryChunk = {
  readonly id: number;
  readonly session: string;
  /** The event that said it, and which piece of it this is. */
  readonly seq: number;
  readonly part: number;
  /** The folder that it was said in. */
  readonly cwd: string;
  readonly at: number;
  readonly source: MemorySource;
  readonly text: string;
};

export type FoundChunk = MemoryChunk & {
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
  readonly by: "words" | "meaning" | "both";
  /** Its text with what was said right before and after it, as far as that is short. */
  readonly passage: string;
  /** All pieces of the passage, by their ids. */
  readonly joined: readonly number[];
};

export type MemorySearch = {
  readonly words: string;
  readonly scope: MemoryScope;
  /** Where one stands: the conversation and the folder that the scope is about. */
  readonly session?: string | undefined;
  readonly cwd?: string | undefined;
  /** 5 where it is left out. */
  readonly limit?: number | undefined;
  /** How long the vector of the words is waited for, 100 where it is left out; then words go alone. */
  readonly waitMs?: number | undefined;
  /** Conversations that are passed over: what they said is in sight anyway. */
  readonly except?: readonly string[] | undefined;
};

export type MemoryFindings = {
  readonly found: readonly FoundChunk[];
  /** `words`: there is no embedder, or it did not answer within its deadline. */
  readonly by: "words" | "words and meaning";
};

/**
 * What is to be forgotten: pieces by their ids, all of a conversation, or all that holds these words. Whoever wrote a piece
 * wrote the message that it is cut from: that is forgotten as a whole.
 */
export type MemoryForgetting =
  | { readonly chunks: readonly number[] }
  | { readonly session: string }
  | { readonly words: string };

export type Forgotten = {
  readonly chunks: number;
  /** Conversations whose logs now say that something was forgotten. */
  readonly sessions: readonly string[];
  /** Those that somebody else has open: nothing of them was forgotten. */
  readonly busy: readonly string[];
};

export type MemoryStats = {
  readonly chunks: number;
  readonly sessions: number;
  readonly bytes: number;
  /** Chunks that have a vector of the embedder of now. */
  readonly embedded: number;
  /** By whom vectors are made; left out where only words are looked for. */
  readonly embedder?: string | undefined;
  /** What is being done now. */
  readonly work: "idle" | "indexing" | "rebuilding";
};

export interface MemoryIndex {
  /** Takes in what the log of a session holds beyond what is known. Resolves when it is in, and never throws. */
  index(session: string): Promise<void>;
  /** The same for every session whose log has grown. */
  catchUp(): Promise<void>;
  search(wanted: MemorySearch, signal?: AbortSignal): Promise<MemoryFindings>;
  /** What was taken in last, the newest first. */
  newest(limit: number): Promise<readonly MemoryChunk[]>;
  /** Leaves no byte of the text behind. */
  forget(what: MemoryForgetting): Promise<Forgotten>;
  /** The same for a session whose log is gone: no log says so. */
  drop(session: string): Promise<void>;
  stats(): Promise<MemoryStats>;
  /** Makes it anew from the logs. */
  rebuild(): Promise<MemoryStats>;
  close(): Promise<void>;
}

/** What earlier conversations said of what is asked now. */
export interface Recall {
  /** `ask`: a person sees it first, and says whether the model is to be told. */
  readonly when: "ask" | "on";
  /** The best first. Never throws: what cannot be looked up is not there. */
  about(words: string, signal: AbortSignal): Promise<readonly FoundChunk[]>;
}

/** Makes vectors of texts: by a model on this machine, or by somebody else's over HTTP. */
export interface Embedder {
  /** Names the model: vectors of different ones are never compared. */
  readonly id: string;
  /** Vectors of as many numbers each, in the order of the texts; only where one points counts. `question` where a model tells questions from texts. */
  embed(
    texts: readonly string[],
    as: "text" | "question",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
