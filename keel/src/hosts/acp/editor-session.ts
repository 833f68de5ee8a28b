/** One session as an editor has it: its events as updates, its prompts as turns, its asks as requests. Wiring only. */
import type {
  AgentContext,
  ContentBlock,
  PromptResponse,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import type { OpenSession } from "../../app/open-session.ts";
import type { JoinedSession } from "../../app/sessions/joined-session.ts";
import { fault } from "../../kernel/fault.ts";
import { sameJson } from "../../kernel/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import type { TurnReason } from "../../protocol/reasons.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import { sayReason } from "../../view/say.ts";
import { Asking } from "./asking.ts";
import type { EditorAbilities } from "./capabilities.ts";
import { type AcpMemo, noMemo, type Told, toUpdates, withOwn } from "./dialect.ts";
import { faultError } from "./errors.ts";
import { type Choices, configOf, modesOf, patchFor } from "./options.ts";
import { inputOf } from "./prompt.ts";
import { type TurnEnd, Turns } from "./turns.ts";

export type SessionSource = OpenSession | JoinedSession;

export type EditorSessionOptions = {
  readonly session: SessionSource;
  readonly client: AgentContext;
  /** Fires when the editor is gone. */
  readonly gone: AbortSignal;
  readonly editor: EditorAbilities;
  readonly bypass: Choices["bypass"];
  readonly clock: Pick<Clock, "sleep">;
  readonly newId: () => string;
};

/** A turn that does not end soon after it was cancelled ends by itself, unheard: an editor must not wait for it. */
const maxCancelMs = 200;

export class EditorSession {
  readonly id: string;
  readonly #given: EditorSessionOptions;
  readonly #told: Told;
  readonly #asking: Asking;
  readonly #turns = new Turns();
  #memo: AcpMemo = noMemo;
  /** Prompts that were cancelled and answered, and whose turn has not ended yet. */
  readonly #unheard = new Set<string>();
  readonly #prompts = new Map<string, AbortController>();
  #commands: unknown;
  readonly #ends: (() => void)[] = [];
  /** What happens while the log is read. */
  #held: Envelope[] | undefined;
  /** The last event that the log had then. */
  #seen = 0;

  constructor(given: EditorSessionOptions) {
    const { session, client, editor, gone } = given;
    this.#given = given;
    this.id = session.id;
    this.#told = {
      cwd: session.info.cwd,
      window: (model) => session.info.models[model]?.windowTokens,
      shows: editor.shows,
    };
    this.#asking = new Asking({ session, client, editor, gone });
  }

  get source(): SessionSource {
    return this.#given.session;
  }

  get isAsking(): boolean {
    return this.source.openAsks().length > 0;
  }

  /** Tells all that the log has, and what can be called. What happens meanwhile waits. */
  async replay(): Promise<void> {
    this.#memo = noMemo;
    this.#commands = undefined;
    await this.takeUp((event) => this.#tell(event));
    await this.tellCommands();
  }

  /** What the log has is known, and told to nobody unless it is said to whom. */
  async takeUp(hear = (event: Durable): void => this.#learn(event)): Promise<void> {
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
    // What an earlier process left goes on, once somebody can be asked.
    if (session.hasWork() && "run" in session) void session.run();
  }

  async prompt(content: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const { session, newId, gone } = this.#given;
    const blocks = inputOf(content);
    if (blocks.length === 0) throw fault("usage", { reason: "The prompt is empty." });
    const id = newId();
    const cancel = new AbortController();
    this.#prompts.set(id, cancel);
    // An editor that is gone has cancelled nothing: what it was asked stays open.
    const onAbort = (): void => {
      if (!gone.aborted) this.cancel();
    };
    signal.addEventListener("abort", onAbort);
    const ended = this.#turns.endOf(id);
    this.#memo = withOwn(this.#memo, id);
    void this.tellCommands();
    try {
      const receipt = await session.submit({ type: "input", id, content: blocks, when: "after" });
      // A command that needs no turn has said what it says.
      if (receipt.type === "ran") return { stopReason: cancel.signal.aborted ? "cancelled" : "end_turn" };
      if (cancel.signal.aborted) this.#interrupt();
      const end = await Promise.race([this.#endOf(ended), this.#cutOff(id, cancel.signal)]);
      return this.#response(end, cancel.signal.aborted);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#prompts.delete(id);
    }
  }

  /** What runs for this editor ends; its prompts are answered by that. */
  cancel(): void {
    for (const cancel of this.#prompts.values()) cancel.abort();
    this.#interrupt();
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

  async state(): Promise<{ modes: SessionModeState; configOptions: SessionConfigOption[] }> {
    const choices = await this.choices();
    return { modes: modesOf(choices), configOptions: configOf(choices) };
  }

  async choose(option: string, value: unknown): Promise<SessionConfigOption[]> {
    const patch: SettingsPatch = patchFor(await this.choices(), option, value);
    if (Object.keys(patch).length > 0) await this.source.submit({ type: "set", patch });
    return configOf(await this.choices());
  }

  /** Lets go of it: nothing is told any more. */
  end(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#turns.fail(fault("session_closed"));
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

  #learn(event: Envelope): void {
    [, this.#memo] = toUpdates(event, this.#memo, this.#told);
  }

  /** An ask of an agent is a question to the same person. */
  #hear(event: Envelope): void {
    handle(this.#asked, event);
    this.#tell(event);
    if (!event.origin) handle(this.#own, event);
    this.#turns.hear(event);
  }

  readonly #asked: EventHandlers<Envelope, [], void> = {
    "ask.opened": ({ ask }) => void this.#asking.open(ask),
    "ask.closed": ({ askId }) => this.#asking.close(askId),
  };

  readonly #own: EventHandlers<Envelope, [], void> = {
    "settings.changed": ({ patch }) => void this.#tellChoices(patch),
    "turn.finished": ({ inputIds }) => {
      for (const id of inputIds) this.#unheard.delete(id);
    },
  };

  #tell(event: Envelope): void {
    const [updates, memo] = toUpdates(event, this.#memo, this.#told);
    this.#memo = memo;
    if (this.#unheard.size === 0) for (const update of updates) this.#send(update);
  }

  #send(update: SessionUpdate): void {
    const { client } = this.#given;
    client.notify("session/update", { sessionId: this.id, update }).catch(() => undefined);
  }

  #interrupt(): void {
    const { session } = this.#given;
    const agents = this.#turns.agents;
    void session.submit({ type: "interrupt", dropQueued: true }).catch(() => undefined);
    for (const taskId of agents) void session.submit({ type: "stop", taskId }).catch(() => undefined);
  }

  /** With what its agents found in the background, which is told before. */
  async #endOf(ended: Promise<TurnEnd>): Promise<TurnEnd> {
    const end = await ended;
    if (end.reason === "interrupted" || this.#turns.agents.length === 0) return end;
    await this.#turns.withoutAgents();
    await this.source.idle().catch(() => undefined);
    return end;
  }

  async #cutOff(id: string, cancelled: AbortSignal): Promise<TurnEnd> {
    await new Promise<void>((resolve) => {
      if (cancelled.aborted) resolve();
      cancelled.addEventListener("abort", () => resolve(), { once: true });
    });
    await this.#given.clock.sleep(maxCancelMs, this.#given.gone);
    // The calls that still run are told as ended, since nothing is told after the response.
    if (this.#prompts.has(id)) {
      for (const toolCallId of this.#memo.calls.keys())
        this.#send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
      this.#unheard.add(id);
    }
    return { reason: "interrupted" };
  }

  #response({ reason, fault: why }: TurnEnd, isCancelled: boolean): PromptResponse {
    if (isCancelled) return { stopReason: "cancelled" };
    if (why) throw faultError(why);
    const words = saysWhy.has(reason) ? sayReason(reason) : undefined;
    if (words !== undefined)
      this.#send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${words}.` } });
    return { stopReason: stopReasons[reason] ?? "end_turn" };
  }

  /** Told as one: editors show modes, options or both. */
  async #tellChoices({ permissionMode, model, effort }: SettingsPatch): Promise<void> {
    if (permissionMode === undefined && model === undefined && effort === undefined) return;
    if (permissionMode !== undefined)
      this.#send({ sessionUpdate: "current_mode_update", currentModeId: permissionMode });
    const choices = await this.choices().catch(() => undefined);
    if (choices) this.#send({ sessionUpdate: "config_option_update", configOptions: configOf(choices) });
  }

  /** What can be called with a slash, where it is not what was told before. */
  async tellCommands(): Promise<void> {
    const all = await this.source.inquire("commands").catch(() => []);
    const availableCommands = all
      .filter(({ hidden }) => !hidden)
      .map(({ name, description, argumentHint }) => ({
        name,
        description,
        ...(argumentHint === "" ? {} : { input: { hint: argumentHint } }),
      }));
    if (sameJson(this.#commands, availableCommands)) return;
    this.#commands = availableCommands;
    this.#send({ sessionUpdate: "available_commands_update", availableCommands });
  }
}

const stopReasons: Partial<Record<TurnReason, StopReason>> = {
  max_turns: "max_turn_requests",
  budget_usd: "max_turn_requests",
  budget_tokens: "max_turn_requests",
  budget_time: "max_turn_requests",
  stuck: "max_turn_requests",
  output_limit: "max_tokens",
  prompt_too_long: "max_tokens",
  compaction_stuck: "max_tokens",
  refusal: "refusal",
  interrupted: "cancelled",
  lost: "cancelled",
  closed: "cancelled",
};

/** Ends that the person should read about: the stop reason alone says too little. */
const saysWhy: ReadonlySet<TurnReason> = new Set<TurnReason>([
  "max_turns",
  "budget_usd",
  "budget_tokens",
  "budget_time",
  "stuck",
  "output_limit",
  "prompt_too_long",
  "compaction_stuck",
  "empty_reply",
  "structured_output_retries",
  "prompt_blocked",
  "hook_stopped",
]);
