/** The only object that changes. Everything enters by `submit` and leaves by `record`; this file holds wiring only. */

import { fold } from "../core/fold.ts";
import { limitsFor } from "../core/limits.ts";
import type { BudgetReason } from "../core/next-step.ts";
import { canHalt, inputFor, nextStep, type Step } from "../core/next-step.ts";
import type { SessionOpening } from "../core/opening.ts";
import { closingOf, type SessionEnd, settleAsLost, settleLeft, settleRequest } from "../core/settle.ts";
import { mustBeHere } from "../core/state/arrive.ts";
import { emptyState, modelOf, type SessionState } from "../core/state/state.ts";
import { canLeave, isIdle, unloaded } from "../core/unload.ts";
import { UsedIds } from "../core/used-ids.ts";
import { type Fault, fault, toFault } from "../kernel/fault.ts";
import { never } from "../kernel/result.ts";
import { rulesInForce } from "../policy/changes.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import type { LiveEvent } from "../protocol/event/live.ts";
import type { TurnReason } from "../protocol/reasons.ts";
import { TaskBoard } from "../tasks/board.ts";
import { Asks, closedBy, interruptedAnswer, notWritten } from "./asks.ts";
import type { CommandRequest, CommandVerdict } from "./calls/permit-command.ts";
import { changeSettings, clearContext, requestCompaction } from "./change-settings.ts";
import { Restorer } from "./checkpoint.ts";
import { hookContextOf } from "./consult.ts";
import { acceptInput, dropInput, dropQueued } from "./inputs.ts";
import { type EnvelopeListener, Journal, Listeners, onceEach } from "./journal.ts";
import { cacheState, readState } from "./load-state.ts";
import type { Closed, SessionPorts, StepContext } from "./step-context.ts";
import { perform } from "./steps/perform.ts";

