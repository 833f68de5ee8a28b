/**
 * The points at which user code may add, change or stop. Events observe; hooks intercept. A hook may deny, ask, or
 * allow what rules do not deny; it never lifts a deny, and an input that it changed is decided again.
 */
import type { Json } from "../kernel/json.ts";
import type { Answer } from "../protocol/ask.ts";
import type { LiveEvent } from "../protocol/event/live.ts";
import { type AnyHookPoint, type HookPoints, hookPoints } from "../protocol/hook.ts";
import type { ResultPart } from "../protocol/message.ts";
import type { Clock } from "./clock.ts";
import type { Consult } from "./consult.ts";

/** Where a hook is called: what it is told about the session, how long it may take, and who hears of its failure. */
export type HookContext = {
  readonly session: string;
  readonly cwd: string;
  readonly permissionMode: string;
  /** The input that the turn began with. */
  readonly inputId: string | undefined;
  /** The agent in which it happens, if it is one's. */
  readonly agent?: { readonly id: string; readonly kind: string } | undefined;
  /** Where it belongs in a trace, as W3C's `traceparent` writes it. */
  readonly trace?: string | undefined;
  readonly clock: Clock;
  readonly hookMs: number;
  /** A bound that also holds for hooks with a time limit of their own. */
  readonly maxMs?: number | undefined;
  readonly signal: AbortSignal;
  show(event: LiveEvent): void;
  newId(): string;
  /** Resolves when all that has happened is on disk, and heard of. Absent where nothing can be waited for. */
  saved?(): Promise<void>;
  /** Absent where there is no model to ask. */
  readonly consult?: Consult | undefined;
};

export type HookDecision = { readonly verdict: "allow" | "deny" | "ask"; readonly reason: string };

export type BeforeTool = {
  readonly decision?: HookDecision | undefined;
  /** The call is handed to the host: it does not run, and the turn ends. */
  readonly defer?: boolean | undefined;
  /** Replaces the input; it passes schema, check and policy like the model's own. */
  readonly input?: Json | undefined;
  readonly context: readonly string[];
  /** Ends the turn; the call does not run. */
  readonly stop?: string | undefined;
};

export type AfterTool = {
  readonly context: readonly string[];
  readonly content?: ResultPart[] | undefined;
  /** Replaces the result as data, together with `content`. */
  readonly data?: Json | undefined;
  readonly stop?: string | undefined;
};

export type AtStart = { readonly context: readonly string[]; readonly title?: string | undefined };

export type AtInput = AtStart & { readonly block?: string | undefined };

/** `objection`: words that send the model back to work. `stop`: end now, whatever others say. */
export type AtStop = { readonly objection?: string | undefined; readonly stop?: string | undefined };

/** What may be said at a point, by the kind of opinion that its row names. */
export type HookOpinions = {
  readonly none: undefined;
  readonly context: AtStart;
  readonly input: AtInput;
  readonly verdict: BeforeTool;
  readonly answer: Answer | undefined;
  readonly result: AfterTool;
  readonly objection: AtStop;
  readonly instructions: { readonly instructions?: string | undefined };
  /** `deny`: it does not happen. */
  readonly refusal: { readonly deny?: string | undefined };
};

type PointMethods = {
  readonly [P in keyof HookPoints]: (
    facts: Parameters<HookPoints[P]["tell"]>[0],
    context: HookContext,
  ) => Promise<HookOpinions[HookPoints[P]["opinion"]]>;
};

/** The points of `protocol/hook.ts` as the engine calls them. Never throws: a hook that fails has no opinion. */
export type Hooks = PointMethods & {
  /** Whether any hook looks at tool calls; without one, harmless calls may start while the reply still streams. */
  readonly watchTools: boolean;
  /** How the session begins for hooks, when its next input is taken; undefined when `start` was called. */
  begins(): "anew" | "cleared" | undefined;
};

export type AgentStopFacts = Parameters<Hooks["agentStopped"]>[0];

const noOpinion: HookOpinions = {
  none: undefined,
  context: { context: [] },
  input: { context: [] },
  verdict: { context: [] },
  answer: undefined,
  result: { context: [] },
  objection: {},
  instructions: {},
  refusal: {},
};

/** A method for every point, by its row. */
export function atEveryPoint(
  method: (row: AnyHookPoint) => (facts: never, context: HookContext) => Promise<unknown>,
): PointMethods {
  const rows = Object.entries<AnyHookPoint>(hookPoints);
  // One entry for each row: a loop cannot say so in types.
  return Object.fromEntries(rows.map(([name, row]) => [name, method(row)])) as PointMethods;
}

export const noHooks: Hooks = {
  watchTools: false,
  begins: () => undefined,
  ...atEveryPoint(
    ({ opinion }) =>
      async () =>
        noOpinion[opinion],
  ),
};
