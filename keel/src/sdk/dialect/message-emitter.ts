/** Tells a program what happens in its session: events in, messages out, with the dialect's memo between them. */
import type { OpenSession } from "../../app/open-session.ts";
import type { Queue } from "../../kernel/queue.ts";
import type { UUID } from "../../kernel/uuid.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import type { Receipt } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import type { SDKMessageOrigin, SDKResultSuccess, SDKSentMessage } from "../messages/messages.ts";
import type { SDKCommandLifecycleMessage } from "../messages/system.ts";
import { environmentOf, isOn } from "../options/environment.ts";
import type { Options } from "../options/options.ts";
import { commandsOf } from "../query/introspection.ts";
import type { SessionKey } from "../stored/session-store.ts";
import { storedMessages } from "../stored/stored-messages.ts";
import type { McpServerStatus } from "../tools/mcp-server.ts";
import { version } from "../version.ts";
import { toMessages } from "./dialect.ts";
import { type DialectMemo, newMemo, withFacts } from "./memo.ts";
import { factsOf, messagesFold } from "./messages-fold.ts";
import { answered, resultWithoutTurn } from "./result.ts";
import { identity, informationalMessage, initMessage, liveIdentity } from "./say.ts";

export class MessageEmitter {
  readonly #session: OpenSession;
  readonly #named: ReadonlySet<string>;
  readonly #out: Outlet;
  #memo: DialectMemo;
  /** Who said what, by input, where the program told. */
  readonly #origins = new Map<string, SDKMessageOrigin>();
  /** Messages with ids of the program's that no word of the model has answered yet. */
  #unanswered: readonly string[] = [];
  /** Those that had their result without a turn: the turn that takes them along is not theirs. */
  readonly #settled = new Set<string>();
  /** The running turn was interrupted for a message that must be heard now. */
  #givesWay = false;
  /** The names that the program knows. */
  #commands: string;

