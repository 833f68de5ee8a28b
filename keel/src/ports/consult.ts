/** A question to the model beside the conversation, as hooks and tools may put it. */
import type { Result } from "../kernel/result.ts";
import type { ConsultedFor } from "../protocol/event/durable.ts";

export type ConsultRequest = {
  readonly by: ConsultedFor;
  readonly system?: string | undefined;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly maxTokens: number;
  /** That of the session when left out. */
  readonly model?: string | undefined;
};

export type Consulted = { readonly text: string; readonly model: string; readonly stop: "end" | "cut" };

/** Fails with a sentence: no budget, no reply, not in time. */
export type Consult = (request: ConsultRequest, signal: AbortSignal) => Promise<Result<Consulted>>;
