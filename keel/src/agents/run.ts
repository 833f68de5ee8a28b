/** One life of an agent: from its input to its end, with what it shows meanwhile and what it leaves behind. */
import { agentEnded } from "../core/model-text.ts";
import { hasWork } from "../core/next-step.ts";
import type { SessionState } from "../core/state/state.ts";
import { isAwaited, isUnsettled } from "../core/state/task-state.ts";
import type { Session } from "../engine/session.ts";
import { toFault } from "../kernel/fault.ts";
import { type Json, present } from "../kernel/json.ts";
import { Queue } from "../kernel/queue.ts";
import { shorten } from "../kernel/text.ts";
import type { AgentOutcome } from "../ports/agents.ts";
import type { Task, TaskEnd, TaskWork } from "../ports/tasks.ts";
import { billSince, tokensOf } from "../protocol/bill.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle } from "../protocol/event/envelope.ts";
import { type InputBlock, text, textOf, toolUses } from "../protocol/message.ts";
import { endsWell, type TurnReason } from "../protocol/reasons.ts";
import type { Display } from "../protocol/tool.ts";
import { type Bill, noBill } from "../protocol/usage.ts";
import { above } from "./tree.ts";

export type AgentRunOptions = {
  readonly kind: string;
  readonly description: string;
  /** What is known of this life already: one that a crash has cut goes on. */
  readonly lived: LoggedAgentRun;
  /** Appends to its output file. */
  write(words: string): void;
  /** Once it is over, before anybody hears of it: gives back what it held; may add words to its report. */
  leave(): Promise<string | undefined>;
};

/** What it is told first, by whom, and under which id. */
export type FirstInput = {
  readonly content: readonly InputBlock[];
  readonly from?: string | undefined;
  readonly id?: string | undefined;
  /** Where the call that gives the work belongs in a trace. */
  readonly trace?: string | undefined;
  /** It is what its work begins with: what its kind brings along comes before it. */
  readonly begins?: boolean | undefined;
};

/** More than anybody watches. */
const maxProgress = 100;
/** Its file and its log have the rest. */
const maxSummary = 2_000;

export class AgentRun implements TaskWork {
  readonly session: Session;
  readonly over: Promise<TaskEnd>;
  /** Whether what it was told first is on record: false when it ended before. */
  readonly told: Promise<boolean>;
  readonly progress = new Queue<Display>({ limit: maxProgress });
  readonly #about: AgentRunOptions;
  readonly #words: string[] = [];
  #toolUses: number;
  #reason: TurnReason | undefined;
  #isStopping = false;

  constructor(session: Session, about: AgentRunOptions, first: FirstInput | undefined) {
    this.session = session;
    this.#about = about;
    this.#reason = about.lived.reason;
    this.#toolUses = about.lived.toolUses;
    session.onEvent((envelope) => {
      if (!envelope.origin) handle(this.#heard, envelope);
    });
    const told = Promise.withResolvers<boolean>();
    this.told = told.promise;
    this.over = this.#live(first, () => told.resolve(true)).finally(() => {
      told.resolve(false);
      this.progress.end();
    });
  }

  output(): string {
    return this.#words.join("\n\n");
  }

  /** `waiting`: whether what nobody has read is there when it goes on, or ends here. */
  async stop(waiting: "kept" | "dropped" = "kept"): Promise<void> {
    this.#isStopping = true;
    // What kept it from closing is told by its end.
    await this.session.close("stopped", waiting).catch(() => undefined);
    await this.over;
  }

  async #live(first: FirstInput | undefined, told: () => void): Promise<TaskEnd> {
    const { session } = this;
    let problem: string | undefined;
    try {
      if (first) {
        const { content, from: name = above, id, trace } = first;
        const from = { kind: "agent", name } as const;
        await session.submit({ type: "input", content: [...content], from, ...present({ id, trace }) });
      }
      told();
      await this.#untilDone();
    } catch (thrown) {
      problem = toFault(thrown).message;
      await session.close("failed").catch(() => undefined);
    }
    const more = await this.#about.leave().catch(() => undefined);
    return endOf({
      description: this.#about.description,
      before: this.#about.lived.before,
      state: session.state,
      reason: this.#isStopping ? (this.#reason ?? "interrupted") : this.#reason,
      problem,
      more,
      toolUses: this.#toolUses,
      log: session.fault ? "broken" : "whole",
    });
  }

  /**
   * No turn, no input that waits, and no task whose end it is to hear of; an end that went wrong waits for nothing. It is
   * closed in the moment in which that is seen: whoever is late is refused, and nobody is heard in vain.
   */
  async #untilDone(): Promise<void> {
    const { session } = this;
    for (;;) {
      await session.run();
      if (session.fault) throw session.fault;
      if (this.#isStopping) return session.close("ended");
      if (hasWork(session.state)) continue;
      if (this.#reason !== undefined && !endsWell(this.#reason)) return session.close("ended");
      if (!session.state.tasks.values().some(isAwaited)) return session.close("ended");
      await new Promise<void>((resolve) => {
        const stop = session.onEvent(({ type, origin }) => {
          if (origin || (type !== "task.changed" && type !== "session.closed")) return;
          stop();
          resolve();
        });
      });
    }
  }

  readonly #heard: EventHandlers<Envelope, [], void> = {
    "turn.finished": ({ reason }) => {
      this.#reason = reason;
    },
    "model.finished": ({ content }) => {
      this.#toolUses += toolUses(content).length;
      const words = textOf(content).trim();
      if (words === "") return;
      this.#words.push(words);
      this.#about.write(`${words}\n\n`);
    },
    "tool.started": ({ tool }) => {
      const { kind, description } = this.#about;
      this.progress.push({ kind: "agent", name: kind, text: `${description}: ${tool}` });
    },
  };
}

