/** One session as an editor has it: its events as updates, its prompts as turns, its asks as requests. Wiring only. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { OpenSession } from "../../app/open-session.ts";
import type { JoinedSession } from "../../app/sessions/joined-session.ts";
import { fault } from "../../kernel/fault.ts";
import { present, sameJson } from "../../kernel/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import type { InputBlock } from "../../protocol/message.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import { Asking } from "./asking.ts";
import { userMessage } from "./dialect.ts";
import { type Choices, patchFor } from "./options.ts";
import { inputOf } from "./prompt.ts";
import { type PromptEnd, promptEnd } from "./prompt-end.ts";
import { Teller } from "./teller.ts";
import { type TurnEnd, Turns } from "./turns.ts";
import type { EditorWire } from "./wire.ts";
import type { Wording, WorkState } from "./wording.ts";

export type SessionSource = OpenSession | JoinedSession;

export type EditorSessionOptions = {
  readonly session: SessionSource;
  readonly wire: EditorWire;
  readonly wording: Wording;
  readonly bypass: Choices["bypass"];
  readonly clock: Pick<Clock, "sleep" | "now" | "monotonicMs">;
  readonly newId: () => string;
};

/** Where a prompt belongs in a trace, as W3C's `traceparent` writes it. */
type PromptTrace = { readonly trace?: string };

/** `cut` is resolved where nobody waits any more for the end of its turn. */
type OpenPrompt = { isCancelled: boolean; readonly cut: PromiseWithResolvers<void> };

/** A turn that does not end soon after it was cancelled ends by itself, unheard: an editor must not wait for it. */
const maxCancelMs = 200;

export class EditorSession {
  readonly id: string;
  readonly #given: EditorSessionOptions;
  readonly #teller: Teller;
  readonly #asking: Asking;
  readonly #turns = new Turns();
  readonly #prompts = new Map<string, OpenPrompt>();
  #state: WorkState = { state: "idle" };
  readonly #asks = new Set<string>();
  /** The turn that runs is to end, with the agents that it began. */
  #isCancelled = false;
  #commands: unknown;
  readonly #ends: (() => void)[] = [];
  /** What happens while the log is read. */
  #held: Envelope[] | undefined;
  /** The last event that the log had then. */
  #seen = 0;

