/** The checks of version 2 that are about sessions and their options, by their ids. */
import { mkdirSync, mkdtempSync } from "node:fs";
import path from "node:path";
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { type CheckOutcome, said } from "./stage.ts";
import {
  type CheckV2,
  chunkKinds,
  firstBad,
  isDefined,
  isFilled,
  type KitStageV2,
  notApplicable,
  objectsIn,
  ofKind,
  shown,
  wholeKinds,
  withAnnounced,
  withSessions,
} from "./stage-v2.ts";

const fromStart = { replayFrom: { type: "start" } };

const succeeds = (stage: KitStageV2, method: string, response: JsonObject | undefined): string | undefined =>
  response && isObject(response["result"])
    ? stage.check.result(method, response["result"]) || undefined
    : said(method, response);

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
} as const satisfies Readonly<Record<string, CheckV2>>;
