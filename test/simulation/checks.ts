/** The laws, checked on the disk alone. Each complaint is a sentence; none means that all is well. */

import { requestOf } from "../../keel/src/core/context/request.ts";
import { fold } from "../../keel/src/core/fold.ts";
import { defaultLimits } from "../../keel/src/core/limits.ts";
import { callsIn } from "../../keel/src/core/state/call-state.ts";
import { emptyState, type SessionState } from "../../keel/src/core/state/state.ts";
import { isRunning, isUnsettled } from "../../keel/src/core/state/task-state.ts";
import { retryKind } from "../../keel/src/kernel/backoff.ts";
import type { ModelRequest } from "../../keel/src/ports/model.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import type { ModelInfo } from "../../keel/src/protocol/usage.ts";
import type { Disk } from "./disk.ts";
import type { Promises } from "./host.ts";
import type { World } from "./world.ts";
import { Written } from "./written.ts";

/** How long a turn may take to end after it was interrupted, or a session to close: graces, last hooks, a slow disk. */
const maxMsToStop = 60_000;

/** Of one log. */
export class Checks {
  readonly #complaints: string[];
  readonly #name: string;
  readonly #world: World;
  readonly #written = new Written();
  readonly #disk: Disk;
  readonly #terminal = new Map<string, number>();
  readonly #started = new Set<string>();
  readonly #finished = new Set<string>();
  readonly #inputs = new Set<string>();
  readonly #askedAt = new Map<string, number>();
  #state: SessionState = emptyState;
  #checked = 0;
  #isAfterCompaction = false;
  #stalls = 0;
  /** Since when something is to stop, and what. */
  #stopping: { readonly what: string; readonly since: number } | undefined;

  /** The name stands before each complaint. */
  constructor(world: World, disk: Disk, { name, complaints }: { name: string; complaints: string[] }) {
    this.#world = world;
    this.#disk = disk;
    this.#name = name;
    this.#complaints = complaints;
  }

  /** The log as it is by now. */
  get state(): SessionState {
    return this.#state;
  }

  get stalls(): number {
    return this.#stalls;
  }

  hasStarted(callId: string): boolean {
    return this.#started.has(callId);
  }

  /** Looks at what is new on the disk. */
  follow(): void {
    for (const event of this.#disk.eventsAfter(this.#checked)) {
      this.#look(event);
      this.#checked += 1;
    }
  }