  constructor(given: EditorSessionOptions) {
    const { session } = given;
    this.#given = given;
    this.id = session.id;
    this.#teller = new Teller({
      ...given,
      sessionId: session.id,
      told: {
        cwd: session.info.cwd,
        window: (model) => session.info.models[model]?.windowTokens,
      },
    });
    this.#asking = new Asking(given);
  }

  get source(): SessionSource {
    return this.#given.session;
  }

  get isAsking(): boolean {
    return this.source.openAsks().length > 0;
  }

  /** Tells all that the log has, and what can be called. What happens meanwhile waits. */
  async replay(): Promise<void> {
    this.#teller.forget();
    this.#commands = undefined;
    await this.takeUp((event) => this.#teller.hear(event));
    await this.tellCommands();
  }

  /** What the log has is known, and told to nobody unless it is said to whom. */
  async takeUp(hear = (event: Durable): void => this.#teller.learn(event)): Promise<void> {
    this.#held ??= [];
    this.#attach();
    for await (const event of this.source.history()) {
      hear(event);
      this.#seen = event.seq;
    }
  }

  /** From now on what happens is told. Called once the editor knows the session. */
  listen(): void {
    const { session } = this.#given;
    this.#attach();
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held)
      if (!isDurable(event) || event.origin || event.seq > this.#seen) this.#hear(event);
    for (const ask of session.openAsks()) void this.#asking.open(ask);
    // One that is joined has them already.
    if ("start" in session.mcp) session.mcp.start();
    // What an earlier process left goes on, once somebody can be asked.
    if (session.hasWork() && "run" in session) void session.run();
  }

  /** What it does right now, for an editor that has just come. */
  tellState(): void {
    const { session } = this.#given;
    for (const { id } of session.openAsks()) this.#asks.add(id);
    this.#state = { state: "idle" };
    const state = this.#asks.size > 0 ? "requires_action" : session.hasWork() ? "running" : "idle";
    this.#enterState({ state }, "always");
  }

  /** Settles when the turn has ended. Throws what it failed with. */
  async prompt(
    content: readonly ContentBlock[],
    signal: AbortSignal,
    trace: PromptTrace = {},
  ): Promise<PromptEnd> {
    const { wire } = this.#given;
    const id = this.#given.newId();
    this.#teller.own(id);
    const prompt = this.#enter(id);
    // An editor that is gone has cancelled nothing: what it was asked stays open.
    const onAbort = (): void => {
      if (!wire.gone.aborted) this.cancel();
    };
    signal.addEventListener("abort", onAbort);
    try {
      const { ended } = await this.#submit(id, { content: inputOf(content), ...trace }, prompt);
      return this.#endFor(await ended, prompt);
    } catch (thrown) {
      // Its session was closed before it was taken: it was cancelled by that.
      if (prompt.isCancelled) return { stopReason: "cancelled" };
      throw thrown;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#prompts.delete(id);
    }
  }

  /** Settles when it was taken, with its id. How its turn goes is told. */
  async accept(content: readonly ContentBlock[], trace: PromptTrace = {}): Promise<string> {
    const id = this.#given.newId();
    const prompt = this.#enter(id);
    try {
      const blocks = inputOf(content);
      this.#teller.own(id);
      const { ended } = await this.#submit(id, { content: blocks, ...trace }, prompt);
      this.#enterState({ state: "running" });
      void ended.then((end) => this.#rest(this.#endFor(end, prompt), id));
      return id;
    } catch (thrown) {
      this.#prompts.delete(id);
      throw thrown;
    }
  }

  /** What runs for this editor ends; its prompts are answered by that. */
  cancel(): void {
    const owed = [...this.#prompts.values()];
    for (const prompt of owed) prompt.isCancelled = true;
    const { session, clock, wire } = this.#given;
    const { running: turn } = this.#turns;
    void session.submit({ type: "interrupt", dropQueued: true }).catch(() => undefined);
    this.#stopAgents();
    this.#isCancelled = owed.length > 0 || turn !== undefined;
    if (this.#isCancelled)
      void clock.sleep(maxCancelMs, wire.gone).then(
        () => this.#cutOff(owed, turn),
        () => undefined,
      );
  }

  async choices(): Promise<Choices> {
    const { session, bypass } = this.#given;
    const [{ applied }, models] = await Promise.all([
      session.inquire("settings"),
      session.inquire("offeredModels"),
    ]);
    if (!applied) throw fault("session_closed");
    return { applied, models, bypass };
  }

  async choose(option: string, value: unknown): Promise<Choices> {
    const patch: SettingsPatch = patchFor(await this.choices(), option, value);
    if (Object.keys(patch).length > 0) await this.source.submit({ type: "set", patch });
    return this.choices();
  }

  /** What can be called with a slash, where it is not what was told before. */
  async tellCommands(): Promise<void> {
    const all = await this.source.inquire("commands").catch(() => []);
    const update = this.#given.wording.commands(all.filter(({ hidden }) => !hidden));
    if (sameJson(this.#commands, update)) return;
    this.#commands = update;
    this.#teller.send(update);
  }

  /** Lets go of it: nothing is told any more. */
  end(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#turns.fail(fault("session_closed"));
  }

  #enter(id: string): OpenPrompt {
    const prompt = { isCancelled: false, cut: Promise.withResolvers<void>() };
    this.#prompts.set(id, prompt);
    void this.tellCommands();
    void this.#teller.pulse(() => this.#prompts.size > 0);
    return prompt;
  }

  /** Gives how its turn ends; a command that needs no turn has ended by then. */
  async #submit(
    id: string,
    { content, trace }: PromptTrace & { readonly content: readonly InputBlock[] },
    prompt: OpenPrompt,
  ): Promise<{ readonly ended: Promise<TurnEnd> }> {
    if (content.length === 0) throw fault("usage", { reason: "The prompt is empty." });
    const ended = this.#turns.endOf(id);
    if (this.#given.wording.echoes) this.#teller.tell([userMessage(id, content)]);
    const receipt = await this.source
      .submit({ type: "input", id, content: [...content], when: "after", ...present({ trace }) })
      .catch((thrown: unknown) => {
        // What was told of it does not count: it is nowhere.
        this.#teller.tell([{ kind: "withdrawn", by: "user", messageId: id }]);
        throw thrown;
      });
    if (receipt.type === "ran") return { ended: Promise.resolve({ reason: "completed" }) };
    if (prompt.isCancelled) this.cancel();
    return { ended: this.#endOf(ended, prompt) };
  }

  /** With what its agents found in the background, which is told before. */
  async #endOf(ended: Promise<TurnEnd>, { cut }: OpenPrompt): Promise<TurnEnd> {
    const whole = async (): Promise<TurnEnd> => {
      const end = await ended;
      if (end.reason === "interrupted" || this.#turns.agents.length === 0) return end;
      await this.#turns.withoutAgents();
      await this.source.idle().catch(() => undefined);
      return end;
    };
    return Promise.race([whole(), cut.promise.then((): TurnEnd => ({ reason: "interrupted" }))]);
  }

  #endFor(end: TurnEnd, { isCancelled }: OpenPrompt): PromptEnd {
    const ended = promptEnd(end, { isCancelled });
    if (ended.words !== undefined)
      this.#teller.tell([
        {
          kind: "message",
          by: "agent",
          messageId: this.#given.newId(),
          content: [{ type: "text", text: ended.words }],
          part: "whole",
        },
      ]);
    return ended;
  }

  /**
   * Those who were cancelled wait no longer, though the turn has not ended. Its calls are told as ended, since nothing
   * is told after the end.
   */
  #cutOff(owed: readonly OpenPrompt[], turn: number | undefined): void {
    const late = [...this.#prompts].filter(([, prompt]) => owed.includes(prompt));
    const isRunning = turn !== undefined && this.#turns.running === turn;
    if (late.length === 0 && !isRunning) return;
    if (isRunning) this.#teller.cutCalls();
    this.#teller.isMuted = isRunning;
    for (const [id, { cut }] of late) {
      this.#turns.forget(id);
      cut.resolve();
    }
    if (late.length === 0) this.#enterState({ state: "idle", stopReason: "cancelled" });
  }

  #rest({ stopReason, error }: PromptEnd, promptId?: string): void {
    if (promptId !== undefined) this.#prompts.delete(promptId);
    if (this.#prompts.size > 0 || (this.#isRunning && !this.#teller.isMuted)) return;
    this.#enterState({
      state: "idle",
      stopReason: error ? "error" : stopReason,
      ...(error ? { error } : {}),
    });
  }

  #enterState(state: WorkState, telling: "news" | "always" = "news"): void {
    const isNews = state.state !== this.#state.state;
    this.#state = state;
    const update = isNews || telling === "always" ? this.#given.wording.state(state) : undefined;
    if (update) this.#teller.send(update);
  }

  get #isRunning(): boolean {
    return this.#turns.running !== undefined;
  }

  #stopAgents(): void {
    for (const taskId of this.#turns.agents)
      void this.source.submit({ type: "stop", taskId }).catch(() => undefined);
  }

  #attach(): void {
    if (this.#ends.length > 0) return;
    const { session } = this.#given;
    const hear = (event: Envelope): void => {
      if (this.#held) this.#held.push(event);
      else this.#hear(event);
    };
    this.#ends.push(session.onEvent(hear), ...("onOther" in session ? [session.onOther(hear)] : []));
  }

  /** An ask of an agent is a question to the same person. */
  #hear(event: Envelope): void {
    this.#turns.hear(event);
    handle(this.#asked, event);
    if (!event.origin) handle(this.#before, event);
    this.#teller.hear(event);
    if (!event.origin) handle(this.#after, event);
  }

  readonly #asked: EventHandlers<Envelope, [], void> = {
    "ask.opened": ({ ask }) => {
      this.#asks.add(ask.id);
      void this.#asking.open(ask);
      if (!this.#teller.isMuted) this.#enterState({ state: "requires_action" });
    },
    "ask.closed": ({ askId }) => {
      this.#asks.delete(askId);
      this.#asking.close(askId);
      const isAtWork = this.#isRunning && !this.#teller.isMuted;
      if (this.#asks.size === 0 && isAtWork) this.#enterState({ state: "running" });
    },
  };

  readonly #before: EventHandlers<Envelope, [], void> = {
    "turn.started": () => this.#enterState({ state: "running" }),
  };

  readonly #after: EventHandlers<Envelope, [], void> = {
    "settings.changed": ({ patch }) => void this.#tellChoices(patch),
    "turn.finished": (end) => {
      // Those that it began at the last moment are heard of by now.
      if (this.#isCancelled && end.reason === "interrupted") this.#stopAgents();
      this.#isCancelled = false;
      if (this.#teller.isMuted) this.#teller.isMuted = false;
      else if (this.#prompts.size === 0) this.#rest(promptEnd(end, { isCancelled: false }));
    },
  };

  async #tellChoices({ permissionMode, model, effort }: SettingsPatch): Promise<void> {
    if (permissionMode === undefined && model === undefined && effort === undefined) return;
    const choices = await this.choices().catch(() => undefined);
    if (!choices) return;
    const changed = permissionMode === undefined ? "other" : "mode";
    for (const update of this.#given.wording.choices(choices, changed)) this.#teller.send(update);
  }
}
