/** Who looks at a call that rules and mode leave open, in the mode `auto`, before a person is asked. */
import type { Consult } from "./consult.ts";

export type ReviewedCall = {
  readonly tool: string;
  readonly input: unknown;
  /** Where it would run. */
  readonly folder: string;
  /** What policy found open about it. */
  readonly because: string;
  /** What the person has said in this turn. Nothing that a model or a tool said is here. */
  readonly words: readonly string[];
};

export type Review = {
  /** `ask`: nobody but a person can say. */
  readonly verdict: "allow" | "deny" | "ask";
  readonly reason: string;
};

export interface CallReviewer {
  /** Never throws, and comes back within its own deadline: what goes wrong is asked about. */
  review(call: ReviewedCall, consult: Consult, signal: AbortSignal): Promise<Review>;
}
