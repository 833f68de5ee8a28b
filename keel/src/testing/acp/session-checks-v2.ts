/** The checks of version 2 that are about sessions, turns and what is told of them, by their ids. */
import { mkdirSync, mkdtempSync } from "node:fs";
import path from "node:path";
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { isResponse } from "./peer.ts";
import { type CheckOutcome, promptParts, said, stopReasons } from "./stage.ts";
import {
  type CheckV2,
  isDefined,
  isFilled,
  type KitStageV2,
  objectsIn,
  ofKind,
  shown,
  type TurnV2,
  updatesOf,
  withAnnounced,
  withSessions,
  withTurn,
} from "./stage-v2.ts";

const notApplicable = (why: string): CheckOutcome => ({ notApplicable: why });
const plain = (): undefined => undefined;

/** What a tool is used for, and permission for it. */
const askWords = ({ askPrompt }: { askPrompt?: string | undefined }): string =>
  askPrompt ?? "Make a list of what is to be done, then run `echo kit > kit.txt` in a shell.";
const longWords = ({ longPrompt }: { longPrompt?: string | undefined }): string =>
  longPrompt ?? "Count from one to a thousand, one number a line, without a tool.";

const endsInIdle = (what: string, { response, idle }: TurnV2): CheckOutcome => {
  if (!response || !("result" in response)) return said(what, response);
  return idle ? undefined : `${what}: no idle came`;
};

const promptCan = (name: string, block: JsonObject): CheckV2 =>
  withAnnounced(["session", "prompt", name], async (stage) => {
    const { sessionId } = await stage.begin();
    return endsInIdle(`a prompt with ${name}`, await stage.turn(sessionId, { blocks: [block] }));
  });

const succeeds = (stage: KitStageV2, method: string, response: JsonObject | undefined): string | undefined =>
  response && isObject(response["result"])
    ? stage.check.result(method, response["result"]) || undefined
    : said(method, response);

type Cancelled = TurnV2 & {
  readonly sessionId: string;
  readonly cancelledAt: number;
  readonly promptId: string;
};

/** A long turn, cancelled once it is at work. */
async function cancelledTurn(
  stage: KitStageV2,
  how: (sessionId: string) => unknown = (sessionId) => stage.peer.notify("session/cancel", { sessionId }),
): Promise<Cancelled> {
  const { sessionId } = await stage.begin();
  let cancelledAt = 0;
  let promptId = "";
  const turn = await stage.turn(sessionId, {
    words: longWords(stage.options),
    during: (id) => {
      stage.peer.isCancelled = true;
      cancelledAt = stage.peer.lines.length;
      promptId = id;
      return how(sessionId);
    },
  });
  return { ...turn, sessionId, cancelledAt, promptId };
}

const whenCancelled = (judge: (turn: Cancelled, stage: KitStageV2) => CheckOutcome | Promise<CheckOutcome>) =>
  withSessions(async (stage) => judge(await cancelledTurn(stage), stage));

const endsCancelled = ({ idle, response }: TurnV2): CheckOutcome =>
  idle?.["stopReason"] === "cancelled"
    ? undefined
    : `it ended with ${shown(idle ?? response ?? "no answer")}`;

const closedAtWork = withSessions(async (stage) =>
  endsCancelled(
    await cancelledTurn(stage, (sessionId) => stage.peer.request("session/close", { sessionId })),
  ),
);

/** A session with a turn in it, taken up again; with what was told before the response. */
async function resumed(stage: KitStageV2, more: JsonObject = {}) {
  const { sessionId } = await stage.begin();
  const turn = await stage.turn(sessionId, { words: "remember this" });
  const from = stage.peer.lines.length;
  const response = await stage.resume(sessionId, more);
  if (!response || !("result" in response)) return { sessionId, turn, response, told: [], behind: from };
  const behind = stage.behind(response);
  return { sessionId, turn, response, told: stage.updates(sessionId, from, behind), behind };
}

const fromStart = { replayFrom: { type: "start" } };
const wholeKinds = ["user_message", "agent_message", "agent_thought"];
const chunkKinds = wholeKinds.map((kind) => `${kind}_chunk`);

