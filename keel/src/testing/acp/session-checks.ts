/** The checks of sessions, prompts, choices and logging in, by the ids of the table. */
import { mkdirSync, mkdtempSync } from "node:fs";
import path from "node:path";
import { asObject, isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type AcpCheck, endsWell, met } from "./checks.ts";
import { isUpdateOf, type KitStage, promptParts, said, stopReasonOf, updateIn } from "./stage.ts";

const notApplicable = (why: string) => ({ notApplicable: why });

/** Only for who announced it, by the names that lead to it. */
const announced =
  (names: readonly string[], work: (stage: KitStage) => Promise<Awaited<ReturnType<AcpCheck>>>): AcpCheck =>
  async (options) =>
    met(async (stage) => {
      const found = names.reduce<unknown>((at, name) => asObject(at)[name], stage.capabilities);
      return found === undefined || found === null || found === false
        ? notApplicable(`${names.join(".")} is not announced`)
        : work(stage);
    })(options);

const sessionCan = (name: string, work: Parameters<typeof announced>[1]): AcpCheck =>
  announced(["sessionCapabilities", name], work);

const promptCan = (name: string, block: JsonObject): AcpCheck =>
  announced(["promptCapabilities", name], async (stage) => {
    const { sessionId } = await stage.begin();
    return endsWell(`a prompt with ${name}`, await stage.prompt(sessionId, { blocks: [block] }));
  });

const succeeds = (stage: KitStage, method: string, response: JsonObject | undefined): string | undefined =>
  response && "result" in response
    ? stage.check.result(method, response["result"]) || undefined
    : said(method, response);

const takeUp = (stage: KitStage, method: "session/load" | "session/resume", sessionId: string) =>
  stage.peer.request(method, {
    sessionId,
    cwd: stage.options.folder,
    ...(method === "session/load" ? { mcpServers: [] } : {}),
  });

/** A session with a turn in it, taken up on the same connection. */
async function takenUp(stage: KitStage, method: "session/load" | "session/resume") {
  const { sessionId } = await stage.begin();
  await stage.prompt(sessionId);
  const from = stage.peer.lines.length;
  const response = await takeUp(stage, method, sessionId);
  return { sessionId, response, from };
}

const toldKinds: ReadonlySet<unknown> = new Set([
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
]);

const longPromptOf = ({ options }: KitStage): string =>
  options.longPrompt ?? "Count from one to a thousand, one number a line, without a tool.";

async function cancelled(stage: KitStage) {
  const { sessionId } = await stage.begin();
  const response = await stage.prompt(sessionId, {
    words: longPromptOf(stage),
    during: () => {
      stage.peer.isCancelled = true;
      stage.peer.notify("session/cancel", { sessionId });
    },
  });
  return { sessionId, response };
}

const listOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject).map((one) => one as JsonObject) : [];

/** In groups or not. */
const valuesOf = (option: JsonObject): Json[] =>
  listOf(option["options"]).flatMap((one) =>
    "value" in one ? [one["value"] as Json] : listOf(one["options"]).map((inner) => inner["value"] as Json),
  );

const withModes = (
  work: (stage: KitStage, begun: JsonObject & { sessionId: string }) => Promise<string | undefined>,
) =>
  met(async (stage) => {
    const begun = await stage.begin();
    return begun["modes"] == null ? notApplicable("session/new has no modes") : work(stage, begun);
  });

const withOptions = (
  work: (stage: KitStage, begun: JsonObject & { sessionId: string }) => Promise<string | undefined>,
) =>
  met(async (stage) => {
    const begun = await stage.begin();
    return listOf(begun["configOptions"]).length === 0
      ? notApplicable("session/new has no options")
      : work(stage, begun);
  });

