/** What the steps work with: the facts, the ports, and the few ways to leave a trace. */

import type { CondenseStrategy } from "../core/context/condense.ts";
import type { Limits } from "../core/limits.ts";
import type { BudgetReason } from "../core/next-step.ts";
import type { SessionState } from "../core/state/state.ts";
import type { Rules } from "../policy/decide.ts";
import type { Above } from "../ports/agents.ts";
import type { ArtifactFile } from "../ports/artifacts.ts";
import type { Briefing } from "../ports/briefing.ts";
import type { CallReviewer } from "../ports/call-review.ts";
import type { Checkpoints } from "../ports/checkpoints.ts";
import type { Clock, Ids } from "../ports/clock.ts";
import type { Goals } from "../ports/goals.ts";
import type { Hooks } from "../ports/hooks.ts";
import type { Memory } from "../ports/memory.ts";
import type { Recall } from "../ports/memory-index.ts";
import type { Model } from "../ports/model.ts";
import type { Log, Meanwhile } from "../ports/store.ts";
import type { SessionTasks, Task, TaskEnd } from "../ports/tasks.ts";
import type { Toolbox, ToolHead } from "../ports/tool.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Answer, AnsweredBy, Ask } from "../protocol/ask.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import type { LiveEvent } from "../protocol/event/live.ts";
import type { TurnReason } from "../protocol/reasons.ts";
import type { Bill } from "../protocol/usage.ts";
import type { SpillText } from "./calls/bound.ts";
import type { PreparedCall } from "./calls/prepared.ts";

/** What a session is made of. */
export type SessionPorts = {
  readonly log: Log;
  readonly model: Model;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly workspace: Workspace;
  /** What is known at the start; see `toolbox`. */
  readonly tools: readonly ToolHead[];
  /** What its agents choose from, where that is more than its own: a coordinator gives work and does none. */
  readonly agentTools?: readonly ToolHead[] | undefined;
  /** Tools that come and go while the session runs. */
  readonly toolbox?: Toolbox | undefined;
  /** Calls by the one name run the tool of the other. */
  readonly redirects?: Readonly<Record<string, string>> | undefined;
  readonly rules: Rules;
  readonly hooks: Hooks;
  readonly spill: SpillText;
  /** A private file for the output of a task, beside the log. Absent, or gives none, where nothing is kept. */
  readonly taskFile?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Absent where nothing is kept. */
  readonly checkpoints?: Checkpoints | undefined;
  /** Where a plan is written down: in plan mode the only file that may be. Absent where nothing is kept. */
  readonly plan?: ArtifactFile | undefined;
  /** Whether a host answers questions; one that refuses them all says so here. Answered when left out. */
  readonly asks?: "answered" | "refused" | undefined;
  /** What hooks are told about the start, where the log does not say it: a copy looks like a session that goes on. */
  readonly startedAs?: "fork" | undefined;
  /** Whether a session may come back to `bypassPermissions` after a plan; refused when left out. */
  readonly bypass?: "allowed" | "refused" | undefined;
  /** Notes of earlier sessions. Absent where none are kept. */
  readonly memory?: Memory | undefined;
  /** What earlier conversations said. Absent where it is not wanted. */
  readonly recall?: Recall | undefined;
  /** Looks at what the mode `auto` leaves open. Absent where a person is asked at once. */
  readonly reviewer?: (() => Promise<CallReviewer>) | undefined;
  /** How a long conversation is shortened; the newest turns stay when left out. */
  readonly condense?: CondenseStrategy | undefined;
  /** Absent where a conversation is told nothing but what people say. */
  readonly briefing?: Briefing | undefined;
  /** Above the session of an agent: who started it, and how far it may go. Absent in the session of a host. */
  readonly above?: Above | undefined;
  /** Common to a session and all agents below it. */
  readonly budget?: SharedBudget | undefined;
  /** Tries the goal of the session; absent where nobody can. */
  readonly goals?: Goals | undefined;
  /** What became of an agent whose process has ended, from its own log. */
  readonly recover?: ((task: Task, team?: string) => Promise<TaskEnd | "goes-on">) | undefined;
  /** Requests go to the provider's cache of this session: a fork's to that of its parent. */
  readonly cacheKey?: string | undefined;
  /** Its spans are sent: what it calls hears of them. */
  readonly traced?: boolean | undefined;
  readonly limits: Limits;
  readonly system: readonly string[];
  /** Whether a resumed session keeps the prompt of its log, which its cached prefix starts with, or takes `system`. */
  readonly promptOnResume: "logged" | "given";
};

/** What a session needs of the budget that it shares. */
export interface SharedBudget {
  /** The limits of one session as the others leave them. */
  bound(limits: Limits, own: Bill): Limits;
  /** What is used up, if anything is. */
  readonly exhausted: BudgetReason | undefined;
  /** Every durable event of every session comes by here, once. */
  hear(event: Durable): void;
  /** Waits until a request fits beside what others have reserved. Undefined: nothing is left, or the signal fired. */
  reserve(
    spending: { readonly usd: number; readonly tokens: number },
    signal: AbortSignal,
  ): Promise<{ release(): void } | undefined>;
}

export type Closed = { readonly answer: Answer; readonly by: AnsweredBy; readonly who?: string };

export interface StepContext {
  readonly parts: SessionPorts;
  readonly state: SessionState;
  /** Fires when the turn is interrupted or the session ends. */
  readonly signal: AbortSignal;
  /** Calls that were started while their reply still streamed. */
  readonly early: Map<string, EarlyCall>;
  /** Whether a call of this session has had this id. */
  isKnownCall(id: string): boolean;
  /** Folds the event now and sends it on its way to the disk. */
  record(event: DurableEvent): void;
  /** Everything recorded so far is on disk. Awaited before every effect. */
  saved(meanwhile?: Meanwhile): Promise<void>;
  show(event: LiveEvent): void;
  /** Shows a warning, once for each text while the session is open. */
  warn(text: string): void;
  /** Stops the turn, as a person who interrupts it does: with the calls that run and the asks that are open. */
  interrupt(by: "answer" | "host" | "budget", reason?: TurnReason): void;
  /** Opens an ask, or joins one that is open or closed already under the same id. */
  ask(ask: Ask): Promise<Closed>;
  /** Answers an open ask in the host's place. */
  answer(askId: string, closed: Closed): Promise<void>;
  /** What runs in the background. */
  readonly tasks: SessionTasks;
}

/** Its events wait until the reply is on record, and are dropped if the reply fails. */
export type EarlyCall = {
  readonly prepared: Promise<PreparedCall>;
  readonly done: Promise<void>;
  readonly events: DurableEvent[];
};

/** Thrown where an early call turns out to need a person: it is then run in its turn, as if nothing had happened. */
export const needsAsking: unique symbol = Symbol("needs asking");
