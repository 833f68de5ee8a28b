/** What every check of version 2 needs: an agent that is met, sessions in it, and turns from their prompt to their idle. */
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { AcpPeer, type HeardLine } from "./peer.ts";
import { type SchemaCheck, schemaCheck } from "./schema-check.ts";
import { type AcpKitOptions, type CheckOutcome, KitFinding, said } from "./stage.ts";

export type CheckV2 = (options: AcpKitOptions) => Promise<CheckOutcome>;

/** What was heard of one prompt. */
export type TurnV2 = {
  readonly response: JsonObject | undefined;
  readonly messageId: unknown;
  /** Of its session, in their order. */
  readonly updates: readonly JsonObject[];
  /** The idle that ended it. */
  readonly idle: JsonObject | undefined;
  /** Where its lines begin. */
  readonly from: number;
};

export type PromptV2 = {
  readonly words?: string | undefined;
  readonly blocks?: readonly JsonObject[];
  readonly more?: JsonObject;
  /** Done once it is at work, or soon where it does not say so. */
  readonly during?: ((turnId: string) => unknown) | undefined;
};

export class KitStageV2 implements AsyncDisposable {
  readonly peer: AcpPeer;
  readonly options: AcpKitOptions;
  readonly check: SchemaCheck;
  #initialized: JsonObject = {};
  #prompts = 0;

  private constructor(options: AcpKitOptions, check: SchemaCheck) {
    this.options = options;
    this.check = check;
    this.peer = new AcpPeer(options.agent, { answerMs: 30_000, quietMs: 500, ...options.limits });
  }

  static async open(options: AcpKitOptions): Promise<KitStageV2> {
    return new KitStageV2(options, options.schemaCheck ?? (await schemaCheck(options.schema)));
  }

  get initialized(): JsonObject {
    return this.#initialized;
  }

  /** What it announced; also by the names that lead to it. */
  announced(...names: readonly string[]): unknown {
    return names.reduce<unknown>((at, name) => asObject(at)[name], this.#initialized["capabilities"]);
  }

  get authMethods(): readonly JsonObject[] {
    return objectsIn(this.#initialized["authMethods"]);
  }

  async meet(protocolVersion = 2, capabilities: JsonObject = {}): Promise<JsonObject | undefined> {
    const info = { name: "kit", version: "1" };
    const params = protocolVersion === 1 ? { clientCapabilities: {} } : { info, capabilities };
    const response = await this.peer.request("initialize", { protocolVersion, ...params });
    this.#initialized = asObject(response?.["result"]) as JsonObject;
    return response;
  }

  /** As the agent asks for it, where somebody said how. */
  async logIn(): Promise<JsonObject | undefined> {
    const { authMethod } = this.options;
    return authMethod === undefined ? undefined : this.peer.request("auth/login", { methodId: authMethod });
  }

  /** The whole result of session/new; throws a sentence where there is none. */
  async begin(more: JsonObject = {}): Promise<JsonObject & { sessionId: string }> {
    const response = await this.peer.request("session/new", { cwd: this.options.folder, ...more });
    const result = asObject(response?.["result"]) as JsonObject;
    const { sessionId } = result;
    if (typeof sessionId !== "string" || sessionId === "")
      throw new KitFinding(said("session/new", response));
    return { ...result, sessionId };
  }

  async resume(sessionId: string, more: JsonObject = {}): Promise<JsonObject | undefined> {
    return this.peer.request("session/resume", { sessionId, cwd: this.options.folder, ...more });
  }

  async turn(sessionId: string, wanted: PromptV2 = {}): Promise<TurnV2> {
    const { words = "hello", blocks = [], more = {}, during } = wanted;
    const { peer } = this;
    const { answerMs, quietMs } = peer.limits;
    const from = peer.lines.length;
    const id = `prompt-${++this.#prompts}`;
    const prompt = [{ type: "text", text: words }, ...blocks];
    const answered = peer.request("session/prompt", { sessionId, prompt, ...more }, id);
    const isState = (line: HeardLine): boolean => statesIn(line, sessionId).length > 0;
    if (during) {
      await peer.wait(isState, { from, ms: quietMs });
      await during(id);
    }
    const response = await answered;
    const isIdle = (line: HeardLine): boolean => statesIn(line, sessionId).some(endsWork);
    const hasWork = response && "result" in response;
    // Who says nothing of work has none: it is not waited for any longer.
    const isAtWork = hasWork && (await peer.wait(isState, { from, ms: quietMs * 4 }));
    const end = isAtWork ? await peer.wait(isIdle, { from, ms: answerMs }) : undefined;
    return {
      response,
      messageId: asObject(response?.["result"])["messageId"],
      updates: this.updates(sessionId, from),
      idle: end && statesIn(end, sessionId).find(endsWork),
      from,
    };
  }

  updates(sessionId: string, from = 0, to = this.peer.lines.length): JsonObject[] {
    return this.peer.lines.slice(from, to).flatMap((line) => updatesOf(line, sessionId));
  }

  /** The place behind the line that a response came in. */
  behind(response: JsonObject | undefined): number {
    return this.peer.lines.findIndex(({ messages }) => response && messages.includes(response)) + 1;
  }

  /** What else comes of the session, while nothing has to. */
  async later(sessionId: string, from: number): Promise<JsonObject[]> {
    await this.peer.wait(() => false, { from, ms: this.peer.limits.quietMs });
    return this.updates(sessionId, from);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peer.close();
  }
}

/** An agent of version 2 that is met, and gone afterwards. Who speaks another version is not asked. */
export const metV2 =
  (work: (stage: KitStageV2) => Promise<CheckOutcome>, capabilities: JsonObject = {}): CheckV2 =>
  async (options) => {
    await using stage = await KitStageV2.open(options);
    await stage.meet(2, capabilities);
    const { protocolVersion } = stage.initialized;
    if (protocolVersion !== 2) return { notApplicable: `it speaks version ${String(protocolVersion)}` };
    return await work(stage);
  };

/** Only for who announced it, by the names that lead to it; with a login where one is needed. */
export const withAnnounced = (
  names: readonly string[],
  work: (stage: KitStageV2) => Promise<CheckOutcome>,
): CheckV2 =>
  metV2(async (stage) => {
    if (stage.announced(...names) == null) return { notApplicable: `${names.join(".")} is not announced` };
    await stage.logIn();
    return work(stage);
  });

export const withSessions = (work: (stage: KitStageV2) => Promise<CheckOutcome>): CheckV2 =>
  withAnnounced(["session"], work);

/** What a turn of these words shows. */
export const withTurn = (
  words: (options: AcpKitOptions) => string | undefined,
  judge: (turn: TurnV2, stage: KitStageV2, sessionId: string) => CheckOutcome | Promise<CheckOutcome>,
): CheckV2 =>
  withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    return judge(await stage.turn(sessionId, { words: words(stage.options) }), stage, sessionId);
  });