export const sessionChecks = {
  "ACP-SESSION-001": met(async (stage) => {
    const begun = await stage.begin();
    return stage.check.result("session/new", begun) || undefined;
  }),
  "ACP-SESSION-002": met(async (stage) => {
    const [first, second] = [await stage.begin(), await stage.begin()];
    return first.sessionId === second.sessionId ? "two sessions have one id" : undefined;
  }),
  "ACP-PROMPT-001": met(async (stage) => {
    const { sessionId } = await stage.begin();
    return endsWell("a prompt", await stage.prompt(sessionId));
  }),
  "ACP-PROMPT-002": met(async (stage) => {
    const { sessionId } = await stage.begin();
    await stage.prompt(sessionId);
    const updates = stage.peer.lines.filter(({ message }) => message?.["method"] === "session/update");
    const foreign = updates.find((line) => !isUpdateOf(line, sessionId));
    if (foreign) return `an update of another session: ${foreign.text.slice(0, 200)}`;
    const wrong = updates.map(({ message }) => stage.check.params("session/update", message?.["params"]));
    return wrong.find((sentence) => sentence !== "");
  }),
  "ACP-PROMPT-003": met(async (stage) => {
    const { sessionId } = await stage.begin();
    const blocks = [promptParts.link];
    return endsWell("a prompt with a link", await stage.prompt(sessionId, { blocks }));
  }),
  "ACP-CANCEL-001": met(async (stage) => {
    const { response } = await cancelled(stage);
    return stopReasonOf(response) === "cancelled" ? undefined : said("a cancelled prompt", response);
  }),
  "ACP-CANCEL-002": met(async (stage) => {
    const { sessionId, response } = await cancelled(stage);
    if (!response) return said("a cancelled prompt", response);
    return (await stage.isQuiet(sessionId, stage.behind(response)))
      ? undefined
      : "an update came after the response";
  }),
  "ACP-LOAD-001": announced(["loadSession"], async (stage) => {
    const { response } = await takenUp(stage, "session/load");
    return succeeds(stage, "session/load", response);
  }),
  "ACP-LOAD-002": announced(["loadSession"], async (stage) => {
    const { sessionId, response } = await takenUp(stage, "session/load");
    if (!response || !("result" in response)) return said("session/load", response);
    return (await stage.isQuiet(sessionId, stage.behind(response)))
      ? undefined
      : "an update came after the response of session/load";
  }),
  "ACP-LOAD-003": announced(["loadSession"], async (stage) => {
    const { sessionId } = await stage.begin();
    const response = await takeUp(stage, "session/load", sessionId);
    return isObject(response?.["result"]) ? undefined : said("session/load", response);
  }),
  "ACP-RESUME-001": sessionCan("resume", async (stage) => {
    const { sessionId } = await stage.begin();
    return succeeds(stage, "session/resume", await takeUp(stage, "session/resume", sessionId));
  }),
  "ACP-RESUME-002": sessionCan("resume", async (stage) => {
    const { sessionId, response, from } = await takenUp(stage, "session/resume");
    if (!response || !("result" in response)) return said("session/resume", response);
    const before = stage.peer.lines.slice(from, stage.behind(response));
    const told = before.find(
      (line) => isUpdateOf(line, sessionId) && toldKinds.has(updateIn(line)["sessionUpdate"]),
    );
    return told && `session/resume told what was said: ${told.text.slice(0, 200)}`;
  }),
  "ACP-LIST-001": sessionCan("list", async (stage) => {
    await stage.begin();
    const response = await stage.peer.request("session/list");
    if (!Array.isArray(asObject(response?.["result"])["sessions"])) return said("session/list", response);
    return succeeds(stage, "session/list", response);
  }),
  "ACP-LIST-002": sessionCan("list", async (stage) => {
    await stage.begin();
    const empty = mkdtempSync(path.join(stage.options.folder, "empty-"));
    const response = await stage.peer.request("session/list", { cwd: empty });
    const { sessions } = asObject(response?.["result"]);
    return Array.isArray(sessions) && sessions.length === 0 ? undefined : said("session/list", response);
  }),
  "ACP-DELETE-001": sessionCan("delete", async (stage) => {
    const { sessionId } = await stage.begin();
    return succeeds(stage, "session/delete", await stage.peer.request("session/delete", { sessionId }));
  }),
  "ACP-DELETE-002": sessionCan("delete", async (stage) => {
    const response = await stage.peer.request("session/delete", { sessionId: "kit-no-such-session" });
    return succeeds(stage, "session/delete", response);
  }),
  "ACP-CLOSE-001": sessionCan("close", async (stage) => {
    const { sessionId } = await stage.begin();
    return succeeds(stage, "session/close", await stage.peer.request("session/close", { sessionId }));
  }),
  "ACP-CLOSE-002": sessionCan("close", async (stage) => {
    const { sessionId } = await stage.begin();
    const response = await stage.prompt(sessionId, {
      words: longPromptOf(stage),
      during: () => {
        stage.peer.isCancelled = true;
        return stage.peer.request("session/close", { sessionId });
      },
    });
    return stopReasonOf(response) === "cancelled"
      ? undefined
      : said("a prompt of a closed session", response);
  }),
  "ACP-ADDDIRS-001": sessionCan("additionalDirectories", async (stage) => {
    const further = path.join(stage.options.folder, "further");
    mkdirSync(further, { recursive: true });
    await stage.begin({ additionalDirectories: [further] });
    return undefined;
  }),
  "ACP-MODES-001": withModes(async (stage, begun) => {
    const wrong = stage.check.result("session/new", begun);
    if (wrong !== "") return wrong;
    const { currentModeId, availableModes } = asObject(begun["modes"]);
    const isOffered = listOf(availableModes).some(({ id }) => id === currentModeId);
    return isOffered ? undefined : `the mode ${String(currentModeId)} is not on offer`;
  }),
  "ACP-MODES-002": withModes(async (stage, { sessionId, modes }) => {
    const { currentModeId, availableModes } = asObject(modes);
    const other = listOf(availableModes).find(({ id }) => id !== currentModeId);
    if (!other) return undefined;
    const response = await stage.peer.request("session/set_mode", { sessionId, modeId: String(other["id"]) });
    if (!response || !("result" in response)) return said("session/set_mode", response);
    const told = await stage.peer.wait(
      (line) => isUpdateOf(line, sessionId) && updateIn(line)["sessionUpdate"] === "current_mode_update",
      { ms: stage.peer.limits.quietMs },
    );
    return !told || "currentModeId" in updateIn(told)
      ? undefined
      : `the update is ${told.text.slice(0, 200)}`;
  }),
  "ACP-CONFIG-001": withOptions(async (_, { configOptions }) => {
    const bad = listOf(configOptions).find((option) =>
      option["type"] === "boolean"
        ? typeof option["currentValue"] !== "boolean"
        : !valuesOf(option).includes(option["currentValue"] as Json),
    );
    return bad && `the option ${String(bad["id"])} has the value ${String(bad["currentValue"])}`;
  }),
  "ACP-CONFIG-002": withOptions(async (stage, { sessionId, configOptions }) => {
    const options = listOf(configOptions);
    const found = options.flatMap((option) => {
      const other = valuesOf(option).find((value) => value !== option["currentValue"]);
      return other === undefined ? [] : [{ id: String(option["id"]), value: other }];
    })[0];
    if (!found) return undefined;
    const { id, value } = found;
    const response = await stage.peer.request("session/set_config_option", {
      sessionId,
      configId: id,
      value,
    });
    const after = listOf(asObject(response?.["result"])["configOptions"]);
    const missing = options.find((option) => after.every((one) => one["id"] !== option["id"]));
    if (missing) return said(`without the option ${String(missing["id"])}`, response);
    const isSet = after.some((option) => option["id"] === id && option["currentValue"] === value);
    return isSet ? undefined : said("the new value is not told", response);
  }),
  "ACP-CONFIG-003": met(async (stage) => {
    const { configOptions } = await stage.begin();
    const bad = listOf(configOptions).find(({ type }) => type === "boolean");
    return bad && `the option ${String(bad["id"])} is yes-or-no`;
  }),
  "ACP-PROMPTCAP-001": promptCan("image", promptParts.image),
  "ACP-PROMPTCAP-002": promptCan("audio", promptParts.audio),
  "ACP-PROMPTCAP-003": promptCan("embeddedContext", promptParts.resource),
  "ACP-AUTH-001": met(async ({ authMethods }) => {
    const ids = authMethods.map(({ id }) => id);
    return new Set(ids).size === ids.length ? undefined : "two ways to log in have one id";
  }),
  "ACP-AUTH-002": met(async ({ authMethods }) =>
    authMethods.some(({ type }) => type === "terminal") ? "a way to log in needs a terminal" : undefined,
  ),
  "ACP-AUTH-003": met(async (stage) => {
    const { authMethod } = stage.options;
    if (stage.authMethods.length === 0 || authMethod === undefined)
      return notApplicable("no way to log in is named");
    const response = await stage.peer.request("authenticate", { methodId: authMethod });
    if (!isObject(response?.["result"])) return notApplicable(said("authenticate", response));
    const { folder } = stage.options;
    const begun = await stage.peer.request("session/new", { cwd: folder, mcpServers: [] });
    return asObject(begun?.["error"])["code"] === -32_000 ? said("session/new", begun) : undefined;
  }),
  "ACP-AUTH-004": announced(["auth", "logout"], async (stage) => {
    if (stage.options.logout !== "allowed") return notApplicable("logout is not allowed here");
    const response = await stage.peer.request("logout");
    return isObject(response?.["result"]) ? undefined : said("logout", response);
  }),
  "ACP-AUTH-005": met(async (stage) => {
    if (stage.authMethods.length > 0) return notApplicable("there are ways to log in");
    await stage.begin();
    return undefined;
  }),
} as const satisfies Readonly<Record<string, AcpCheck>>;