export class Session {
  readonly id: string;
  readonly #parts: SessionPorts;
  readonly #listeners = new Listeners();
  readonly #asks: Asks;
  readonly tasks: TaskBoard;
  readonly #early: StepContext["early"] = new Map();
  readonly #used = new UsedIds();
  #state: SessionState = emptyState;
  #journal: Journal;
  #abort = new AbortController();
  #running: Promise<void> | undefined;
  /** What is being done now, and the input that is being looked at before its turn begins. */
  #doing: { readonly step: Step; readonly input: string | undefined } | undefined;
  #reloading: Promise<void> | undefined;
  readonly #restorer = new Restorer();
  /** Only what is light is in memory. */
  #isUnloaded = false;
  /** What is odd in a log that was read. */
  #odd: SessionPorts["log"]["notices"] = [];
  readonly #warn = onceEach((text) => this.#show({ type: "notice.raised", level: "warning", text }));
  /** Commands that are being taken. */
  #commands = 0;
  #closing: Promise<void> | undefined;
  readonly #newJournal = () =>
    new Journal({ ...this.#parts, onSaved: (event) => this.#listeners.tell(event) });

  private constructor(parts: SessionPorts) {
    this.id = parts.log.session;
    this.#parts = { ...parts, rules: rulesInForce(parts.rules, () => this.#state.learnt) };
    this.#journal = this.#newJournal();
    const context = {
      ...parts,
      state: () => this.#state,
      record: (event: DurableEvent) => this.#record(event),
      saved: () => this.#journal.saved(),
      wake: () => this.#wake(),
    };
    this.#asks = new Asks(context);
    this.tasks = new TaskBoard(context);
  }

  /** Folds the log, settles what an unclean end left open, and waits. Nothing runs before `submit` or `run`. */
  static async open(
    parts: SessionPorts,
    { start, first = [], unfinished = "continue" }: SessionOpening,
  ): Promise<Session> {
    const session = new Session(parts);
    await session.#load();
    mustBeHere(session.#state, session.id);
    if (!session.#state.opened)
      for (const event of [{ type: "session.opened" as const, ...start }, ...first]) session.#record(event);
    for (const event of settleLeft(session.#state)) session.#record(event);
    for (const event of await session.tasks.lost()) session.#record(event);
    if (unfinished === "lost")
      for (const event of settleAsLost(session.#state, parts.clock.now())) session.#record(event);
    await session.#journal.saved();
    return session;
  }

  /** At rest it has neither the conversation nor what is known of files. */
  get state(): SessionState {
    return this.#state;
  }

  /** Whether more than what is light is in memory. */
  get isLoaded(): boolean {
    return !this.#isUnloaded;
  }

  /** The rules as they are now. */
  get rules(): SessionPorts["rules"] {
    return this.#parts.rules;
  }

  /** What stopped the work where it stands, such as a log that cannot be written; the next `submit` tries again. */
  get fault(): Fault | undefined {
    return this.#journal.broken;
  }

  /** What a person should know about the log: damage that was found, and whether it is being saved. */
  get notices(): SessionPorts["log"]["notices"] {
    return [...this.#parts.log.notices, ...this.#odd];
  }

  /** A listener sees durable events once they are on disk, and live ones at once. It must not throw. */
  onEvent(listener: EnvelopeListener): () => void {
    return this.#listeners.add(listener);
  }

  /** Passes on what an agent of this session does. */
  readonly relay = (envelope: Envelope): void => this.#listeners.tell(envelope);

  /** Tells hooks what a person is told beside the conversation. Never rejects. */
  readonly notify = (facts: Parameters<SessionPorts["hooks"]["notify"]>[0]): Promise<undefined> =>
    this.#parts.hooks.notify(facts, hookContextOf(this.#work()));

  /** The budget is used up: what runs is stopped, and the turn ends for this reason. Who waits for agents ends after them. */
  halt(reason: BudgetReason): void {
    const isOver = this.#closing !== undefined || this.#journal.broken;
    if (!isOver && canHalt(this.#state, this.#doing?.step.kind, reason)) this.#stop("budget", reason);
  }

  /** The receipt comes when the command's facts are on disk. Throws a Fault, and then nothing was accepted. */
  async submit(command: Command): Promise<Receipt> {
    if (this.#closing !== undefined && command.type !== "close") throw fault("session_closed");
    this.#commands++;
    try {
      if (this.#journal.broken || (this.#isUnloaded && command.type !== "close")) await this.reload();
      return await this.#do(command);
    } finally {
      this.#commands--;
    }
  }

  async #do(command: Command): Promise<Receipt> {
    switch (command.type) {
      case "input":
        return this.#accept(command);
      case "answer":
        return this.#asks.answer(command.askId, closedBy(command));
      case "interrupt":
        return this.#interrupt(command.dropQueued ?? false);
      case "drop":
        return dropInput(this.#work(), command.inputId);
      case "set":
        return changeSettings(this.#work(), command.patch).then(() => this.#done());
      case "compact":
        requestCompaction(this.#work(), command.instructions);
        return this.#done().finally(() => this.#wake());
      case "clear":
        this.#mustNotRun("A turn runs: interrupt it first.");
        return clearContext(this.#work()).then(() => this.#done());
      case "return":
        this.#mustNotRun("A turn runs: interrupt it first.");
        return this.#restorer.goBack(this.#work(), command);
      case "rewind":
        await this.#restorer.settled();
        this.#mustNotRun("Files cannot be rewound while a turn runs.");
        return this.#restorer.rewind(this.#work(), command);
      case "background":
        return { type: "backgrounded", callIds: this.tasks.sendAway(command.callId) };
      case "stop": {
        const task = await this.tasks.stop(command.taskId, "host");
        await this.#journal.saved();
        return { type: "stopped", taskId: command.taskId, found: task !== undefined };
      }
      case "close":
        return this.close("ended").then(() => ({ type: "done" }));
      default:
        return never(command);
    }
  }

  /** Lets go of what the log can tell again, until it is needed. False while something is to be done. */
  async unload(): Promise<boolean> {
    if (this.#isUnloaded) return true;
    if (!this.#isIdle() || !(await this.#parts.log.unload?.())) return false;
    // What came in meanwhile opened the log again, or is on its way to it.
    if (!this.#isIdle()) return false;
    this.#isUnloaded = true;
    this.#used.forget();
    this.#state = unloaded(this.#state);
    return true;
  }

  /** Reads the log again after a rest, or after a write that failed. Throws what keeps it from being read. */
  async reload(): Promise<void> {
    if (!this.#isUnloaded && !this.#journal.broken) return;
    // One for all who come meanwhile: a second look at the log would forget what the first one added to it.
    this.#reloading ??= (this.#journal.broken ? this.#reload() : this.#load()).finally(() => {
      this.#reloading = undefined;
    });
    await this.#reloading;
  }

  /** Leave for a command in a person's own words, before they are an input. */
  async permitCommand(request: CommandRequest): Promise<CommandVerdict> {
    return (await import("./calls/permit-command.ts")).permitCommand(this.#work(), request, this.ask);
  }

  /** A question that belongs to no call, such as whether somebody's word is taken. */
  readonly ask = (ask: Ask): Promise<Closed> => this.#asks.open(ask);

  /** Works until nothing is left to do. A second call joins the first. Never throws: a fault is shown as a notice. */
  run(): Promise<void> {
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
      // Something may have come in after the last look.
      if (this.#next().kind !== "idle") this.#wake();
    });
    return this.#running;
  }

  /**
   * A graceful end: open asks are closed, the turn ends as interrupted, tasks are stopped, the lease is given back.
   * `waiting`: whether inputs that had no turn are there at the next opening, or end here.
   */
  close(reason: SessionEnd, waiting: "kept" | "dropped" = "kept"): Promise<void> {
    this.#closing ??= this.#close(reason, waiting);
    return this.#closing;
  }

  /**
   * Ends as a killed process does, though in order: what waits for an answer waits on, wherever the log is opened next.
   * False where something is at work, and then nothing was ended.
   */
  async leave(): Promise<boolean> {
    await this.#journal.saved();
    if (!canLeave(this.#state) || this.#commands > 0) return false;
    // Nothing is recorded any more.
    if (!isIdle(this.#state)) this.#journal = Journal.left(this.#parts);
    return this.close("ended").then(() => true);
  }

  async #close(reason: SessionEnd, waiting: "kept" | "dropped"): Promise<void> {
    // By then `#closing` is set: whatever runs on sees that the session ends.
    await Promise.resolve();
    // Who looks at the log anew brings an open turn back with it: that one has to end too.
    await this.#reloading?.catch(() => undefined);
    try {
      // Beside the turn: who ends us may not wait for one after the other.
      const stopped = this.tasks.stopAll();
      if (this.#state.turn && !this.#journal.broken) {
        this.#stop("shutdown");
        await this.run();
      }
      // Between turns, and where nothing can be written, nobody else tells those who wait.
      this.#abort.abort();
      if (!this.#journal.broken) this.#asks.closeAll({ ...interruptedAnswer, by: "shutdown" });
      this.#asks.release(notWritten);
      await this.#running;
      await this.#restorer.settled();
      await stopped;
      await this.tasks.close();
      const why = reason === "cleared" ? "clear" : "other";
      await this.#parts.hooks.end({ reason: why }, hookContextOf(this.#work()));
      const last = this.#journal.broken ? [] : closingOf(this.#state, { ...this.#parts, waiting }, reason);
      for (const event of last) this.#record(event);
      await this.#journal.saved();
      if (!this.#isUnloaded) await cacheState(this.#parts, this.#state, this.#used);
    } finally {
      await this.#parts.checkpoints?.close();
      await this.#parts.log.close();
    }
  }

  async #drain(): Promise<void> {
    try {
      for (let step = this.#next(); step.kind !== "idle"; step = this.#next()) {
        if (!this.#state.turn) {
          await this.#restorer.settled();
          if (this.#closing !== undefined) break;
          this.#abort = new AbortController();
        }
        this.#doing = { step, input: this.#state.turn ? undefined : inputFor(this.#state, "first")?.id };
        await perform(this.#work(), step);
        this.#doing = undefined;
        // What a broken log does not take must not be worked on.
        if (this.#journal.broken) break;
      }
      await this.#journal.saved();
    } catch (thrown) {
      const { code, message } = toFault(thrown);
      this.#show({ type: "notice.raised", level: "warning", text: message, code });
      // What happened before is kept: a journal that is given up must not write beside the next one.
      await this.#journal.saved().catch(() => undefined);
      // A fault of the log stops the work where it stands; any other is a defect that must not spin.
      if (!this.#journal.broken) this.#journal = Journal.broken(this.#parts, toFault(thrown));
    } finally {
      this.#doing = undefined;
    }
  }

  #next(): Step {
    const { model, budget, limits } = this.#parts;
    const own = limitsFor(limits, model.info(modelOf(this.#state)));
    return nextStep(this.#state, budget?.bound(own, this.#state.bill) ?? own);
  }

  #work(): StepContext {
    const session = this;
    const { signal } = this.#abort;
    return {
      parts: this.#parts,
      signal,
      early: this.#early,
      isKnownCall: (id) => this.#used.hasCall(id),
      get state() {
        return session.#state;
      },
      record: (event) => this.#record(event),
      saved: (meanwhile) => this.#journal.saved(meanwhile),
      show: (event) => this.#show(event),
      warn: this.#warn,
      answer: async (askId, closed) => void (await this.#asks.answer(askId, closed)),
      interrupt: (by, reason) => this.#stop(by, reason),
      // A turn that was stopped asks nobody any more: the answer would be waited for in vain.
      ask: (ask) => (signal.aborted ? Promise.resolve(interruptedAnswer) : this.#asks.open(ask)),
      tasks: this.tasks,
    };
  }

  #record(event: DurableEvent): void {
    const { clock, budget } = this.#parts;
    const envelope: Durable = { seq: this.#state.seq + 1, at: clock.now(), session: this.id, ...event };
    this.#journal.add(envelope);
    this.#used.take(envelope);
    this.#state = fold(this.#state, envelope);
    budget?.hear(envelope);
  }

  #show(event: LiveEvent): void {
    // The event first: V8 copies it as a whole then, and a long reply has tens of thousands.
    this.#listeners.tell({ ...event, at: this.#parts.clock.now(), session: this.id });
  }

  async #accept(command: Extract<Command, { type: "input" }>): Promise<Receipt> {
    const receipt = await acceptInput(this.#work(), command, (id) => this.#used.hasInput(id));
    if (!receipt.duplicate) void this.run();
    return receipt;
  }

  async #interrupt(all: boolean): Promise<Receipt> {
    const running = this.#state.turn !== null || this.#doing !== undefined;
    if (this.#state.turn) this.#stop("host");
    else {
      this.#abort.abort();
      this.#asks.closeAll(interruptedAnswer);
    }
    // An input whose turn has not begun yet is what was interrupted.
    const taken = this.#doing?.step.kind === "take-input" ? this.#doing.input : undefined;
    return { type: "interrupted", running, ...(await dropQueued(this.#work(), { all, taken, running })) };
  }

  #stop(by: "host" | "shutdown" | "answer" | "budget", reason?: TurnReason): void {
    if (!this.#state.turn?.interrupted)
      this.#record({ type: "turn.interrupted", by, ...(reason === undefined ? {} : { reason }) });
    this.#asks.closeAll(by === "shutdown" ? { ...interruptedAnswer, by } : interruptedAnswer);
    this.#abort.abort();
  }

  #mustNotRun(reason: string): void {
    if (this.#state.turn || this.#doing) throw fault("usage", { reason });
  }

  readonly #done = (): Promise<Receipt> => this.#journal.saved().then(() => ({ type: "done" }));

  async #load(): Promise<void> {
    ({ state: this.#state, notices: this.#odd } = await readState(this.#parts.log, this.#used, this.#state));
    this.#isUnloaded = false;
    this.#abort = new AbortController();
    // What a person stopped stays stopped.
    if (this.#state.turn?.interrupted) this.#abort.abort();
  }

  /** Nothing is to be done, and all that happened is on disk. */
  #isIdle(): boolean {
    if (this.#commands > 0 || (this.#running ?? this.#reloading ?? this.#closing)) return false;
    return !this.#journal.broken && this.#state.seq === this.#parts.log.lastSeq && isIdle(this.#state);
  }

  /** After a failed write only the disk is right: what was not saved is forgotten, and the work goes on from there. */
  async #reload(): Promise<void> {
    this.#abort.abort();
    this.#asks.release(notWritten);
    await this.#running;
    this.#early.clear();
    await this.#load();
    this.#journal = this.#newJournal();
    for (const event of settleRequest(this.#state)) this.#record(event);
    this.tasks.report();
    await this.#journal.saved();
    if (this.#state.turn) void this.run();
  }

  /** For what comes from the side; a session that ends starts nothing any more. */
  #wake(): void {
    if (this.#closing === undefined && !this.#journal.broken) void this.run();
  }
}