export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((one): one is JsonObject => isObject(one)) : [];

export const updatesOf = ({ messages }: HeardLine, sessionId: string): JsonObject[] =>
  messages.flatMap((message) => {
    const params = asObject(message["params"]);
    const isMeant = message["method"] === "session/update" && params["sessionId"] === sessionId;
    return isMeant && isObject(params["update"]) ? [params["update"] as JsonObject] : [];
  });

const statesIn = (line: HeardLine, sessionId: string): JsonObject[] =>
  updatesOf(line, sessionId).filter((update) => update["sessionUpdate"] === "state_update");

/** An idle with a reason: one without says only how it stands. */
const endsWork = ({ state, stopReason }: JsonObject): boolean => state === "idle" && stopReason != null;

export const ofKind = (updates: readonly JsonObject[], ...kinds: readonly string[]): JsonObject[] =>
  updates.filter(({ sessionUpdate }) => kinds.includes(String(sessionUpdate)));

export const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Defined by the protocol, or somebody's own. */
export const isDefined = (value: unknown, known: readonly string[]): boolean =>
  typeof value === "string" && (known.includes(value) || value.startsWith("_"));

export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? "nothing";

export const notApplicable = (why: string): CheckOutcome => ({ notApplicable: why });

/** What a tool is used for, and permission for it. */
export const askWords = ({ askPrompt }: AcpKitOptions): string =>
  askPrompt ?? "Make a list of what is to be done, then run `echo kit > kit.txt` in a shell.";
export const longWords = ({ longPrompt }: AcpKitOptions): string =>
  longPrompt ?? "Count from one to a thousand, one number a line, without a tool.";

export const endsInIdle = (what: string, { response, idle }: TurnV2): CheckOutcome => {
  if (!response || !("result" in response)) return said(what, response);
  return idle ? undefined : `${what}: no idle came`;
};

export const wholeKinds: readonly string[] = ["user_message", "agent_message", "agent_thought"];
export const chunkKinds: readonly string[] = wholeKinds.map((kind) => `${kind}_chunk`);

export const firstBad = (
  updates: readonly JsonObject[],
  isGood: (update: JsonObject) => boolean,
): string | undefined => {
  const bad = updates.find((update) => !isGood(update));
  return bad && `an update is ${shown(bad)}`;
};

/** Requests for permission that came with a turn. */
export const permissionsIn = ({ peer }: KitStageV2, from: number): JsonObject[] =>
  peer.lines
    .slice(from)
    .flatMap(({ messages }) => messages)
    .filter(({ method }) => method === "session/request_permission");

export const statesTold = (updates: readonly JsonObject[]): unknown[] =>
  ofKind(updates, "state_update").map(({ state }) => state);

export const unknownMethod = "_kit/no_such_method";
/** Without the folder that it needs. */
export const badBegin = ["session/new", {}] as const;

export const errorIn = (response: JsonObject | undefined): JsonObject | undefined => {
  const error = response?.["error"];
  return isObject(error) ? (error as JsonObject) : undefined;
};
