/**
 * One budget for a session and all agents below it: money, tokens, time, and commands at once. What a request is
 * expected to cost is reserved before it is sent, so that many agents at once cannot all spend the same rest. At four
 * fifths a person is warned; when nothing is left, every session of the tree ends its turn, each with its own end.
 */

import type { Limits } from "../core/limits.ts";
import type { BudgetReason } from "../core/next-step.ts";
import { over, unlessAborted } from "../kernel/abort.ts";
import type { Clock } from "../ports/clock.ts";
import type { Shell, ShellOutcome, ShellRun } from "../ports/shell.ts";
import type { LogNotice } from "../ports/store.ts";
import { isCharge, tokensOf } from "../protocol/bill.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type Bill, contextTokens, noUsage } from "../protocol/usage.ts";

export type BudgetLimits = Pick<Limits, "maxBudgetUsd" | "maxTokens" | "maxTimeMs" | "maxProcesses">;
export type Spending = { readonly usd: number; readonly tokens: number };

const warnAt = 0.8;
const nothing: Spending = { usd: 0, tokens: 0 };

export class TreeBudget {
  readonly #limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #warned = new Set<string>();
  readonly #watchers = new Set<(reason: BudgetReason) => void>();
  #changed = Promise.withResolvers<void>();
  readonly #closed = new AbortController();
  #spent: Spending = nothing;
  #reserved: Spending = nothing;
  #processes = 0;
  #startedMs: number | undefined;
  /** Hears what a person should know. Set by whoever opens the tree. */
  warn: (notice: LogNotice) => void = () => undefined;

  constructor({ limits, clock }: { limits: BudgetLimits; clock: Clock }) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get clock(): Clock {
    return this.#clock;
  }

  /** What a session that goes on has spent before. From here the time counts. */
  begin(bill: Bill): void {
    this.#spent = { usd: bill.costUsd, tokens: tokensOf(bill) };
    this.#startedMs = this.#clock.monotonicMs();
    const { maxTimeMs } = this.#limits;
    if (!Number.isFinite(maxTimeMs)) return;
    void this.#wakeAfter(maxTimeMs * warnAt, () => this.#look());
    void this.#wakeAfter(maxTimeMs, () => this.#look());
  }

  /** What an agent had used before a crash, of which no bill above knows yet. */
  add(bill: Bill): void {
    const { usd, tokens } = this.#spent;
    this.#spent = { usd: usd + bill.costUsd, tokens: tokens + tokensOf(bill) };
    this.#look();
  }

  /** Every durable event of every session of the tree comes by here, once: an agent's bill is nothing new. */
  hear(event: Durable): void {
    if (!isCharge(event)) return;
    const { usd, tokens } = this.#spent;
    this.#spent = { usd: usd + (event.costUsd ?? 0), tokens: tokens + contextTokens(event.usage ?? noUsage) };
    this.#look();
  }