const holdsWords = ({ content }: JsonObject, words: string): boolean =>
  [content].flat().some((block) => asObject(block)["text"] === words);

/** In groups or not; mixed is nothing. */
function valuesOf({ options }: JsonObject): string[] | undefined {
  const all = objectsIn(options);
  const isFlat = all.every(({ value, name }) => typeof value === "string" && typeof name === "string");
  if (isFlat) return all.map(({ value }) => String(value));
  const isGrouped = all.every(({ groupId, options: inner }) => isFilled(groupId) && Array.isArray(inner));
  return isGrouped
    ? all.flatMap(({ options: inner }) => objectsIn(inner).map(({ value }) => String(value)))
    : undefined;
}

function badOption(option: JsonObject): string | undefined {
  const { configId, name, type, currentValue } = option;
  const isNamed = isFilled(configId) && typeof name === "string";
  const isValued =
    type === "select"
      ? typeof currentValue === "string" && Array.isArray(option["options"]) && valuesOf(option) !== undefined
      : type === "boolean"
        ? typeof currentValue === "boolean"
        : isDefined(type, []);
  return isNamed && isValued ? undefined : `the option ${shown(option)} is not whole`;
}

const withOptions = (
  work: (stage: KitStageV2, begun: JsonObject & { sessionId: string }) => Promise<CheckOutcome>,
): CheckV2 =>
  withSessions(async (stage) => {
    const begun = await stage.begin();
    return objectsIn(begun["configOptions"]).length === 0
      ? notApplicable("session/new has no options")
      : work(stage, begun);
  });

const idsOf = (options: unknown): string[] => objectsIn(options).map(({ configId }) => String(configId));

/** An option with a value that it does not have. */
function otherValue(options: unknown) {
  return objectsIn(options).flatMap((option) => {
    const value =
      option["type"] === "select"
        ? valuesOf(option)?.find((one) => one !== option["currentValue"])
        : undefined;
    return value === undefined ? [] : [{ configId: String(option["configId"]), type: "id", value }];
  })[0];
}

const sessionsIn = (response: JsonObject | undefined): JsonObject[] | undefined => {
  const { sessions } = asObject(response?.["result"]);
  return Array.isArray(sessions) ? objectsIn(sessions) : undefined;
};

/** Judges updates of a kind, where there are any. */
const whereTold = (
  kinds: readonly string[],
  judge: (updates: readonly JsonObject[]) => CheckOutcome,
): CheckV2 =>
  withTurn(askWords, ({ updates }) => {
    const meant = ofKind(updates, ...kinds);
    return meant.length === 0 ? notApplicable(`no ${kinds.join(" or ")} was told`) : judge(meant);
  });

const firstBad = (
  updates: readonly JsonObject[],
  isGood: (update: JsonObject) => boolean,
): string | undefined => {
  const bad = updates.find((update) => !isGood(update));
  return bad && `an update is ${shown(bad)}`;
};

const clientMethods = new Set([
  "session/request_permission",
  "session/update",
  "elicitation/create",
  "elicitation/complete",
  "mcp/message",
  "auth/status_update",
  "$/cancel_request",
]);
const toolKinds = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
];
const callStates = ["pending", "in_progress", "paused", "completed", "failed", "cancelled"];
const planStates = ["pending", "in_progress", "completed", "cancelled"];
const updateKinds = [
  ...wholeKinds,
  ...chunkKinds,
  "state_update",
  "tool_call_content_chunk",
  "tool_call_update",
  "terminal_update",
  "terminal_output_chunk",
  "plan_update",
  "plan_removed",
  "available_commands_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "notice",
  "compaction_update",
  "compaction_summary_chunk",
];

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const isBase64 = (value: unknown): boolean =>
  typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

/** Requests for permission that came with a turn. */
const permissionsIn = (stage: KitStageV2, from: number): JsonObject[] =>
  stage.peer.lines
    .slice(from)
    .flatMap(({ messages }) => messages)
    .filter(({ method }) => method === "session/request_permission");

const statesIn = (updates: readonly JsonObject[]): unknown[] =>
  ofKind(updates, "state_update").map(({ state }) => state);

