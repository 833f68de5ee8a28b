/** What every check of the kit needs: an agent that is met, sessions in it, and prompts with something during them. */
import { setTimeout as pause } from "node:timers/promises";
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { AcpPeer, type AgentCommand, type HeardLine, type PeerLimits } from "./peer.ts";
import { type SchemaCheck, schemaCheck } from "./schema-check.ts";

export type AcpKitOptions = {
  readonly agent: AgentCommand;
  /** A folder that sessions work in; it should be empty. */
  readonly folder: string;
  /** The JSON Schema of the version that is tried, as the protocol publishes it. */
  readonly schema: JsonObject;
  /** What `schemaCheck` made of the schema, which takes long: made once, it is of use to many checks. */
  readonly schemaCheck?: SchemaCheck | undefined;
  /** Words whose answer takes long enough to be cancelled in between. */
  readonly longPrompt?: string | undefined;
  /** Words that make the agent plan, use a tool and ask for permission. */
  readonly askPrompt?: string | undefined;
  /** The way to log in, where the agent needs one. */
  readonly authMethod?: string | undefined;
  /** Whether the agent may be told to forget its login. */
  readonly logout?: "allowed" | undefined;
  readonly limits?: Partial<PeerLimits> | undefined;
};

/** Undefined: it holds. A sentence: why it does not. */
export type CheckOutcome =
  | string
  | undefined
  | { readonly notApplicable: string }
  | { readonly told: string };

export const stopReasons: ReadonlySet<unknown> = new Set([
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
]);

/** What a prompt may hold beside words. */
export const promptParts = {
  image: {
    type: "image",
    mimeType: "image/png",
    data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  },
  /** A sound of no length. */
  audio: {
    type: "audio",
    mimeType: "audio/wav",
    data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=",
  },
  resource: {
    type: "resource",
    resource: { uri: "file:///tmp/kit.txt", mimeType: "text/plain", text: "a few words" },
  },
  link: { type: "resource_link", uri: "file:///tmp/kit.txt", name: "kit.txt" },
} as const satisfies Readonly<Record<string, JsonObject>>;

/** One check has one agent; it is gone afterwards. */
export class KitStage implements AsyncDisposable {
  readonly peer: AcpPeer;
  readonly options: AcpKitOptions;
  readonly check: SchemaCheck;
  #initialized: JsonObject = {};

  private constructor(options: AcpKitOptions, check: SchemaCheck) {
    this.options = options;
    this.check = check;
    this.peer = new AcpPeer(options.agent, { answerMs: 30_000, quietMs: 500, ...options.limits });
  }

  static async open(options: AcpKitOptions, start: "met" | "unmet" = "met"): Promise<KitStage> {
    const stage = new KitStage(options, options.schemaCheck ?? (await schemaCheck(options.schema)));
    if (start === "met") await stage.meet();
    return stage;
  }

  /** What it announced. */
  get capabilities(): JsonObject {
    return asObject(this.#initialized["agentCapabilities"]) as JsonObject;
  }

  get authMethods(): readonly JsonObject[] {
    const given = this.#initialized["authMethods"];
    return Array.isArray(given) ? given.filter(isObject).map((method) => method as JsonObject) : [];
  }

  get initialized(): JsonObject {
    return this.#initialized;
  }

  async meet(protocolVersion = 1): Promise<JsonObject | undefined> {
    const response = await this.peer.request("initialize", {
      protocolVersion,
      clientCapabilities: {},
      // Whoever asks for a later version says who it is, as later versions demand.
      ...(protocolVersion === 1 ? {} : { info: { name: "kit", version: "1" } }),
    });
    this.#initialized = asObject(response?.["result"]) as JsonObject;
    const { authMethod } = this.options;
    if (authMethod !== undefined) await this.peer.request("authenticate", { methodId: authMethod });
    return response;
  }

  /** The whole result of session/new; throws a sentence where there is none. */
  async begin(more: JsonObject = {}): Promise<JsonObject & { sessionId: string }> {
    const response = await this.peer.request("session/new", {
      cwd: this.options.folder,
      mcpServers: [],
      ...more,
    });
    const result = asObject(response?.["result"]) as JsonObject;
    const { sessionId } = result;
    if (typeof sessionId !== "string" || sessionId === "")
      throw new KitFinding(said("session/new", response));
    return { ...result, sessionId };
  }

  /** `during` happens with the first update, or soon when none comes. */
  async prompt(
    sessionId: string,
    { words = "hello", blocks = [], more = {}, during }: KitPrompt = {},
  ): Promise<JsonObject | undefined> {
    const { peer } = this;
    const from = peer.lines.length;
    const prompt = [{ type: "text", text: words }, ...blocks];
    const answered = peer.request("session/prompt", { sessionId, prompt, ...more }, `prompt-${from}`);
    if (during) {
      await Promise.race([peer.wait((line) => isUpdateOf(line, sessionId), { from }), pause(500)]);
      await during();
    }
    return answered;
  }

  /** Whether an update of the session comes within the quiet time. */
  async isQuiet(sessionId: string, from: number): Promise<boolean> {
    const { quietMs } = this.peer.limits;
    return !(await this.peer.wait((line) => isUpdateOf(line, sessionId), { from, ms: quietMs }));
  }

  /** The place behind the response. */
  behind(response: JsonObject | undefined): number {
    return this.peer.lines.findIndex(({ message }) => message !== undefined && message === response) + 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peer.close();
  }
}

export type KitPrompt = {
  readonly words?: string | undefined;
  readonly blocks?: readonly JsonObject[];
  readonly more?: JsonObject;
  readonly during?: (() => unknown) | undefined;
};

/** A sentence that ends a check. */
export class KitFinding {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export const isUpdateOf = ({ message }: HeardLine, sessionId: string): boolean =>
  message?.["method"] === "session/update" && asObject(message["params"])["sessionId"] === sessionId;

export const updateIn = ({ message }: HeardLine): Record<string, unknown> =>
  asObject(asObject(message?.["params"])["update"]);

/** What came instead. */
export const said = (what: string, response: JsonObject | undefined): string =>
  `${what}: ${response === undefined ? "no answer came" : JSON.stringify(response).slice(0, 300)}`;

export const stopReasonOf = (response: JsonObject | undefined): unknown =>
  asObject(response?.["result"])["stopReason"];
