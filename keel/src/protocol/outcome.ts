/** What came of a call. The log keeps it as flags that came one by one; here they are one thing, in one order. */
import type { Json } from "../kernel/json.ts";
import type { Denial, DurableEvent } from "./event/durable.ts";

export type Outcome =
  | { readonly kind: "done"; readonly data: Json | undefined }
  /** Gave the structured answer that ends the turn. */
  | { readonly kind: "answered"; readonly answer: Json }
  | { readonly kind: "failed" }
  /** Refused before it ran, because the call itself was wrong. */
  | { readonly kind: "invalid" }
  /** Ended before its end was known: it may have had effects. */
  | { readonly kind: "interrupted" }
  /** `interrupted`: the turn ended too, while somebody was asked. */
  | { readonly kind: "denied"; readonly denial: Denial; readonly interrupted: boolean }
  /** A hook handed it to the host, and the turn ends. */
  | { readonly kind: "deferred" };

/**
 * Who did not let it run says more than how it ended: handed on, it is still to be done, and a denial is somebody's word,
 * also where an interrupt followed. An interrupt says that nobody knows what else is true of the call. Of what is left,
 * a failure leaves no result to look at.
 */
export function outcomeOf(event: Omit<Extract<DurableEvent, { type: "tool.finished" }>, "type">): Outcome {
  const { deferred, denied, interrupted = false, invalid, failed, answer, data } = event;
  if (deferred) return { kind: "deferred" };
  if (denied) return { kind: "denied", denial: denied, interrupted };
  if (interrupted) return { kind: "interrupted" };
  if (invalid) return { kind: "invalid" };
  if (failed) return { kind: "failed" };
  return answer === undefined ? { kind: "done", data } : { kind: "answered", answer };
}

/** A call as it is counted: what it was, where and when, and how it went. */
export type CountedCall = {
  readonly tool: string;
  readonly session: string;
  /** The folder of its session. */
  readonly cwd: string;
  readonly at: number;
  readonly ms: number;
  readonly outcome: Outcome["kind"];
  /** By whose leave it ran; left out for one that did not run. */
  readonly by?: string | undefined;
  /** Of its input, as JSON. */
  readonly inputBytes: number;
};
