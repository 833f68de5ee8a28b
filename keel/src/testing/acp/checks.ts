/** The checks of lines, messages, the meeting and the editor's abilities, by the ids of the table. */
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { isResponse } from "./peer.ts";
import { type AcpKitOptions, type CheckOutcome, KitStage, said, stopReasonOf, stopReasons } from "./stage.ts";

export type AcpCheck = (options: AcpKitOptions) => Promise<CheckOutcome>;

/** An agent that is met, and gone afterwards. */
export const met =
  (work: (stage: KitStage) => Promise<CheckOutcome>, start: "met" | "unmet" = "met"): AcpCheck =>
  async (options) => {
    await using stage = await KitStage.open(options, start);
    return await work(stage);
  };

/** A session with a turn in it. */
const exchange = async (stage: KitStage): Promise<string> => {
  const { sessionId } = await stage.begin();
  await stage.prompt(sessionId);
  return sessionId;
};

export const endsWell = (what: string, response: JsonObject | undefined): CheckOutcome =>
  stopReasons.has(stopReasonOf(response)) ? undefined : said(what, response);

const errorOf = (response: JsonObject | undefined): JsonObject | undefined => {
  const error = response?.["error"];
  return isObject(error) ? (error as JsonObject) : undefined;
};

const unknownMethod = "_kit/no_such_method";
const withoutFolder = { mcpServers: [] };

function badEnvelope(what: string, response: JsonObject | undefined): string | undefined {
  if (!response) return said(what, response);
  const { id, jsonrpc } = response;
  const isWhole = jsonrpc === "2.0" && id !== undefined && "result" in response !== "error" in response;
  const error = errorOf(response);
  const isError =
    !("error" in response) || (Number.isInteger(error?.["code"]) && typeof error?.["message"] === "string");
  return isWhole && isError ? undefined : said(what, response);
}

/** Every message of an exchange with what the schema says of it. */
function schemaFindings(
  { peer }: KitStage,
  methods: ReadonlyMap<unknown, string>,
  find: (method: string, kind: "result" | "params", value: unknown) => string[],
): string | undefined {
  const found = peer.lines.flatMap(({ message, text }): string[] => {
    if (!message) return [`no message: ${text.slice(0, 100)}`];
    if (typeof message["method"] === "string") return find(message["method"], "params", message["params"]);
    if (!("result" in message)) return [];
    return find(methods.get(message["id"]) ?? "", "result", message["result"]);
  });
  return found[0];
}

const exchangeMethods = async (stage: KitStage): Promise<Map<unknown, string>> => {
  const methods = new Map<unknown, string>();
  const ask = async (method: string, params: JsonObject): Promise<JsonObject | undefined> => {
    const id = `schema-${methods.size}`;
    methods.set(id, method);
    return stage.peer.request(method, params, id);
  };
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const begun = await ask("session/new", { cwd: stage.options.folder, mcpServers: [] });
  const { sessionId } = asObject(begun?.["result"]);
  const prompt = [{ type: "text", text: "hello" }];
  await ask("session/prompt", { sessionId: String(sessionId), prompt });
  return methods;
};

const calledBy = (start: string) =>
  met(async (stage) => {
    const { sessionId } = await stage.begin();
    await stage.prompt(sessionId, { words: "Read a file of this folder, and run a command in it." });
    const called = stage.peer.wanted.find((method) => method.startsWith(start));
    return called === undefined ? undefined : `it asked for ${called}, which was not announced`;
  });

/** What it does is recorded; that the connection goes on is not asked either. */
const recorded = (what: string, line: string) =>
  met(async (stage) => {
    const from = stage.peer.lines.length;
    stage.peer.raw(line);
    const { quietMs } = stage.peer.limits;
    const answer = await stage.peer.wait(({ message }) => isResponse(message), { from, ms: quietMs });
    const after = await stage.begin().then(
      () => "goes on",
      () => "does not go on",
    );
    return { told: `${what}: ${answer?.text.slice(0, 200) ?? "silence"}; the connection ${after}` };
  });