  constructor(
    session: OpenSession,
    { options, named, out }: { options: Options; named: ReadonlySet<string>; out: Outlet },
  ) {
    this.#session = session;
    this.#named = named;
    this.#out = out;
    this.#commands = JSON.stringify(session.info.commands.map(({ name }) => name));
    this.#memo = newMemo({
      ...factsOf(session, version),
      hookEvents: options.includeHookEvents ?? false,
      agentText: options.forwardSubagentText ?? false,
      partialMessages: options.includePartialMessages ?? false,
      toolSummaries: isOn(environmentOf(options, process.env)["KEEL_TOOL_USE_SUMMARIES"]),
      replayUserMessages: Object.hasOwn(options.extraArgs ?? {}, "replay-user-messages"),
    });
  }

  /** Takes in what was told to somebody else: a session that goes on counts on, its totals are in its log. */
  async catchUp(): Promise<void> {
    this.#memo = await this.#session.fold(messagesFold(this.#memo.facts));
  }

  /** Tells the prompts of earlier processes, where echoes are wanted. */
  async replayHistory(): Promise<void> {
    if (!this.#memo.facts.replayUserMessages) return;
    const { id } = this.#session;
    for (const { message } of await storedMessages(this.#session.history(), id))
      if (message.type === "user" && "isReplay" in message) this.#out.push(message);
  }

  /** The turn that this interrupts gives way to a message: that is no failure of it. */
  async giveWay(interrupt: () => Promise<Receipt>): Promise<void> {
    this.#givesWay = true;
    const receipt = await interrupt();
    // Where nothing ran, no result is to come.
    if (receipt.type !== "interrupted" || !receipt.running) this.#givesWay = false;
  }

  noteOrigin(inputId: string, origin: SDKMessageOrigin): void {
    this.#origins.set(inputId, origin);
  }

  /** False when the program reads too slowly. */
  emit(envelope: Envelope): boolean {
    const [told, next] = toMessages(envelope, this.#memo);
    this.#memo = next;
    const messages = told.map((message) => this.#asGivenWay(this.#withOrigin(message, envelope)));
    const life = isDurable(envelope) && !envelope.origin ? this.#lifeOf(envelope) : [];
    const answering = messages.map((message) => this.#withAsked(message));
    // A message is done when its result was told.
    const all = envelope.type === "turn.finished" ? [...answering, ...life] : [...life, ...answering];
    return all.every((message) => this.#out.push(message));
  }

  #lifeOf(event: Durable): SDKCommandLifecycleMessage[] {
    const states = statesOf(event).filter(([id]) => this.#named.has(id) && !this.#settled.has(id));
    const begun = states.filter(([, state]) => state === "started").map(([id]) => id);
    this.#unanswered = [...this.#unanswered, ...begun];
    return states.map(([id, state]) =>
      lifecycleMessage({ id, state, sessionId: this.#session.id, seq: event.seq }),
    );
  }

  /** The first words and the result name the messages that they answer, where the program gave them ids. */
  #withAsked(message: SDKSentMessage): SDKSentMessage {
    if (message.type === "assistant" && message.parent_tool_use_id === null) {
      const asked = this.#unanswered;
      this.#unanswered = [];
      return { ...message, ...answersTo(asked) };
    }
    if (message.type !== "result") return message;
    const { user_message_uuid: _, user_message_uuids = [], ...rest } = message;
    this.#unanswered = [];
    return {
      ...rest,
      ...answersTo(user_message_uuids.filter((id) => this.#named.has(id) && !this.#settled.has(id))),
    };
  }

  /** Takes in what is told to somebody else while both are there. */
  passOver(envelope: Envelope): void {
    this.#memo = toMessages(envelope, this.#memo)[1];
  }

  #withOrigin(message: SDKSentMessage, envelope: Envelope): SDKSentMessage {
    if (message.type !== "result" || envelope.type !== "turn.finished") return message;
    const origin = envelope.inputIds.map((id) => this.#origins.get(id)).find((found) => found !== undefined);
    for (const id of envelope.inputIds) this.#origins.delete(id);
    return origin ? { ...message, origin } : message;
  }

  #asGivenWay(message: SDKSentMessage): SDKSentMessage {
    if (!this.#givesWay || message.type !== "result") return message;
    this.#givesWay = false;
    // It may have come to its own end just before.
    if (message.subtype === "success" || !/^aborted_/.test(message.terminal_reason ?? "")) return message;
    const { errors: _, ...rest } = message;
    const done: SDKResultSuccess = { ...rest, subtype: "success", is_error: false, result: "" };
    return done;
  }

  /** Something was said that asks for no answer: with an id of the program's, it is done with this. */
  emitNoTurn(id?: string): void {
    const [result, next] = resultWithoutTurn(this.#memo, answered(""));
    const about = { sessionId: this.#session.id, seq: this.#memo.seq };
    if (id !== undefined) this.#out.push(lifecycleMessage({ ...about, id, state: "started" }));
    this.#out.push(initMessage(this.#memo, `init/unasked/${this.#memo.results}`));
    this.#out.push({ ...result, ...answersTo(id === undefined ? [] : [id]) });
    if (id !== undefined) this.#out.push(lifecycleMessage({ ...about, id, state: "completed" }));
    if (id !== undefined) this.#settled.add(id);
    this.#memo = next;
  }

  /** The next `init` shows these, and what else has come or gone by now. */
  showServers(states: readonly McpServerStatus[]): void {
    const { info } = this.#session;
    this.#memo = withFacts(this.#memo, {
      tools: this.#session.toolNames(),
      mcpServers: states.map(({ name, status }) => ({ name, status })),
      slashCommands: info.commands.map(({ name }) => name),
      agents: info.agents.map(({ name }) => name),
      skills: info.skills,
    });
    this.#tellCommands();
  }

  /** A server brought prompts, or took them away, or files were read again. */
  #tellCommands(): void {
    const commands = commandsOf(this.#session);
    const names = JSON.stringify(commands.map(({ name }) => name));
    if (names === this.#commands) return;
    this.#commands = names;
    const [id, next] = liveIdentity(this.#memo, { at: 0 });
    this.#memo = next;
    this.#out.push({ type: "system", subtype: "commands_changed", ...id, commands });
  }

  /** Something that the program asked for beside the conversation and that could not be done. */
  emitProblem(content: string): void {
    const [id, next] = liveIdentity(this.#memo, { at: 0 });
    this.#memo = next;
    this.#out.push(informationalMessage(id, { content, level: "warning" }));
  }

  /** What came of a change that the program asked for, as this interface tells what a local command says. */
  emitEcho(words: string): void {
    const [id, next] = liveIdentity(this.#memo, { at: 0 });
    this.#memo = next;
    const content = `<local-command-stdout>${words}</local-command-stdout>`;
    const message = { role: "user" as const, content };
    this.#out.push({ type: "user", message, parent_tool_use_id: null, isReplay: true as const, ...id });
  }

  /** The conversation goes on in a new session. */
  emitReset(newSessionId: string, askedBy: string | undefined): void {
    const { uuid, session_id } = identity(this.#memo, `reset/${this.#memo.results}`);
    this.#out.push({
      type: "conversation_reset",
      uuid,
      session_id,
      new_conversation_id: newSessionId as UUID,
      trigger: "clear",
      ...(askedBy === undefined ? {} : { user_message_uuid: askedBy }),
    });
  }

  emitMirrorError(error: string, key: SessionKey): void {
    const id = identity(this.#memo, "mirror");
    this.#out.push({ type: "system", subtype: "mirror_error", ...id, error, key });
  }
}

/** What becomes of inputs: queued, started, completed or cancelled. Pure. */
const statesOf = (event: Durable): [id: string, state: LifeState][] => handle(states, event) ?? [];

type LifeState = SDKCommandLifecycleMessage["state"];
type LifeFacts = { id: string; state: LifeState; sessionId: string; seq: number };

const lifecycleMessage = ({ id, state, sessionId, seq }: LifeFacts): SDKCommandLifecycleMessage => ({
  type: "command_lifecycle",
  command_uuid: id,
  state,
  uuid: uuidFrom(`${sessionId}/${seq}/life/${id}/${state}`),
  session_id: sessionId,
});

const answersTo = ([first, ...others]: readonly string[]) =>
  first === undefined ? {} : { user_message_uuid: first, user_message_uuids: [first, ...others] };

const states: EventHandlers<Durable, [], [id: string, state: LifeState][]> = {
  "input.accepted": ({ input }) => [[input.id, "queued"]],
  "turn.started": ({ inputIds }) => inputIds.map((id) => [id, "started"]),
  "input.joined": ({ inputIds }) => inputIds.map((id) => [id, "started"]),
  "input.dropped": ({ inputId }) => [[inputId, "cancelled"]],
  "turn.finished": ({ inputIds, reason }) => {
    const state = reason === "interrupted" || reason === "lost" ? "cancelled" : "completed";
    return inputIds.map((id) => [id, state]);
  },
};

/** Where the messages of a session go: a queue of them, or of more than them. */
export type Outlet = Pick<Queue<SDKSentMessage>, "push" | "fail"> & {
  /** `answered`: everything that was said has its result, and nobody broke it off. */
  end(how?: "answered"): void;
};
