/**
 * An agent that the official SDK drives: a `query()` for each thing that it is told, which goes on with its session. Its
 * messages are kept as they came. What it asks waits for a person; nothing is allowed by itself.
 */
import { reasonOf } from "../../kernel/fault.ts";
import { asObject, type JsonObject } from "../../kernel/json.ts";
import { oneLine, shorten } from "../../kernel/text.ts";
import type { AgentUpdate } from "../../protocol/workspace.ts";
import { markVariable } from "../../workspace/processes/environment.ts";
import { AgentFeed } from "./agent-feed.ts";
import { loadOfficialSdk, type OfficialSdk } from "./official-sdk.ts";
import type {
  AgentAnswer,
  StartWorker,
  Worker,
  WorkerContext,
  WorkerMessages,
  WorkerState,
} from "./worker.ts";

export const startSdkAgent: StartWorker = async (context) => {
  // Whoever asks for one hears at once that there is none; after a restart it is said when it is told something.
  if (context.asked) await loadOfficialSdk(context);
  const agent = await SdkAgent.open(context);
  if (context.asked?.prompt !== undefined) await agent.tell(context.asked.prompt);
  return agent;
};

type OpenAsk = { readonly ask: Extract<AgentUpdate, { kind: "ask" }>; settle(answer: AgentAnswer): void };

const maxWords = 200;
/** Options of a worker that are the SDK's own matter; what decides here is decided here. */
const passedOn = [
  "model",
  "maxTurns",
  "maxBudgetUsd",
  "appendSystemPrompt",
  "allowedTools",
  "disallowedTools",
  "permissionMode",
];
const modes = ["default", "acceptEdits", "plan"];

class SdkAgent implements Worker {
  readonly messages: WorkerMessages;
  readonly #context: WorkerContext;
  readonly #feed: AgentFeed;
  readonly #asks = new Map<string, OpenAsk>();
  readonly #waiting: string[] = [];
  /** By the ids that came with them. */
  readonly #said = new Set<string>();
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  /** From what it was told until its result, which may come before the end of its process. */
  #isAtWork = false;
  #shown: WorkerState = { activity: "idle" };
  #askNumber = 0;

  static async open(context: WorkerContext): Promise<SdkAgent> {
    const { feed, lines } = await AgentFeed.open(context.folder, (message) => ({ kind: "message", message }));
    const agent = new SdkAgent(context, feed);
    for (const message of lines) agent.#note(message);
    return agent;
  }

