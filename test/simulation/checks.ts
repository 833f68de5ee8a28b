/** The laws, checked on the disk alone. Each complaint is a sentence; none means that all is well. */
import { emptyState, fold, type State } from "../../keel/src/engine/state.ts";
import { isRunning } from "../../keel/src/engine/task-state.ts";
import type { Durable } from "../../keel/src/protocol/event.ts";
import type { Disk } from "./disk.ts";
import type { Promises } from "./host.ts";
import type { Effects } from "./tools.ts";

export class Checks {
  readonly complaints: string[] = [];
  readonly #terminal = new Map<string, number>();
  readonly #started = new Map<string, number>();
  readonly #finished = new Map<string, number>();
  readonly #inputs = new Set<string>();
  #state: State = emptyState;
  #checked = 0;

  /** Looks at what is new on the disk. */
  follow(disk: Disk): void {
    for (const event of disk.eventsAfter(this.#checked)) {
      this.#look(event);
      this.#checked += 1;
    }
  }

  /** After every step. */
  always(promises: Promises, effects: Effects): void {
    for (const id of promises.accepted)
      if (!this.#inputs.has(id)) this.#complain(`accepted input ${id} is not on disk`);
    for (const [call, times] of effects.runs) {
      if (times > 1) this.#complain(`call ${call} had its effect ${times} times`);
      if (promises.denied.has(call)) this.#complain(`call ${call} was denied and ran`);
    }
  }

  /** When all is calm and nothing is left to do. */
  atTheEnd(promises: Promises): void {
    for (const id of this.#inputs) {
      const ends = this.#terminal.get(id) ?? 0;
      if (ends !== 1) this.#complain(`input ${id} has ${ends} terminal events`);
    }
    for (const id of promises.refused)
      if (this.#inputs.has(id)) this.#complain(`refused input ${id} is on disk`);
    if (this.#state.turn) this.#complain("a turn never ended");
    if (this.#state.pending.length > 0) this.#complain("inputs still wait");
    if (this.#state.asks.length > 0) this.#complain("asks are still open");
    if (this.#state.request) this.#complain("a request is still open");
    for (const task of this.#state.tasks.values())
      if (isRunning(task)) this.#complain(`task ${task.id} never ended`);
  }

  get state(): State {
    return this.#state;
  }

  #look(event: Durable): void {
    if (event.seq !== this.#checked + 1 && event.seq !== this.#state.seq + 1)
      this.#complain(`event ${event.seq} follows ${this.#state.seq}`);
    const before = this.#state;
    this.#state = fold(before, event);
    switch (event.type) {
      case "input.accepted":
        if (this.#inputs.has(event.input.id)) this.#complain(`input ${event.input.id} was accepted twice`);
        this.#inputs.add(event.input.id);
        return;
      case "input.dropped":
        return this.#count(this.#terminal, event.inputId);
      case "turn.finished":
        if (!before.turn) this.#complain(`turn ${event.turnId} ended without running`);
        for (const id of event.inputIds) this.#count(this.#terminal, id);
        return;
      case "tool.started":
        this.#count(this.#started, event.callId);
        if ((this.#started.get(event.callId) ?? 0) > 1) this.#complain(`call ${event.callId} started twice`);
        return this.#insideTurn(before, event);
      case "tool.finished":
        this.#count(this.#finished, event.callId);
        if ((this.#finished.get(event.callId) ?? 0) > 1)
          this.#complain(`call ${event.callId} finished twice`);
        return this.#insideTurn(before, event);
      case "task.changed": {
        const known = before.tasks.get(event.taskId);
        if (known && !isRunning(known)) this.#complain(`task ${event.taskId} changed after its end`);
        if (known && event.status === "running") this.#complain(`task ${event.taskId} started twice`);
        return;
      }
      case "model.finished":
      case "input.joined":
      case "context.added":
        return this.#insideTurn(before, event);
      default:
    }
  }

  #insideTurn(before: State, event: Durable): void {
    if (!before.turn) this.#complain(`${event.type} (${event.seq}) came after its turn had ended`);
  }

  #count(counts: Map<string, number>, key: string): void {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  #complain(words: string): void {
    if (this.complaints.length < 20 && !this.complaints.includes(words)) this.complaints.push(words);
  }
}
