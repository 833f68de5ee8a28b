/** What a conversation is told that nobody in it says: where and when it is, what there is to use, instruction files. */
import type { InputBlock } from "../protocol/message.ts";

export type BriefingOutput = {
  readonly content: readonly InputBlock[];
  /** The instruction files whose text is in it, and for whom each was written. */
  readonly files: readonly BriefedFile[];
  /** Files that were left out, and why: sentences for a person. */
  readonly problems?: readonly string[] | undefined;
};

export type BriefedFile = {
  readonly path: string;
  readonly source: "managed" | "user" | "project" | "local";
};

/** Never throws: what cannot be read is told as that. `tools` are the names of those that the conversation has. */
export interface Briefing {
  /** When a conversation begins, and again when it was cleared or shortened: what was told is gone then. */
  start(tools: ReadonlySet<string>): Promise<BriefingOutput>;
  /** When files were looked at: what holds where they are, beyond what is known. */
  near(seen: readonly string[], known: readonly string[]): Promise<BriefingOutput>;
  /** What there is to use since the start was told, once; and what the person's editor shows, once a turn. */
  news?(
    tools: ReadonlySet<string>,
    turn?: string | undefined,
  ): readonly BriefingNews[] | Promise<readonly BriefingNews[]>;
  /** The same for an agent below, whose conversation is told for itself. */
  forAgent?(): Briefing;
}

export type BriefingNews = {
  readonly why: "skills" | "agents" | "editor";
  readonly content: readonly InputBlock[];
};