export const messageChecks = {
  "ACP-TRANSPORT-001": met(async (stage) => {
    await exchange(stage);
    const bad = stage.peer.lines.find(({ message }) => message?.["jsonrpc"] !== "2.0");
    return bad && `a line is no message: ${bad.text.slice(0, 200)}`;
  }),
  "ACP-TRANSPORT-002": met(async (stage) => {
    await exchange(stage);
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(stage.peer.output);
      return undefined;
    } catch {
      return "its output is not UTF-8";
    }
  }),
  "ACP-JSONRPC-001": met(async ({ peer, options }) => {
    const first = await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {} }, 424_242);
    if (!first) return "a number as an id does not come back";
    const second = await peer.request("session/new", { cwd: options.folder, mcpServers: [] }, "an-id");
    return second ? undefined : "a text as an id does not come back";
  }, "unmet"),
  "ACP-JSONRPC-002": met(async (stage) => {
    const first = badEnvelope("initialize", await stage.meet());
    return first ?? badEnvelope("a bad session/new", await stage.peer.request("session/new", withoutFolder));
  }, "unmet"),
  "ACP-JSONRPC-003": met(async (stage) => {
    const { sessionId } = await stage.begin();
    const from = stage.peer.lines.length;
    stage.peer.notify("session/cancel", { sessionId });
    const { quietMs } = stage.peer.limits;
    const answer = await stage.peer.wait(({ message }) => isResponse(message), { from, ms: quietMs });
    return answer && `a notification was answered: ${answer.text.slice(0, 200)}`;
  }),
  "ACP-JSONRPC-004": met(async ({ peer }) => {
    const response = await peer.request(unknownMethod);
    return errorOf(response)?.["code"] === -32_601 ? undefined : said(unknownMethod, response);
  }),
  "ACP-JSONRPC-005": met(async (stage) => {
    await stage.peer.request(unknownMethod);
    await stage.peer.request("session/new", withoutFolder);
    await stage.begin();
    return undefined;
  }),
  "ACP-INIT-001": met(async (stage) => {
    const response = await stage.meet();
    const result = asObject(response?.["result"]);
    if (!Number.isInteger(result["protocolVersion"])) return said("initialize", response);
    return stage.check.result("initialize", result) || undefined;
  }, "unmet"),
  "ACP-INIT-002": met(async ({ initialized }) =>
    initialized["protocolVersion"] === 1 ? undefined : `it speaks ${String(initialized["protocolVersion"])}`,
  ),
  "ACP-INIT-003": async (options) => {
    await using first = await KitStage.open(options);
    await using second = await KitStage.open(options, "unmet");
    const response = await second.meet(65_535);
    const version = asObject(response?.["result"])["protocolVersion"];
    const usual = Number(first.initialized["protocolVersion"]);
    const isAnswered = Number.isInteger(version) && version !== 65_535 && Number(version) >= usual;
    return isAnswered ? undefined : said("initialize with 65535", response);
  },
  "ACP-INIT-004": met(async ({ initialized }) => {
    const { name, version } = asObject(initialized["agentInfo"]);
    const isSaid = typeof name === "string" && name !== "" && typeof version === "string";
    return isSaid ? undefined : "it does not say its name and version";
  }),
  "ACP-SCHEMA-001": met(async (stage) => {
    const methods = await exchangeMethods(stage);
    return schemaFindings(stage, methods, (method, kind, value) => {
      const wrong = stage.check[kind](method, value);
      return wrong === "" ? [] : [wrong];
    });
  }, "unmet"),
  "ACP-SCHEMA-002": met(async (stage) => {
    const methods = await exchangeMethods(stage);
    return schemaFindings(stage, methods, (method, kind, value) =>
      stage.check.strangers(method, kind, value).map((name) => `${method} has a field ${name}`),
    );
  }, "unmet"),
  "ACP-CLIENTCAP-001": calledBy("fs/"),
  "ACP-CLIENTCAP-002": calledBy("terminal/"),
  "ACP-CLIENTCAP-003": calledBy("elicitation/"),
  "ACP-EXT-001": met(async ({ peer }) => {
    const response = await peer.request("_kit/own", { any: "thing" });
    return response ? undefined : "a request of an own method is not answered";
  }),
  "ACP-META-001": met(async (stage) => {
    const { sessionId } = await stage.begin();
    const more = { _meta: { traceparent: "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01" } };
    return endsWell("a prompt with _meta", await stage.prompt(sessionId, { more }));
  }),
  "ACP-ERROR-001": met(async ({ peer }) => {
    const responses = [await peer.request(unknownMethod), await peer.request("session/new", withoutFolder)];
    const bad = responses.find((response) => {
      const message = errorOf(response)?.["message"];
      return typeof message === "string" && (message === "" || message.includes("\n"));
    });
    return bad && said("the message of an error", bad);
  }),
  "ACP-SHUTDOWN-001": async (options) => {
    await using stage = await KitStage.open(options);
    await stage.begin();
    return (await stage.peer.close()) ? undefined : "it goes on when its input has ended";
  },
  "ACP-STDERR-001": met(async (stage) => {
    await exchange(stage);
    return { told: `${stage.peer.stderrBytes} bytes on standard error` };
  }),
  "ACP-INFO-PARSE-001": recorded("a line that is no JSON", "{this is no JSON"),
  "ACP-INFO-INVALIDREQ-001": recorded("JSON that is no message", '{"foo":"bar"}'),
  "ACP-INFO-UNKNOWNSESSION-001": met(async (stage) => {
    await stage.begin();
    const answer = await stage.prompt("kit-no-such-session");
    return { told: said("a prompt to no session", answer) };
  }),
} as const satisfies Readonly<Record<string, AcpCheck>>;