  /** After every step. */
  always(): void {
    if (this.#state.pending.length > defaultLimits.pendingInputs) this.complain("more inputs wait than may");
    const stopping = this.#stopping;
    if (stopping && this.#world.monotonicMs - stopping.since > maxMsToStop)
      this.complain(`${stopping.what} did not come to its end in time`);
  }

  /** What a host was promised. */
  keeps({ accepted }: Promises): void {
    for (const id of accepted)
      if (!this.#inputs.has(id)) this.complain(`accepted input ${id} is not on disk`);
  }

  /** Something is to end soon from now on. */
  stopping(what: string): void {
    this.#stopping ??= { what, since: this.#world.monotonicMs };
  }

  /** The machine went down, or its disk failed: nobody can be held to a time. */
  excuse(): void {
    this.#stopping = undefined;
    for (const id of this.#askedAt.keys()) this.#askedAt.set(id, this.#world.monotonicMs);
  }

  /** Its disk failed for good: at every step it may begin to wait anew, so that no time of it is known. */
  forgive(): void {
    this.#stopping = undefined;
    this.#askedAt.clear();
  }

  /** A request goes out: what it says is what the disk says, and that it goes out stands there too. */
  atRequest(request: ModelRequest, info: ModelInfo): string[] {
    this.follow();
    const { request: open } = this.#state;
    if (!open) return ["a request went out before its start was on disk"];
    if (open.purpose !== "turn") return [];
    const projected = requestOf(this.#state, { session: request.session, info });
    return this.#written.request(projected) === this.#written.request(request)
      ? []
      : ["a request says something else than the log"];
  }

  /** When all is calm and nothing is left to do. */
  atTheEnd({ refused }: Pick<Promises, "refused">): void {
    for (const id of this.#inputs) {
      const ends = this.#terminal.get(id) ?? 0;
      if (ends !== 1) this.complain(`input ${id} has ${ends} terminal events`);
    }
    for (const id of refused) if (this.#inputs.has(id)) this.complain(`refused input ${id} is on disk`);
    if (this.#state.turn) this.complain("a turn never ended");
    if (this.#state.pending.length > 0) this.complain("inputs still wait");
    if (this.#state.asks.length > 0) this.complain("asks are still open");
    if (this.#state.request) this.complain("a request is still open");
    for (const task of this.#state.tasks.values())
      if (isUnsettled(task)) this.complain(`task ${task.id} never ended`);
  }

  complain(words: string): void {
    const named = `${this.#name}${words}`;
    if (this.#complaints.length < 20 && !this.#complaints.includes(named)) this.#complaints.push(named);
  }

  #look(event: Durable): void {
    if (event.seq !== this.#checked + 1 && event.seq !== this.#state.seq + 1)
      this.complain(`event ${event.seq} follows ${this.#state.seq}`);
    const before = this.#state;
    this.#state = fold(before, event);
    if (event.type === "context.compacted") this.#isAfterCompaction = true;
    if (event.type === "turn.started" || event.type === "model.started") this.#isAfterCompaction = false;
    switch (event.type) {
      case "input.accepted":
        if (this.#inputs.has(event.input.id)) this.complain(`input ${event.input.id} was accepted twice`);
        this.#inputs.add(event.input.id);
        return;
      case "input.dropped":
        return this.#ends(event.inputId);
      case "turn.started":
        if (before.turn) this.complain(`turn ${event.turnId} began inside another`);
        return;
      case "turn.interrupted":
        return this.stopping("an interrupted turn");
      case "turn.finished":
        this.#stopping = undefined;
        if (!before.turn) this.complain(`turn ${event.turnId} ended without running`);
        if (before.asks.length > 0) this.complain(`turn ${event.turnId} ended with open asks`);
        if (callsIn(before.calls).some(({ status }) => status === "started"))
          this.complain(`turn ${event.turnId} ended with a call under way`);
        for (const id of event.inputIds) this.#ends(id);
        return;
      case "tool.started":
      case "tool.finished":
        return this.#lookAtCall(before, event);
      case "ask.opened":
        if (before.asks.some(({ id }) => id === event.ask.id))
          this.complain(`ask ${event.ask.id} was opened twice`);
        this.#askedAt.set(event.ask.id, this.#world.monotonicMs);
        return this.#insideTurn(before, event);
      case "ask.closed":
        return this.#lookAtAnswer(before, event);
      case "model.started":
        return this.#lookAtRequest(before);
      case "model.finished":
        if (before.request?.id !== event.requestId)
          this.complain(`a reply (${event.seq}) is to no open request`);
        return this.#insideTurn(before, event);
      case "model.failed":
        if (event.fault.code === "stream_stalled") this.#stalls += 1;
        return;
      case "context.compacted":
        if (
          event.trigger !== "manual" &&
          (this.#state.turn?.fruitlessCompactions ?? 0) > defaultLimits.maxFruitlessCompactions
        )
          this.complain(`compaction ${event.seq} came although the ones before gained nothing`);
        return;
      case "task.changed":
        return this.#lookAtTask(before, event);
      case "context.added":
        // A compaction between turns may be followed by words, as one within a turn.
        return this.#isAfterCompaction ? undefined : this.#insideTurn(before, event);
      case "input.joined":
        return this.#insideTurn(before, event);
      case "session.closed":
        this.#stopping = undefined;
        if (before.turn || before.asks.length > 0) this.complain("a session was closed with work under way");
        for (const task of before.tasks.values())
          if (isRunning(task)) this.complain(`task ${task.id} outlives its session`);
        return;
      default:
    }
  }

  #lookAtCall(
    before: SessionState,
    event: Extract<Durable, { type: "tool.started" | "tool.finished" }>,
  ): void {
    this.#insideTurn(before, event);
    const { callId } = event;
    const call = before.calls.byId.get(callId);
    if (!call) this.complain(`call ${callId} (${event.seq}) was not asked for`);
    const [seen, word] =
      event.type === "tool.started" ? [this.#started, "started"] : [this.#finished, "finished"];
    if (seen.has(callId)) this.complain(`call ${callId} ${word} twice`);
    seen.add(callId);
    if (event.type === "tool.started" && before.turn?.interrupted)
      this.complain(`call ${callId} started after its turn was interrupted`);
  }

  #lookAtTask(
    before: SessionState,
    { taskId, status, data = {} }: Extract<Durable, { type: "task.changed" }>,
  ): void {
    const known = before.tasks.get(taskId);
    if (!known) return;
    const isAgent = known.data.kind === "agent";
    // It may be sent to the background, and an agent that has ended may go on.
    const isMoved = data.origin === "moved" && Object.keys(data).length === 1;
    // A member of a team that was at work when the machine went down goes on where it was.
    const goesOn = known.data.team !== undefined && this.#world.life > 1;
    if (status === "running" && !(isRunning(known) ? isMoved || goesOn : isAgent))
      this.complain(`task ${taskId} started twice`);
    // A call may tell of an end once more; a log that was broken may be set right.
    const isToldAgain = isAgent && status === known.status && Object.keys(data).join() === "told";
    const isSetRight = known.data.unsettled === true && data.unsettled === false;
    if (status !== "running" && !isRunning(known) && !isToldAgain && !isSetRight)
      this.complain(`task ${taskId} changed after its end`);
  }

  #lookAtAnswer(before: SessionState, event: Extract<Durable, { type: "ask.closed" }>): void {
    if (before.asks.every(({ id }) => id !== event.askId))
      this.complain(`ask ${event.askId} was closed and was not open`);
    const waitedMs = this.#world.monotonicMs - (this.#askedAt.get(event.askId) ?? 0);
    // The clock of the wall may have jumped: it does not count.
    if (event.by === "timeout" && waitedMs < defaultLimits.askMs - 1)
      this.complain(`ask ${event.askId} was given up after ${waitedMs} ms`);
    this.#askedAt.delete(event.askId);
  }

  #lookAtRequest(before: SessionState): void {
    if (before.request) this.complain("two requests are open");
    const { turn } = before;
    if (!turn?.failure) return;
    const isCheap = retryKind(turn.failure.fault.code) === "often";
    const most = isCheap ? defaultLimits.maxRetries : defaultLimits.maxStreamRetries;
    if (turn.failures > most && !turn.tooLong)
      this.complain(`a request was tried ${turn.failures + 1} times`);
  }

  #insideTurn(before: SessionState, event: Durable): void {
    if (!before.turn) this.complain(`${event.type} (${event.seq}) came after its turn had ended`);
  }

  #ends(inputId: string): void {
    this.#terminal.set(inputId, (this.#terminal.get(inputId) ?? 0) + 1);
  }
}