  private constructor(context: WorkerContext, feed: AgentFeed) {
    this.#context = context;
    this.#feed = feed;
    this.messages = {
      follow: (since, signal) => feed.follow(since, [...this.#asks.values().map(({ ask }) => ask)], signal),
      stored: (since) => feed.stored(since),
      answer: (ask, answer) => this.#answer(ask, answer),
    };
  }

  state(): WorkerState {
    const session = this.#context.record().session;
    const activity = this.#asks.size > 0 ? "asking" : this.#isAtWork ? "active" : this.#shown.activity;
    return { ...this.#shown, activity, asks: this.#asks.size, ...(session === undefined ? {} : { session }) };
  }

  async tell(words: string, id?: string): Promise<void> {
    const sdk = await loadOfficialSdk(this.#context);
    if (id !== undefined && this.#said.has(id)) return;
    // The engine does not repeat what it was told: it belongs to the history all the same.
    await this.#take({
      type: "user",
      message: { role: "user", content: words },
      parent_tool_use_id: null,
      session_id: this.#context.record().session ?? "",
      uuid: id ?? this.#context.ids.uuid(),
    });
    this.#waiting.push(words);
    this.#go(sdk);
  }

  async interrupt(): Promise<void> {
    this.#waiting.length = 0;
    this.#running?.stop.abort();
    await this.#running?.ended;
  }

  async restart(): Promise<void> {
    await this.interrupt();
    this.#show({ activity: "idle", failure: undefined });
  }

  rest(): Promise<void> {
    return this.interrupt();
  }

  end(): Promise<void> {
    return this.interrupt();
  }

  #go(sdk: OfficialSdk): void {
    if (this.#running) return;
    const words = this.#waiting.shift();
    if (words === undefined) return;
    const stop = new AbortController();
    const ended = this.#turn(sdk, words, stop).finally(() => {
      this.#running = undefined;
      this.#isAtWork = false;
      for (const { settle } of [...this.#asks.values()])
        settle({ verdict: "deny", words: "Nobody waits any more." });
      this.#context.changed();
      this.#go(sdk);
    });
    this.#running = { stop, ended };
    this.#isAtWork = true;
    this.#context.changed();
  }

  /** Never rejects: what goes wrong is shown. */
  async #turn(sdk: OfficialSdk, words: string, stop: AbortController): Promise<void> {
    let mark: string | undefined;
    try {
      const guard = await this.#context.guard();
      await guard.post();
      mark = guard.newMark();
      const { agentSdk } = (await this.#context.settings()).settings;
      const options = this.#options(stop, { mark, executable: agentSdk?.executable });
      for await (const message of sdk.query({ prompt: words, options })) await this.#take(message);
      this.#show({ activity: this.#shown.failure === undefined ? "idle" : "failed" });
    } catch (thrown) {
      // A stop that somebody wanted is no failure.
      if (stop.signal.aborted) this.#show({ activity: "idle", failure: undefined });
      else this.#show({ activity: "failed", failure: shorten(reasonOf(thrown), 300) });
    }
    if (mark !== undefined) await endMarked(mark);
  }

  #options(
    stop: AbortController,
    { mark, executable }: { mark: string; executable: string | undefined },
  ): Record<string, unknown> {
    const { env, cwd, record } = this.#context;
    const { session, options = {} } = record();
    const given = Object.fromEntries(Object.entries(options).filter(([name]) => passedOn.includes(name)));
    const { permissionMode } = given;
    return {
      ...given,
      // One that asks nobody has to be chosen where it can be seen, which is not here.
      permissionMode:
        typeof permissionMode === "string" && modes.includes(permissionMode) ? permissionMode : "default",
      cwd,
      // Every process of it carries the mark, so that none outlives the server.
      env: { ...env, [markVariable]: mark },
      abortController: stop,
      includePartialMessages: true,
      ...(session === undefined ? {} : { resume: session }),
      ...(executable === undefined ? {} : { pathToClaudeCodeExecutable: executable }),
      canUseTool: (tool: string, input: JsonObject, { signal }: { signal: AbortSignal }) =>
        this.#mayUse(tool, input, signal),
      hooks: {
        PreToolUse: [{ matcher: "AskUserQuestion", hooks: [(input: unknown) => this.#question(input)] }],
      },
    };
  }

  async #mayUse(tool: string, input: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { verdict, words } = await this.#ask(tool, input, signal);
    return verdict === "allow"
      ? { behavior: "allow", updatedInput: input }
      : { behavior: "deny", message: words ?? "The user does not want this." };
  }

  /** The tool itself has nobody to ask: the answer stands in for its result. */
  async #question(given: unknown): Promise<JsonObject> {
    const input = asObject(asObject(given)["tool_input"]) as JsonObject;
    const { words, verdict } = await this.#ask("AskUserQuestion", input, undefined);
    const reason = words ?? (verdict === "allow" ? "Yes." : "The user does not want to answer.");
    return { decision: "block", reason };
  }

  #ask(tool: string, input: JsonObject, signal: AbortSignal | undefined): Promise<AgentAnswer> {
    const id = `${this.#context.record().id}-${++this.#askNumber}-${this.#context.ids.uuid().slice(-8)}`;
    const ask = { kind: "ask", ask: { id, tool, input } } as const;
    return new Promise((resolve) => {
      const settle = (answer: AgentAnswer): void => {
        if (!this.#asks.delete(id)) return;
        this.#feed.tell({ kind: "answered", ask: id, verdict: answer.verdict });
        this.#context.changed();
        resolve(answer);
      };
      this.#asks.set(id, { ask, settle });
      signal?.addEventListener("abort", () => settle({ verdict: "deny" }), { once: true });
      this.#feed.tell(ask);
      this.#context.changed();
    });
  }

  #answer(ask: string, answer: AgentAnswer): { late: boolean } {
    const open = this.#asks.get(ask);
    open?.settle(answer);
    return { late: open === undefined };
  }

  async #take(given: JsonObject): Promise<void> {
    const message: JsonObject = { ...given, uuid: given["uuid"] ?? this.#context.ids.uuid() };
    this.#note(message);
    const isPiece = message["type"] === "stream_event";
    if (isPiece) this.#feed.tell({ kind: "message", message });
    const written = isPiece ? undefined : this.#feed.keep(message);
    const session = message["session_id"];
    if (typeof session === "string" && session !== "" && session !== this.#context.record().session)
      await this.#context.keep({ session });
    await written;
  }

  /** What a list shows of it. */
  #note(message: JsonObject): void {
    if (message["type"] === "user" && typeof message["uuid"] === "string") this.#said.add(message["uuid"]);
    if (message["type"] === "system" && typeof message["model"] === "string")
      this.#show({ model: message["model"] });
    if (message["type"] === "assistant") {
      const words = textIn(asObject(message["message"])["content"]);
      if (words !== "") this.#show({ lastWords: shorten(oneLine(words), maxWords) });
    }
    if (message["type"] !== "result") return;
    this.#isAtWork = false;
    const cost = message["total_cost_usd"];
    const failure =
      message["is_error"] === true ? String(message["result"] ?? message["subtype"] ?? "failed") : undefined;
    this.#show({
      ...(typeof cost === "number" ? { costUsd: cost } : {}),
      failure: failure === undefined ? undefined : shorten(failure, 300),
      activity: failure === undefined ? "idle" : "failed",
    });
  }

  #show(facts: Partial<WorkerState>): void {
    this.#shown = { ...this.#shown, ...facts };
    this.#context.changed();
  }
}

/** The last line that says something. */
function textIn(content: unknown): string {
  const blocks = Array.isArray(content) ? content.map(asObject) : [];
  const text = blocks
    .flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");
  return text.trimEnd().split("\n").at(-1) ?? "";
}

/** Nothing that a turn started goes on behind it. */
async function endMarked(mark: string): Promise<void> {
  const { ProcessTree } = await import("../../workspace/processes/process-tree.ts");
  await new ProcessTree({ mark, since: 0 }).end({ graceMs: 500 });
}
