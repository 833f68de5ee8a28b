/**
 * An agent of other people that speaks the Agent Client Protocol, as a worker: a process that is started when it is told
 * something. What it says and asks becomes events of ours, which are kept here; so its history is there whatever
 * becomes of it, and screens show it as they show our own.
 */
import { type FaultData, fault, reasonOf, toFault } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import type { TurnReason } from "../../protocol/reasons.ts";
import { type PermissionMode, permissionModes } from "../../protocol/settings.ts";
import type { AgentUpdate } from "../../protocol/workspace.ts";
import { AgentDoor } from "./acp-door.ts";
import {
  endForeignTurn,
  type ForeignEvent,
  type ForeignMemo,
  hearUpdate,
  isPiece,
  noForeignMemo,
  withModel,
} from "./acp-events.ts";
import { type AcpProcess, startAcpProcess } from "./acp-process.ts";
import { AcpRecord, turnEnd } from "./acp-record.ts";
import { entryFacts } from "./agent-line.ts";
import { agentProgram } from "./known-agents.ts";
import type {
  AgentAnswer,
  StartWorker,
  Worker,
  WorkerContext,
  WorkerMessages,
  WorkerState,
} from "./worker.ts";

export const startAcpAgent: StartWorker = async (context) => {
  const agent = new AcpAgent(context, await AcpRecord.open(context));
  // Whoever asks for one hears at once that it cannot be started; after a restart it starts when it is told something.
  if (context.asked) await agent.connect();
  if (context.asked?.prompt !== undefined) await agent.tell(context.asked.prompt);
  return agent;
};

type AcpQuestion = {
  readonly ask: Ask;
  settle(answer: AgentAnswer & { readonly isCut?: boolean }): void;
};
type WaitingInput = { readonly id: string; readonly words: string };
type AcpTurn = { readonly turnId: string; readonly inputId: string; readonly since: number; isCut: boolean };

/** How long an agent may take to end what it was told to stop; then it is stopped itself. */
const maxCancelMs = 5_000;

class AcpAgent implements Worker {
  readonly messages: WorkerMessages;
  readonly #context: WorkerContext;
  readonly #record: AcpRecord;
  readonly #asks = new Map<string, AcpQuestion>();
  readonly #waiting: WaitingInput[] = [];
  #memo: ForeignMemo = noForeignMemo;
  #process: Promise<{ agent: AcpProcess; door: AgentDoor }> | undefined;
  #running: AcpTurn | undefined;
  #turn: Promise<void> | undefined;
  /** It could not be started, or has ended by itself. */
  #failure: string | undefined;
  /** What it tells of itself while it is taken up is known here already. */
  #isEntering = false;
  #isStopping = false;

