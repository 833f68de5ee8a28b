/** What the steps work with: the facts, the ports, and the few ways to leave a trace. */
import type { Answer, AnsweredBy, Ask } from "../protocol/ask.ts";
import type { DurableEvent, LiveEvent, TurnReason } from "../protocol/event.ts";
import type { TreeBudget } from "./agents/budget.ts";
import type { Above } from "./agents/port.ts";
import type { Briefing } from "./briefing.ts";
import type { CondenseStrategy } from "./context/condense.ts";
import type { PlanFile } from "./desk.ts";
import type { Hooks } from "./hooks/points.ts";
import type { Limits } from "./limits.ts";
import type { Memory } from "./memory.ts";
import type { Rules } from "./policy/decide.ts";
import type { Checkpoints, Clock, Ids, Log, Meanwhile, Model, Workspace } from "./ports.ts";
import type { State } from "./state.ts";
import type { Task } from "./task-state.ts";
import type { SessionTasks, TaskEnd } from "./task-work.ts";
import type { Spill } from "./tools/bound.ts";
import type { Tool } from "./tools/define.ts";
import type { Toolbox } from "./tools/toolbox.ts";

/** What a session is made of. */
export type Parts = {
  readonly log: Log;
  readonly model: Model;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly workspace: Workspace;
  /** What is known at the start; see `toolbox`. */
  readonly tools: readonly Tool[];
  /** What its agents choose from, where that is more than its own: a coordinator gives work and does none. */
  readonly agentTools?: readonly Tool[] | undefined;
  /** Tools that come and go while the session runs. */
  readonly toolbox?: Toolbox | undefined;
  /** Calls by the one name run the tool of the other. */
  readonly redirects?: Readonly<Record<string, string>> | undefined;
  readonly rules: Rules;
  readonly hooks: Hooks;
  readonly spill: Spill;
  /** A private file for the output of a task, beside the log. Absent, or gives none, where nothing is kept. */
  readonly taskFile?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Absent where nothing is kept. */
  readonly checkpoints?: Checkpoints | undefined;
  /** Where a plan is written down. Absent where nothing is kept. */
  readonly plan?: PlanFile | undefined;
  /** Whether a host answers questions; one that refuses them all says so here. Answered when left out. */
  readonly asks?: "answered" | "refused" | undefined;
  /** What hooks are told about the start, where the log does not say it: a copy looks like a session that goes on. */
  readonly startedAs?: "fork" | undefined;
  /** Whether a session may come back to `bypassPermissions` after a plan; refused when left out. */
  readonly bypass?: "allowed" | "refused" | undefined;
  /** Notes of earlier sessions. Absent where none are kept. */
  readonly memory?: Memory | undefined;
  /** How a long conversation is shortened; the newest turns stay when left out. */
  readonly condense?: CondenseStrategy | undefined;
  /** Absent where a conversation is told nothing but what people say. */
  readonly briefing?: Briefing | undefined;
  /** Above the session of an agent: who started it, and how far it may go. Absent in the session of a host. */
  readonly above?: Above | undefined;
  /** Common to a session and all agents below it. */
  readonly budget?: TreeBudget | undefined;
  /** What became of an agent whose process has ended, from its own log. */
  readonly recover?: ((task: Task) => Promise<TaskEnd>) | undefined;
  /** Requests go to the provider's cache of this session: a fork's to that of its parent. */
  readonly cacheKey?: string | undefined;
  readonly limits: Limits;
  readonly system: readonly string[];
  /** Whether a resumed session keeps the prompt of its log, which its cached prefix starts with, or takes `system`. */
  readonly promptOnResume: "logged" | "given";
};

export type Closed = { readonly answer: Answer; readonly by: AnsweredBy };

export interface Work {
  readonly parts: Parts;
  readonly state: State;
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
export type EarlyCall = { readonly done: Promise<void>; readonly events: DurableEvent[] };

/** Thrown where an early call turns out to need a person: it is then run in its turn, as if nothing had happened. */
export const needsAsking: unique symbol = Symbol("needs asking");
