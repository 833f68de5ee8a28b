/**
 * Of a session that several speak to: which events belong to the turns of one of them, and when those have ended. What
 * such a turn left in the background belongs to it, and the turn in which its end is told.
 */
import type { Receipt } from "../../protocol/command.ts";
import { type Envelope, type EnvelopeOf, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { RunningTask } from "../../protocol/inquiry.ts";

export class OwnTurns {
  /** What was said and has not come to its end, and whether that has begun. */
  readonly #inputs = new Map<string, "waits" | "runs">();
  /** Commands that need no turn: those whose words are still to come, and those that came before their receipt. */
  readonly #awaited: string[] = [];
  readonly #answered: string[] = [];
  /** What its turns began in the background, with what agents began in turn; and what of it runs now. */
  readonly #begun = new Set<string>();
  readonly #tasks = new Map<string, RunningTask>();
  /** Ended, and the input that tells it is still to come. */
  readonly #reports = new Set<string>();
  #sending = 0;
  #isRunning: boolean;
  #failure: { readonly why: unknown } | undefined;
  #waiters: PromiseWithResolvers<void>[] = [];

  /** Whether the turn that runs is one of them. */
  constructor(isRunning: boolean) {
    this.#isRunning = isRunning;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  hasWork(): boolean {
    const waited = this.#inputs.size + this.#reports.size + this.#awaited.length + this.#sending;
    return this.#isRunning || waited > 0;
  }

  /** What runs in the background now. */
  tasks(): RunningTask[] {
    return [...this.#tasks.values()];
  }

  waiting(): string[] {
    return [...this.#inputs].flatMap(([id, state]) => (state === "waits" ? [id] : []));
  }

  /** Resolves when nothing of it is left to do. Throws what keeps it from being told. */
  async ended(): Promise<void> {
    if (this.#failure) throw this.#failure.why;
    if (!this.hasWork()) return;
    const waiter = Promise.withResolvers<void>();
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  fail(why: unknown): void {
    this.#failure ??= { why };
    for (const { reject } of this.#waiters.splice(0)) reject(why);
  }

  /** Its events may come before its receipt. */
  async say(id: string, send: () => Promise<Receipt>): Promise<Receipt> {
    this.#inputs.set(id, "waits");
    this.#sending++;
    try {
      const receipt = await send();
      if (receipt.type === "ran") this.#ran(id, receipt.command);
      return receipt;
    } catch (thrown) {
      this.#inputs.delete(id);
      throw thrown;
    } finally {
      this.#sending--;
      if (this.#sending === 0) this.#answered.length = 0;
      this.#settle();
    }
  }

  /** To be asked once of each event, in their order, before `heard`. */
  owns(event: Envelope): boolean {
    if (event.origin) return this.#isRunning || this.#begun.has(event.origin.agentId);
    return handle(this.#beginnings, event) ?? this.#isRunning;
  }

  heard(event: Envelope): void {
    if (event.type === "task.changed") this.#follow(event);
    if (event.origin) return;
    handle(this.#ends, event);
    this.#settle();
  }

  readonly #begin = (ids: readonly string[]): boolean => {
    const own = ids.filter((id) => this.#inputs.has(id));
    for (const id of own) this.#inputs.set(id, "runs");
    return own.length > 0;
  };

  readonly #beginnings: EventHandlers<Envelope, [], boolean> = {
    "turn.started": ({ inputIds }) => {
      this.#isRunning = this.#begin(inputIds);
      return this.#isRunning;
    },
    "input.joined": ({ inputIds }) => {
      this.#isRunning = this.#begin(inputIds) || this.#isRunning;
      return this.#isRunning;
    },
    "input.accepted": ({ input }) => {
      if (input.from.kind === "task" && this.#begun.has(input.from.taskId)) {
        this.#reports.delete(input.from.taskId);
        this.#inputs.set(input.id, "waits");
      }
      return this.#isRunning || this.#inputs.has(input.id);
    },
    "task.changed": ({ taskId }) => this.#isRunning || this.#begun.has(taskId),
    "input.dropped": ({ inputId }) => this.#isRunning || this.#inputs.has(inputId),
    "command.answered": ({ name }) => this.#isRunning || this.#sending > 0 || this.#awaited.includes(name),
  };

  readonly #ends: EventHandlers<Envelope, [], void> = {
    "input.dropped": ({ inputId }) => void this.#inputs.delete(inputId),
    "turn.finished": ({ inputIds }) => {
      this.#isRunning = false;
      for (const id of inputIds) this.#inputs.delete(id);
    },
    "command.answered": ({ name }) => {
      const at = this.#awaited.indexOf(name);
      if (at >= 0) this.#awaited.splice(at, 1);
      else if (this.#sending > 0) this.#answered.push(name);
    },
  };

  #follow({ taskId, status, data, origin }: EnvelopeOf<"task.changed">): void {
    const isOwn = origin ? this.#begun.has(origin.agentId) : this.#isRunning;
    if (status === "running" && isOwn) this.#begun.add(taskId);
    if (!this.#begun.has(taskId) || origin) return;
    if (status === "running") {
      const reports = data?.origin !== "left";
      this.#tasks.set(taskId, { id: taskId, description: data?.description ?? taskId, reports });
      return;
    }
    const ran = this.#tasks.get(taskId);
    this.#tasks.delete(taskId);
    if (ran?.reports && data?.by === "itself" && !data.told) this.#reports.add(taskId);
  }

  #ran(id: string, command: string): void {
    this.#inputs.delete(id);
    const at = this.#answered.indexOf(command);
    if (at >= 0) this.#answered.splice(at, 1);
    else this.#awaited.push(command);
  }

  #settle(): void {
    if (this.hasWork()) return;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }
}