  constructor(context: WorkerContext, record: AcpRecord) {
    this.#context = context;
    this.#record = record;
    const { feed } = record;
    this.messages = {
      // Who hears only of what comes is told what waits; for all others it is in what is kept.
      follow: (since, signal) => feed.follow(since, since === null ? this.#openAsks() : [], signal),
      stored: (since) => feed.stored(since),
      answer: (ask, answer) => {
        const open = this.#asks.get(ask);
        open?.settle(answer);
        return { late: open === undefined };
      },
    };
  }

  state(): WorkerState {
    const { session } = this.#context.record();
    const facts = entryFacts(this.#record.line, { isOpen: this.#running !== undefined });
    const failed = this.#failure === undefined ? {} : { activity: "failed" as const, failure: this.#failure };
    const costUsd = Math.max(facts.costUsd ?? 0, this.#memo.costUsd);
    return { ...facts, costUsd, ...failed, ...(session === undefined ? {} : { session }) };
  }

  async tell(words: string, id = this.#context.ids.uuid()): Promise<void> {
    if (this.#record.has(id)) return;
    // Kept before it is acknowledged, whatever becomes of the agent.
    await this.#record.keep({
      type: "input.accepted",
      input: { id, content: [{ type: "text", text: words }], from: { kind: "person" }, when: "after" },
    });
    this.#waiting.push({ id, words });
    this.#go();
  }

  async interrupt(): Promise<void> {
    for (const { id } of this.#waiting.splice(0))
      await this.#keep({ type: "input.dropped", inputId: id, why: "cancelled" });
    const running = this.#running;
    if (!running) return;
    running.isCut = true;
    this.#cutQuestions();
    const connected = await this.#process?.catch(() => undefined);
    connected?.agent.notify("session/cancel", { sessionId: connected.agent.session });
    const done = new AbortController();
    const late = this.#context.clock.sleep(maxCancelMs, done.signal).then(() => "late" as const);
    const first = await Promise.race([this.#turn, late]);
    done.abort();
    if (first === "late") await this.#stop();
    await this.#turn;
  }

  async restart(): Promise<void> {
    await this.rest();
    this.#failure = undefined;
    await this.connect();
  }

  async rest(): Promise<void> {
    await this.interrupt();
    await this.#stop();
    this.#context.changed();
  }

  end(): Promise<void> {
    return this.rest();
  }

  /** Throws `work_refused`, and is shown as failed then. */
  async connect(): Promise<void> {
    await this.#connected();
  }

  #connected(): Promise<{ agent: AcpProcess; door: AgentDoor }> {
    this.#process ??= this.#start().catch((thrown: unknown) => {
      this.#process = undefined;
      this.#fail(reasonOf(thrown));
      throw thrown;
    });
    return this.#process;
  }

  async #start(): Promise<{ agent: AcpProcess; door: AgentDoor }> {
    const { cwd, env, clock } = this.#context;
    const { command = [], keys = false, options = {}, session } = this.#context.record();
    const { settings } = await this.#context.settings();
    const program = agentProgram(command, { settings, env, keys });
    const policy = await this.#context.policy(modeOf(options["permissionMode"]));
    const door = new AgentDoor({
      policy,
      cwd,
      ask: (ask, signal) => this.#ask(ask, signal),
      notice: (text) => this.#record.show({ type: "notice.raised", level: "warning", text }),
    });
    this.#isEntering = true;
    const agent = await startAcpProcess({
      program,
      context: { cwd, env, clock },
      guard: await this.#context.guard(),
      session,
      handler: {
        request: (call) => door.request(call),
        notice: (method, params) => {
          if (method === "session/update") this.#heard(asObject(params)["update"], door);
        },
      },
    }).finally(() => {
      this.#isEntering = false;
    });
    this.#failure = undefined;
    this.#memo = withModel(this.#memo, agent.begun["configOptions"]);
    if (agent.isForgetful)
      this.#record.show({
        type: "notice.raised",
        level: "warning",
        text: "The agent does not know what was said before: it begins anew. What was said is kept here.",
      });
    await this.#context.keep({ session: agent.session });
    void agent.ended.then(async (how) => {
      await door.close();
      this.#process = undefined;
      if (!this.#isStopping) this.#fail(`It ended: ${shorten(how, 500)}`);
    });
    return { agent, door };
  }