export const sessionChecksV2 = {
  "ACP-SESSION-001": withSessions(async (stage) => {
    const begun = await stage.begin();
    return stage.check.result("session/new", begun) || undefined;
  }),
  "ACP-SESSION-002": withSessions(async (stage) => {
    const [first, second] = [await stage.begin(), await stage.begin()];
    return first.sessionId === second.sessionId ? "two sessions have one id" : undefined;
  }),
  "ACP-SESSION-203": withSessions(async (stage) => {
    await stage.begin();
    await stage.begin({ mcpServers: [] });
    return undefined;
  }),
  "ACP-PROMPT-201": withTurn(plain, ({ response, messageId }) =>
    isFilled(messageId) ? undefined : said("a prompt", response),
  ),
  "ACP-PROMPT-203": withTurn(plain, ({ updates, messageId, idle }) => {
    const before = updates.slice(0, idle ? updates.indexOf(idle) : updates.length);
    const told = ofKind(before, "user_message", "user_message_chunk");
    return told.some((update) => update["messageId"] === messageId)
      ? undefined
      : `the message ${shown(messageId)} is not told`;
  }),
  "ACP-PROMPT-205": withTurn(plain, (_, stage, sessionId) => {
    const updates = stage.peer.lines.flatMap(({ messages }) =>
      messages.filter(({ method }) => method === "session/update"),
    );
    const foreign = updates.find(({ params }) => asObject(params)["sessionId"] !== sessionId);
    if (foreign) return `an update of another session: ${shown(foreign)}`;
    return updates
      .map(({ params }) => stage.check.params("session/update", params))
      .find((sentence) => sentence !== "");
  }),
  "ACP-PROMPT-003": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    return endsInIdle("a prompt with a link", await stage.turn(sessionId, { blocks: [promptParts.link] }));
  }),
  "ACP-STATE-201": withTurn(plain, ({ updates, idle }) => {
    if (!idle) return notApplicable("no idle with a reason was told");
    const before = updates.slice(0, updates.indexOf(idle));
    return statesIn(before).includes("running") ? undefined : "idle came without running before it";
  }),
  "ACP-STATE-202": withTurn(plain, ({ updates }) => {
    const states = statesIn(updates);
    if (!states.includes("running")) return notApplicable("no work was told");
    return states.lastIndexOf("idle") > states.indexOf("running")
      ? undefined
      : "running is not followed by idle";
  }),
  "ACP-STATE-203": withTurn(plain, ({ updates, idle }) => {
    if (!statesIn(updates).includes("running")) return notApplicable("no work was told");
    const reason = idle?.["stopReason"];
    return isDefined(reason, [...stopReasons].map(String))
      ? undefined
      : `the work ended with ${shown(reason)}`;
  }),
  "ACP-PROMPTCAP-001": promptCan("image", promptParts.image),
  "ACP-PROMPTCAP-002": promptCan("audio", promptParts.audio),
  "ACP-PROMPTCAP-003": promptCan("embeddedContext", promptParts.resource),
  "ACP-PERM-201": withTurn(askWords, (turn, stage, sessionId) => {
    const asked = permissionsIn(stage, turn.from);
    if (asked.length === 0) return notApplicable("no permission was asked for");
    for (const { params } of asked) {
      const wrong = stage.check.params("session/request_permission", params);
      const { title, options, sessionId: about } = asObject(params);
      const isWhole =
        about === sessionId &&
        isFilled(title) &&
        objectsIn(options).length > 0 &&
        objectsIn(options).every(
          (one) => isFilled(one["optionId"]) && isFilled(one["name"]) && isFilled(one["kind"]),
        );
      if (wrong !== "" || !isWhole) return wrong || `a request for permission is ${shown(params)}`;
    }
    return endsInIdle("a prompt with a permission", turn);
  }),
  "ACP-CLIENTCAP-201": withTurn(askWords, (_, stage) =>
    stage.peer.wanted.includes("elicitation/create") ? "it asked for a form" : undefined,
  ),
  "ACP-CLIENTCAP-202": withTurn(askWords, (_, stage) => {
    const strange = stage.peer.lines
      .flatMap(({ messages }) =>
        messages.flatMap(({ method }) => (typeof method === "string" ? [method] : [])),
      )
      .find((method) => !clientMethods.has(method) && !method.startsWith("_"));
    return strange && `it called ${strange}`;
  }),
  "ACP-CANCEL-201": whenCancelled(endsCancelled),
  "ACP-CANCEL-202": whenCancelled(async (turn, stage) => {
    if (turn.idle?.["stopReason"] !== "cancelled") return notApplicable("it did not end as cancelled");
    const behind = stage.peer.lines.findIndex((line) =>
      updatesOf(line, turn.sessionId).includes(turn.idle ?? {}),
    );
    const later = ofKind(await stage.later(turn.sessionId, behind + 1), "state_update");
    return later.length === 0 ? undefined : `after the end came ${shown(later[0])}`;
  }),
  "ACP-CANCEL-203": whenCancelled(({ response, idle }) => {
    if (response && "error" in response) return said("a cancelled prompt", response);
    const reason = idle?.["stopReason"];
    return reason !== "cancelled" && stopReasons.has(reason) ? `it ended with ${shown(reason)}` : undefined;
  }),
  "ACP-CANCEL-204": whenCancelled(({ idle }) => ({ told: `it ended with ${shown(idle?.["stopReason"])}` })),
  "ACP-CANCEL-205": whenCancelled((turn, stage) => {
    const answered = stage.peer.lines
      .slice(turn.cancelledAt)
      .flatMap(({ messages }) => messages)
      .find((message) => isResponse(message) && message["id"] !== turn.promptId);
    return answered && `session/cancel was answered: ${shown(answered)}`;
  }),
  "ACP-CANCEL-206": withSessions(async (stage) => {
    const more = { _meta: { kit: true } };
    const turn = await cancelledTurn(stage, (sessionId) =>
      stage.peer.notify("session/cancel", { sessionId, ...more }),
    );
    return endsCancelled(turn);
  }),
  "ACP-CANCEL-207": whenCancelled(endsCancelled),
  "ACP-CANCEL-208": closedAtWork,
  "ACP-INFO-CANCEL-201": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const from = stage.peer.lines.length;
    stage.peer.notify("session/cancel", { sessionId });
    stage.peer.notify("session/cancel", { sessionId: "kit-no-such-session" });
    const told = await stage.later(sessionId, from);
    return { told: told.length === 0 ? "it says nothing" : `it says ${shown(told)}` };
  }),
  "ACP-INFO-CANCEL-202": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    stage.peer.outcome = "never";
    const from = stage.peer.lines.length;
    await stage.turn(sessionId, {
      words: askWords(stage.options),
      during: async () => {
        await stage.peer.wait(
          ({ messages }) => messages.some(({ method }) => method === "session/request_permission"),
          { from, ms: stage.peer.limits.quietMs * 4 },
        );
        stage.peer.notify("session/cancel", { sessionId });
      },
    });
    const isTakenBack = stage.peer.lines.some(({ messages }) =>
      messages.some(({ method }) => method === "$/cancel_request"),
    );
    return { told: isTakenBack ? "it takes back what it asked" : "it takes nothing back" };
  }),
  "ACP-INFO-CONCURRENT-201": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const prompt = [{ type: "text", text: "and another" }];
    let second: JsonObject | undefined;
    await stage.turn(sessionId, {
      words: longWords(stage.options),
      during: async () => {
        second = await stage.peer.request("session/prompt", { sessionId, prompt }, "second");
        stage.peer.notify("session/cancel", { sessionId });
      },
    });
    return { told: said("a second prompt", second) };
  }),
  "ACP-INFO-UNKNOWNSESSION-001": withSessions(async (stage) => {
    await stage.begin();
    const prompt = [{ type: "text", text: "hello" }];
    const answer = await stage.peer.request("session/prompt", { sessionId: "kit-no-such-session", prompt });
    return { told: said("a prompt to no session", answer) };
  }),
  "ACP-RESUME-201": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    return succeeds(stage, "session/resume", await stage.resume(sessionId));
  }),
  "ACP-RESUME-202": withSessions(async (stage) => {
    const { response, sessionId, behind } = await resumed(stage, fromStart);
    if (!isObject(response?.["result"])) return said("session/resume", response);
    // Notices are news whenever they come.
    const later = (await stage.later(sessionId, behind)).filter(
      ({ sessionUpdate }) => sessionUpdate !== "notice",
    );
    return later.length === 0 ? undefined : `after the response came ${shown(later[0])}`;
  }),
  "ACP-RESUME-203": withSessions(async (stage) => {
    const { response, told } = await resumed(stage);
    if (!isObject(response?.["result"])) return said("session/resume", response);
    const [history] = ofKind(told, ...wholeKinds, ...chunkKinds);
    return history && `unasked it told ${shown(history)}`;
  }),
  "ACP-RESUME-204": withSessions(async (stage) => {
    const { turn, told } = await resumed(stage, fromStart);
    const mine = ofKind(told, "user_message", "user_message_chunk");
    if (mine.length === 0) return notApplicable("the message is not told again");
    const bad = mine.find((one) => holdsWords(one, "remember this") && one["messageId"] !== turn.messageId);
    return bad && `the message ${shown(turn.messageId)} is told as ${shown(bad)}`;
  }),
  "ACP-RESUME-205": withSessions(async (stage) => {
    const { told } = await resumed(stage, fromStart);
    const bad = told.find(
      (update, index) =>
        chunkKinds.includes(String(update["sessionUpdate"])) &&
        !told
          .slice(0, index)
          .some(
            (before) =>
              `${String(before["sessionUpdate"])}_chunk` === update["sessionUpdate"] &&
              before["messageId"] === update["messageId"] &&
              Array.isArray(before["content"]) &&
              before["content"].length === 0,
          ),
    );
    return bad && `a piece comes without its beginning: ${shown(bad)}`;
  }),
  "ACP-LIST-201": withSessions(async (stage) => {
    await stage.begin();
    const response = await stage.peer.request("session/list", {});
    return sessionsIn(response) ? succeeds(stage, "session/list", response) : said("session/list", response);
  }),
  "ACP-LIST-202": withSessions(async (stage) => {
    await stage.begin();
    const cwd = mkdtempSync(path.join(stage.options.folder, "empty-"));
    const response = await stage.peer.request("session/list", { cwd });
    return sessionsIn(response)?.length === 0 ? undefined : said("session/list", response);
  }),
  "ACP-LIST-203": withSessions(async (stage) => {
    await stage.begin();
    const { folder: cwd } = stage.options;
    const response = await stage.peer.request("session/list", { cwd });
    const bad = sessionsIn(response)?.find((one) => one["cwd"] !== cwd);
    return bad && `a session of another folder: ${shown(bad)}`;
  }),
  "ACP-LIST-204": withSessions(async (stage) => {
    await stage.begin();
    const response = await stage.peer.request("session/list", {});
    const bad = sessionsIn(response)?.find(({ cwd }) => typeof cwd !== "string" || !path.isAbsolute(cwd));
    return bad && `a folder is ${shown(bad["cwd"])}`;
  }),
  "ACP-CLOSE-201": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    return succeeds(stage, "session/close", await stage.peer.request("session/close", { sessionId }));
  }),
  "ACP-CLOSE-202": closedAtWork,
  "ACP-DELETE-201": withAnnounced(["session", "delete"], async (stage) => {
    const { sessionId } = await stage.begin();
    return succeeds(stage, "session/delete", await stage.peer.request("session/delete", { sessionId }));
  }),
  "ACP-DELETE-202": withAnnounced(["session", "delete"], async (stage) => {
    const { sessionId } = await stage.begin();
    await stage.turn(sessionId);
    const isListed = async (): Promise<boolean | undefined> =>
      sessionsIn(await stage.peer.request("session/list", {}))?.some((one) => one["sessionId"] === sessionId);
    if (!(await isListed())) return notApplicable("the session was never listed");
    await stage.peer.request("session/delete", { sessionId });
    return (await isListed()) === false ? undefined : "it is still listed";
  }),
  "ACP-DELETE-203": withAnnounced(["session", "delete"], async (stage) => {
    const response = await stage.peer.request("session/delete", { sessionId: "kit-no-such-session" });
    return succeeds(stage, "session/delete", response);
  }),
  "ACP-ADDDIRS-201": withAnnounced(["session", "additionalDirectories"], async (stage) => {
    await stage.begin({ additionalDirectories: [furtherFolder(stage)] });
    return undefined;
  }),
  "ACP-ADDDIRS-202": withAnnounced(["session", "additionalDirectories"], async (stage) => {
    const { sessionId } = await stage.begin();
    const response = await stage.resume(sessionId, { additionalDirectories: [furtherFolder(stage)] });
    return succeeds(stage, "session/resume", response);
  }),
  "ACP-MCP-201": withAnnounced(["session", "mcp", "stdio"], async (stage) =>
    triedServer(stage, { type: "stdio", name: "kit", command: "/kit/no/such/program" }),
  ),
  "ACP-MCP-202": withAnnounced(["session", "mcp", "http"], async (stage) =>
    triedServer(stage, { type: "http", name: "kit", url: "http://127.0.0.1:1/mcp" }),
  ),
  "ACP-CONFIG-201": withOptions(async (_, { configOptions }) =>
    objectsIn(configOptions)
      .map(badOption)
      .find((bad) => bad !== undefined),
  ),
  "ACP-CONFIG-202": withOptions(async (stage, { sessionId, configOptions }) => {
    const other = otherValue(configOptions);
    if (!other) return notApplicable("no option has another value");
    const response = await stage.peer.request("session/set_config_option", { sessionId, ...other });
    const after = idsOf(asObject(response?.["result"])["configOptions"]);
    const missing = idsOf(configOptions).find((id) => !after.includes(id));
    return missing && said(`without the option ${missing}`, response);
  }),
  "ACP-CONFIG-203": withOptions(async (stage, { sessionId }) => {
    const response = await stage.resume(sessionId);
    const { configOptions } = asObject(response?.["result"]);
    if (configOptions == null) return notApplicable("session/resume has no options");
    return objectsIn(configOptions)
      .map(badOption)
      .find((bad) => bad !== undefined);
  }),
  "ACP-CONFIG-204": withOptions(async (_, { configOptions }) => {
    const bad = objectsIn(configOptions).find(
      (option) => option["type"] === "select" && !valuesOf(option)?.includes(String(option["currentValue"])),
    );
    return bad && `the option ${String(bad["configId"])} has the value ${shown(bad["currentValue"])}`;
  }),
  "ACP-CONFIG-206": withOptions(async (stage, { sessionId, configOptions }) => {
    const from = stage.peer.lines.length;
    const other = otherValue(configOptions);
    if (other) await stage.peer.request("session/set_config_option", { sessionId, ...other });
    const told = ofKind(await stage.later(sessionId, from), "config_option_update");
    if (told.length === 0) return notApplicable("no update of options was told");
    const known = idsOf(configOptions);
    return firstBad(told, (update) => known.every((id) => idsOf(update["configOptions"]).includes(id)));
  }),
  "ACP-PATCH-201": whereTold([...wholeKinds, ...chunkKinds], (updates) =>
    firstBad(updates, ({ messageId }) => isFilled(messageId)),
  ),
  "ACP-PATCH-203": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const [first, second] = [await stage.turn(sessionId), await stage.turn(sessionId)];
    const isRight = isFilled(first.messageId) && isFilled(second.messageId);
    if (!isRight) return "a prompt has no id";
    return first.messageId === second.messageId ? "two prompts have one id" : undefined;
  }),
  "ACP-PATCH-204": whereTold(["tool_call_update", "tool_call_content_chunk"], (updates) =>
    firstBad(
      updates,
      ({ sessionUpdate, toolCallId, content }) =>
        isFilled(toolCallId) && (sessionUpdate === "tool_call_update" || isObject(content)),
    ),
  ),
  "ACP-PATCH-205": whereTold(["plan_update"], (updates) =>
    firstBad(updates, ({ plan }) => isFilled(asObject(plan)["planId"])),
  ),
  "ACP-PATCH-206": whereTold(["terminal_update"], (updates) => {
    const folders = new Map<unknown, unknown>();
    return firstBad(updates, ({ terminalId, cwd }) => {
      if (isAbsent(cwd)) return isFilled(terminalId);
      const before = folders.get(terminalId) ?? cwd;
      folders.set(terminalId, cwd);
      return isFilled(terminalId) && typeof cwd === "string" && path.isAbsolute(cwd) && before === cwd;
    });
  }),
  "ACP-PATCH-207": withTurn(askWords, ({ updates }) => {
    const printed = ofKind(updates, "terminal_output_chunk", "terminal_update").flatMap((update) =>
      update["sessionUpdate"] === "terminal_output_chunk"
        ? [update["data"]]
        : isAbsent(update["output"])
          ? []
          : [asObject(update["output"])["data"]],
    );
    if (printed.length === 0) return notApplicable("nothing that a terminal prints was told");
    const bad = printed.find((data) => !isBase64(data));
    return bad === undefined ? undefined : `what a terminal prints is ${shown(bad)}`;
  }),
  "ACP-PATCH-208": whereTold(["tool_call_update"], (updates) => {
    const names = new Map<unknown, unknown>();
    return firstBad(updates, ({ toolCallId, title, name }) => {
      const isFirst = !names.has(toolCallId);
      const before = names.get(toolCallId) ?? name;
      names.set(toolCallId, before);
      return (!isFirst || isFilled(title)) && (isAbsent(name) || name === before);
    });
  }),
  "ACP-PATCH-209": withTurn(askWords, (turn, stage) => {
    if (permissionsIn(stage, turn.from).length === 0) return notApplicable("no permission was asked for");
    const states = statesIn(turn.updates);
    const waits = states.lastIndexOf("requires_action");
    if (waits < 0) return `while it waits it says ${shown(states)}`;
    if (["refusal", "cancelled"].includes(String(turn.idle?.["stopReason"]))) return undefined;
    return states.slice(waits).includes("running") ? undefined : `when it goes on it says ${shown(states)}`;
  }),
  "ACP-ENUM-201": withTurn(askWords, ({ updates }) => {
    const calls = ofKind(updates, "tool_call_update");
    const entries = ofKind(updates, "plan_update").flatMap(({ plan }) =>
      objectsIn(asObject(plan)["entries"]),
    );
    const badCall = firstBad(
      calls,
      ({ kind, status }) =>
        (isAbsent(kind) || isDefined(kind, toolKinds)) && (isAbsent(status) || isDefined(status, callStates)),
    );
    return (
      badCall ??
      firstBad(
        entries,
        ({ priority, status }) =>
          isDefined(priority, ["high", "medium", "low"]) && isDefined(status, planStates),
      )
    );
  }),
  "ACP-ENUM-202": withTurn(askWords, ({ updates }) => {
    const content = updates.flatMap((update) => objectsIn([update["content"]].flat()));
    const calls = ofKind(updates, "tool_call_update").flatMap((update) => objectsIn(update["content"]));
    return (
      firstBad(updates, ({ sessionUpdate }) => isDefined(sessionUpdate, updateKinds)) ??
      firstBad(ofKind(updates, "state_update"), ({ state }) =>
        isDefined(state, ["running", "idle", "requires_action"]),
      ) ??
      firstBad(calls, ({ type }) => isDefined(type, ["content", "diff", "terminal"])) ??
      firstBad(content, ({ type }) => typeof type === "string")
    );
  }),
  "ACP-ENUM-203": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    stage.peer.outcome = { outcome: "_kit_unknown" };
    const turn = await stage.turn(sessionId, { words: askWords(stage.options) });
    if (permissionsIn(stage, turn.from).length === 0) return notApplicable("no permission was asked for");
    const goesOn = await stage.peer.request("session/list", {});
    return goesOn && !("error" in (turn.response ?? {}))
      ? undefined
      : said("after an unknown answer", turn.response);
  }),
  "ACP-META-001": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const more = { _meta: { traceparent: "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01" } };
    return endsInIdle("a prompt with _meta", await stage.turn(sessionId, { more }));
  }),
} as const satisfies Readonly<Record<string, CheckV2>>;

function furtherFolder({ options }: KitStageV2): string {
  const further = path.join(options.folder, "further");
  mkdirSync(further, { recursive: true });
  return further;
}

async function triedServer(stage: KitStageV2, server: JsonObject): Promise<CheckOutcome> {
  const response = await stage.peer.request("session/new", {
    cwd: stage.options.folder,
    mcpServers: [server],
  });
  return { told: said("session/new with a server", response) };
}
