/** Whether what a person wants to hold does hold. */
import type { Consult } from "./consult.ts";

export type GoalRequest = {
  readonly goal: string;
  /** What was said and done last, for who has to judge by it. */
  readonly said: string;
  readonly consult: Consult;
};

export interface Goals {
  /** Never rejects: what could not be tried does not hold, and `words` say why. */
  check(
    request: GoalRequest,
    signal: AbortSignal,
  ): Promise<{ readonly held: boolean; readonly words: string }>;
}