  /** The limits of one session as the tree leaves them: its own bill, and what nobody has spent yet. */
  bound(limits: Limits, own: Bill): Limits {
    const { maxBudgetUsd, maxTokens } = this.#limits;
    return {
      ...limits,
      maxBudgetUsd: own.costUsd + (maxBudgetUsd - this.#spent.usd),
      maxTokens: tokensOf(own) + (maxTokens - this.#spent.tokens),
      maxTimeMs: this.#leftMs(),
    };
  }

  /** What is used up, if anything is. */
  get exhausted(): BudgetReason | undefined {
    const { maxBudgetUsd, maxTokens } = this.#limits;
    if (this.#spent.usd >= maxBudgetUsd) return "budget_usd";
    if (this.#spent.tokens >= maxTokens) return "budget_tokens";
    return this.#leftMs() <= 0 ? "budget_time" : undefined;
  }

  /**
   * Waits until the wish fits beside what others have reserved, or until nobody else is under way. Undefined when the
   * budget is used up or the signal has fired: then nothing is reserved.
   */
  async reserve(request: Spending, signal: AbortSignal): Promise<{ release(): void } | undefined> {
    while (!signal.aborted && this.exhausted === undefined) {
      if (this.#fits(request)) return this.#take(request);
      // Whether the signal has fired is seen at once.
      await unlessAborted(this.#changed.promise, signal).catch(() => undefined);
    }
    return undefined;
  }

  /** A command wants to run. Undefined when too many do. */
  startProcess(): { release(): void } | undefined {
    if (this.#processes >= this.#limits.maxProcesses) return undefined;
    this.#processes++;
    this.#warnOnce("processes", this.#processes / this.#limits.maxProcesses);
    let isOpen = true;
    return {
      release: () => {
        if (isOpen) this.#processes--;
        isOpen = false;
      },
    };
  }

  get maxProcesses(): number {
    return this.#limits.maxProcesses;
  }

  /** Is called when the budget is used up, and again when somebody asks by `enforce`. Returns what stops it. */
  onExhausted(watcher: (reason: BudgetReason) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Tells all sessions again, if nothing is left: one that waited for an agent can end now. */
  enforce(): void {
    const reason = this.exhausted;
    if (reason === undefined) return;
    for (const watcher of [...this.#watchers]) queueMicrotask(() => watcher(reason));
  }

  close(): void {
    this.#closed.abort(over);
  }

  #fits({ usd, tokens }: Spending): boolean {
    const { maxBudgetUsd, maxTokens } = this.#limits;
    if (this.#reserved.usd === 0 && this.#reserved.tokens === 0) return true;
    return (
      this.#spent.usd + this.#reserved.usd + usd <= maxBudgetUsd &&
      this.#spent.tokens + this.#reserved.tokens + tokens <= maxTokens
    );
  }

  #take({ usd, tokens }: Spending): { release(): void } {
    this.#reserved = { usd: this.#reserved.usd + usd, tokens: this.#reserved.tokens + tokens };
    let isOpen = true;
    return {
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        // Sums of fractions need not come back to nothing by themselves.
        const rest = { usd: this.#reserved.usd - usd, tokens: this.#reserved.tokens - tokens };
        this.#reserved = rest.tokens <= 0 ? nothing : rest;
        this.#wake();
      },
    };
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #look(): void {
    const { maxBudgetUsd, maxTokens, maxTimeMs } = this.#limits;
    this.#warnOnce("money", this.#spent.usd / maxBudgetUsd);
    this.#warnOnce("tokens", this.#spent.tokens / maxTokens);
    this.#warnOnce("time", 1 - this.#leftMs() / maxTimeMs);
    if (this.exhausted === undefined) return;
    this.#wake();
    this.enforce();
  }

  #leftMs(): number {
    const { maxTimeMs } = this.#limits;
    if (!Number.isFinite(maxTimeMs) || this.#startedMs === undefined) return maxTimeMs;
    return maxTimeMs - (this.#clock.monotonicMs() - this.#startedMs);
  }

  #warnOnce(what: string, part: number): void {
    if (!(part >= warnAt) || this.#warned.has(what)) return;
    this.#warned.add(what);
    const words = `${Math.min(100, Math.floor(part * 100))} % of the budget in ${what} is used up, agents included.`;
    this.warn({ level: "warning", text: words });
  }

  async #wakeAfter(ms: number, then: () => void): Promise<void> {
    await this.#clock.sleep(ms, this.#closed.signal);
    if (!this.#closed.signal.aborted) then();
  }
}

/** A shell that starts no more commands at once than the budget of the tree allows. */
export function boundShell(shell: Shell, budget: TreeBudget): Shell {
  if (!Number.isFinite(budget.maxProcesses)) return shell;
  return {
    async *run(command, signal) {
      const place = budget.startProcess();
      if (!place) return notStarted(budget.maxProcesses);
      try {
        return yield* shell.run(command, signal);
      } finally {
        place.release();
      }
    },
    async start(command) {
      const place = budget.startProcess();
      if (!place) return overAtOnce(notStarted(budget.maxProcesses));
      try {
        const run = await shell.start(command);
        void run.over.then(() => place.release());
        return run;
      } catch (thrown) {
        place.release();
        throw thrown;
      }
    },
  };
}

const notStarted = (most: number): ShellOutcome => ({
  // What a shell says of a command that it could not run.
  exitCode: 126,
  signal: null,
  timedOut: false,
  interrupted: false,
  output: `Not started: ${most} commands run already, which is the most for this session and its agents.`,
  omittedBytes: 0,
});

const overAtOnce = (outcome: ShellOutcome): ShellRun => ({
  over: Promise.resolve(outcome),
  async *follow() {
    yield { text: outcome.output };
  },
  output: () => outcome.output,
  saveTo: () => undefined,
  goOn: () => undefined,
  stop: async () => undefined,
  left: () => undefined,
});