  async #stop(): Promise<void> {
    const starting = this.#process;
    if (!starting) return;
    this.#isStopping = true;
    try {
      const connected = await starting.catch(() => undefined);
      await connected?.agent.stop();
      await connected?.agent.ended;
    } finally {
      this.#isStopping = false;
      this.#process = undefined;
    }
  }

  #go(): void {
    if (this.#turn !== undefined) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#turn = this.#take(next).finally(() => {
      this.#turn = undefined;
      this.#context.changed();
      this.#go();
    });
  }

  /** Never rejects: what goes wrong is how the turn ends. */
  async #take({ id: inputId, words }: WaitingInput): Promise<void> {
    const turnId = this.#context.ids.uuid();
    const running: AcpTurn = { turnId, inputId, since: this.#context.clock.now(), isCut: false };
    this.#running = running;
    await this.#keep({ type: "turn.started", turnId, inputIds: [inputId] });
    try {
      const { agent } = await this.#connected();
      if (running.isCut) return await this.#finish(running, "interrupted");
      const answer = await agent.request("session/prompt", {
        sessionId: agent.session,
        prompt: [{ type: "text", text: words }],
      });
      if (answer.ok)
        return await this.#finish(running, reasonFor(asObject(answer.result)["stopReason"], running));
      const why = answer.isClosed ? `it ended: ${shorten(await agent.ended, 500)}` : answer.error.message;
      return await this.#finish(running, "model_error", fault("agent_failed", { reason: why }).toData());
    } catch (thrown) {
      return await this.#finish(running, "model_error", toFault(thrown).toData());
    }
  }

  async #finish(running: AcpTurn, wanted: TurnReason, why?: FaultData): Promise<void> {
    const { turnId, inputId, since, isCut } = running;
    this.#cutQuestions();
    const now = this.#context.clock.now();
    const { replies: requests } = this.#memo;
    const [left, memo] = endForeignTurn(this.#memo, { now }, isCut);
    this.#memo = memo;
    for (const event of left) await this.#tellEvent(event);
    const ms = Math.max(0, now - since);
    const reason = isCut ? "interrupted" : wanted;
    const end = { reason, requests, ms, ...(why && !isCut ? { fault: why } : {}) };
    await this.#keep(turnEnd({ turnId, inputIds: [inputId] }, end));
    this.#running = undefined;
  }

  #heard(update: unknown, door: AgentDoor): void {
    if (this.#isEntering) return;
    const turnId = this.#running?.turnId ?? this.#context.ids.uuid();
    const facts = { now: this.#context.clock.now(), turnId, terminal: (id: string) => door.terminal(id) };
    const [events, memo] = hearUpdate(update, this.#memo, facts);
    this.#memo = memo;
    for (const event of events) void this.#tellEvent(event);
    if (events.length === 0) this.#context.changed();
  }

  /** A no where nobody waits any more: the turn was stopped, or the agent took its question back. */
  #ask(ask: Ask, signal: AbortSignal): Promise<AgentAnswer & { readonly isCut?: boolean }> {
    // The same question twice at once is one question, with two who wait: it gets another name.
    const id = this.#asks.has(ask.id) ? `${ask.id}:${this.#context.ids.uuid().slice(-8)}` : ask.id;
    const asked = { ...ask, id };
    return new Promise((resolve) => {
      const settle: AcpQuestion["settle"] = (answer) => {
        if (!this.#asks.delete(id)) return;
        const { verdict, option, words, isCut = false } = answer;
        void this.#keep({
          type: "ask.closed",
          askId: id,
          answer: {
            verdict,
            ...(option === undefined ? {} : { option }),
            ...(words === undefined ? {} : { reason: words }),
          },
          by: isCut ? "interrupt" : "host",
        });
        resolve(answer);
      };
      this.#asks.set(id, { ask: asked, settle });
      void this.#keep({ type: "ask.opened", ask: asked });
      signal.addEventListener("abort", () => settle({ verdict: "deny", isCut: true }), { once: true });
      if (signal.aborted || this.#running?.isCut) settle({ verdict: "deny", isCut: true });
    });
  }

  #openAsks(): AgentUpdate[] {
    return [...this.#asks.values()].map(({ ask }) => this.#record.again({ type: "ask.opened", ask }));
  }

  #cutQuestions(): void {
    for (const { settle } of [...this.#asks.values()]) settle({ verdict: "deny", isCut: true });
  }

  #tellEvent(event: ForeignEvent): Promise<void> {
    if (!isPiece(event)) return this.#keep(event);
    this.#record.show(event);
    return Promise.resolve();
  }

  /** Never rejects: what cannot be kept is shown as a failure. */
  #keep(event: DurableEvent): Promise<void> {
    return this.#record
      .keep(event)
      .catch((thrown: unknown) => this.#fail(`What it says cannot be kept: ${reasonOf(thrown)}`));
  }

  #fail(reason: string): void {
    this.#failure = shorten(reason, 500);
    this.#context.changed();
  }
}

/** One that asks nobody has to be chosen where it can be seen, which is not here. */
const modeOf = (given: unknown): PermissionMode =>
  permissionModes.find((mode) => mode === given && mode !== "bypassPermissions") ?? "default";

function reasonFor(stopReason: unknown, { isCut }: AcpTurn): TurnReason {
  if (isCut || stopReason === "cancelled") return "interrupted";
  const reasons: Readonly<Record<string, TurnReason>> = {
    max_tokens: "output_limit",
    max_turn_requests: "max_turns",
    refusal: "refusal",
  };
  return reasons[String(stopReason)] ?? "completed";
}