const stopped: ReadonlySet<TurnReason> = new Set(["interrupted", "closed", "lost"]);

type AgentRunEnding = {
  readonly description: string;
  readonly before: Bill;
  readonly state: SessionState;
  readonly reason: TurnReason | undefined;
  readonly problem?: string | undefined;
  readonly more?: string | undefined;
  readonly toolUses: number;
  /** Whether the log has taken its end. */
  readonly log: "whole" | "broken";
};

/** What the parent records of it. */
export function endOf(ending: AgentRunEnding): TaskEnd {
  const { description, before, state, reason, problem, more, toolUses, log } = ending;
  const isWell = problem === undefined && reason !== undefined && endsWell(reason);
  const status = isWell ? "completed" : reason && stopped.has(reason) ? "stopped" : "failed";
  const said = lastReplyText(state);
  const report = [said, more].filter((words) => words !== undefined && words !== "").join("\n\n");
  const why = problem ?? agentEnded(reason);
  const isBudget = reason?.startsWith("budget_") === true;
  return {
    status,
    report,
    bill: billSince(state.bill, before),
    toolUses,
    summary: shorten(isWell ? report || description : `${description}: ${why}`, maxSummary),
    ...(isWell ? {} : { error: why }),
    ...(isBudget ? { by: "budget" as const } : {}),
    // Who opens the session above must come by to set right what is below.
    ...(log === "broken" || state.tasks.values().some(isUnsettled) ? { unsettled: true } : {}),
  };
}

function lastReplyText({ history }: SessionState): string {
  const newest = history.slice(-50).toReversed();
  for (const { role, content } of newest) {
    const words = role === "assistant" ? textOf(content).trim() : "";
    if (words !== "") return words;
  }
  return "";
}

/** What a log says of an agent whose process has ended: how it ended, or that it did not. */
export type LoggedAgentRun = {
  readonly reason: TurnReason | undefined;
  readonly toolUses: number;
  readonly before: Bill;
};

export function emptyLoggedRun(before: Bill): LoggedAgentRun {
  return { reason: undefined, toolUses: 0, before };
}

/** Pure. Takes the state before the event. */
export function foldLoggedRun(found: LoggedAgentRun, event: Durable, state: SessionState): LoggedAgentRun {
  return handle(logged, event, found, state) ?? found;
}

const logged: EventHandlers<Durable, [found: LoggedAgentRun, before: SessionState], LoggedAgentRun> = {
  // A life that is over is on the bill already.
  "input.accepted": (_, found, { closed, bill }) => (closed ? emptyLoggedRun(bill) : found),
  "turn.started": (_, found) => ({ ...found, reason: undefined }),
  "turn.finished": ({ reason }, found) => ({ ...found, reason }),
  "model.finished": ({ content }, found) => ({
    ...found,
    toolUses: found.toolUses + toolUses(content).length,
  }),
};
/** It has ended, and its call waited for it. */
export function outcomeOf(task: Task): AgentOutcome {
  const { id, status, data } = task;
  const { report = "", error = "it did not come to an end", bill = noBill } = data;
  const again = `Agent id: ${id}. Use SendMessage to continue it.`;
  if (status !== "completed") {
    const said = report === "" ? "" : ` What it said last:\n\n${report}`;
    return { ok: false, why: `The agent ended without a complete report: ${error}. ${again}${said}` };
  }
  const words = report === "" ? "(The agent reported nothing.)" : report;
  const [answeredBy] = Object.keys(bill.models);
  return {
    ok: true,
    content: [text(words), text(again)],
    data: {
      status: "completed",
      ...aboutOf(task),
      agentType: data.agent ?? "",
      content: [{ type: "text", text: words }],
      totalToolUseCount: data.toolUses ?? 0,
      totalDurationMs: Math.max(0, (task.endedAt ?? task.startedAt) - task.startedAt),
      totalTokens: tokensOf(bill),
      ...(answeredBy === undefined ? {} : { resolvedModel: answeredBy }),
      usage: {
        input_tokens: bill.usage.inputTokens,
        output_tokens: bill.usage.outputTokens,
        cache_read_input_tokens: bill.usage.cacheReadTokens,
        cache_creation_input_tokens: bill.usage.cacheWriteTokens,
      },
      ...(data.worktree ? { worktreePath: data.worktree.path, worktreeBranch: data.worktree.branch } : {}),
    },
  };
}

/** It runs on by itself; its end is told when it comes. */
export function launchedOutcome(task: Task): AgentOutcome {
  const { id, data } = task;
  const file = data.outputFile === undefined ? "" : ` Its output so far is in ${data.outputFile}.`;
  return {
    ok: true,
    content: [
      text(
        `Agent ${id} is running in the background. You will be notified when it finishes; continue meanwhile.${file}`,
      ),
    ],
    data: {
      status: "async_launched",
      ...aboutOf(task),
      description: data.description ?? "",
      outputFile: data.outputFile ?? "",
      canReadOutputFile: data.outputFile !== undefined,
    },
  };
}

const aboutOf = ({ id, data }: Task): { [name: string]: Json } => ({
  agentId: id,
  prompt: data.prompt ?? "",
});
