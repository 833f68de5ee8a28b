/** The checks of version 2 that are about the meeting, logging in and what is announced, by their ids. */
import { asObject, isObject, type JsonObject } from "../../kernel/json.ts";
import { type AcpKitOptions, said } from "./stage.ts";
import {
  type CheckV2,
  errorIn,
  isDefined,
  isFilled,
  KitStageV2,
  metV2,
  notApplicable,
  objectsIn,
  shown,
  withSessions,
} from "./stage-v2.ts";

/** Met and asked for whatever version is to be tried. */
const probe = async (options: AcpKitOptions, version: number): Promise<JsonObject | undefined> => {
  await using stage = await KitStageV2.open(options);
  return await stage.meet(version);
};

const versionIn = (response: JsonObject | undefined): unknown =>
  asObject(response?.["result"])["protocolVersion"];

const capabilityNames: readonly (readonly string[])[] = [
  ["session"],
  ["session", "prompt"],
  ["session", "prompt", "image"],
  ["session", "prompt", "audio"],
  ["session", "prompt", "embeddedContext"],
  ["session", "mcp"],
  ["session", "mcp", "stdio"],
  ["session", "mcp", "http"],
  ["session", "delete"],
  ["session", "additionalDirectories"],
  ["auth"],
];
/** Those of the stable part of the draft, and of what is still tried out. */
const knownRoots = new Set(["session", "auth", "providers", "nes", "positionEncoding", "_meta"]);

const terminalMethods = (stage: KitStageV2): JsonObject[] =>
  stage.authMethods.filter(({ type }) => type === "terminal");

function badTerminalMethod({ methodId, args = [], env = [] }: JsonObject): string | undefined {
  const isList = Array.isArray(args) && args.every((one) => typeof one === "string");
  const variables = objectsIn(env);
  const isWhole =
    Array.isArray(env) &&
    variables.length === env.length &&
    variables.every(({ name, value }) => typeof name === "string" && typeof value === "string");
  const isOnce = new Set(variables.map(({ name }) => name)).size === variables.length;
  return isList && isWhole && isOnce ? undefined : `the way ${String(methodId)} is not whole`;
}

export const meetingChecksV2 = {
  "ACP-INIT-001": async (options) => {
    const response = await probe(options, 2);
    return isObject(response?.["result"]) ? undefined : said("initialize", response);
  },
  "ACP-INIT-201": async (options) => {
    const version = versionIn(await probe(options, 2));
    const newest = versionIn(await probe(options, 65_535));
    const isRight = Number.isInteger(version) && (version === 2 || version === newest);
    return isRight ? undefined : `asked for 2 it says ${shown(version)}, asked for more ${shown(newest)}`;
  },
  "ACP-INIT-003": async (options) => {
    const usual = Number(versionIn(await probe(options, 2)));
    const response = await probe(options, 65_535);
    const version = versionIn(response);
    const isRight = Number.isInteger(version) && version !== 65_535 && Number(version) >= usual;
    return isRight ? undefined : said("initialize with 65535", response);
  },
  "ACP-INIT-202": async (options) => {
    const response = await probe(options, 1);
    const version = versionIn(response);
    return version === 1 || version === 2 ? undefined : said("initialize with 1", response);
  },
  "ACP-INIT-203": metV2(async ({ initialized }) => {
    const { name, version } = asObject(initialized["info"]);
    return isFilled(name) && isFilled(version) ? undefined : "it does not say its name and version";
  }),
  "ACP-INIT-204": metV2(async (stage) => {
    const { capabilities } = stage.initialized;
    if (capabilities !== undefined && !isObject(capabilities)) return `it announces ${shown(capabilities)}`;
    const bad = capabilityNames.find((names) => {
      const value = stage.announced(...names);
      return value != null && !isObject(value);
    });
    return bad && `${bad.join(".")} is ${shown(stage.announced(...bad))}`;
  }),
  "ACP-SCHEMA-001": metV2(async (stage) => {
    const wrong = stage.peer.lines.flatMap(({ message, text }) => {
      if (!message) return [`no message: ${text.slice(0, 100)}`];
      if (typeof message["method"] === "string")
        return [stage.check.params(message["method"], message["params"])];
      return "result" in message ? [stage.check.result("initialize", message["result"])] : [];
    });
    return wrong.find((sentence) => sentence !== "");
  }),
  "ACP-SCHEMA-002": withSessions(async (stage) => {
    const methods = new Map<unknown, string>();
    const ask = (method: string, params: JsonObject): Promise<JsonObject | undefined> => {
      const id = `schema-${methods.size}`;
      methods.set(id, method);
      return stage.peer.request(method, params, id);
    };
    const begun = await ask("session/new", { cwd: stage.options.folder });
    const sessionId = String(asObject(begun?.["result"])["sessionId"]);
    await ask("session/list", {});
    await stage.turn(sessionId);
    await ask("session/close", { sessionId });
    const found = stage.peer.lines.flatMap(({ messages }) =>
      messages.flatMap((message) => {
        const { method, id } = message;
        if (typeof method === "string") return stage.check.strangers(method, "params", message["params"]);
        return stage.check.strangers(methods.get(id) ?? "", "result", message["result"]);
      }),
    );
    const own = Object.keys(stage.initialized).filter(
      (key) => !["protocolVersion", "info", "capabilities", "authMethods", "_meta"].includes(key),
    );
    const [first] = [...own, ...found];
    return first && `a message has the field ${first}`;
  }),
  "ACP-AUTH-201": metV2(async ({ authMethods }) => {
    const ids = authMethods.map(({ methodId }) => methodId);
    return new Set(ids).size === ids.length ? undefined : "two ways to log in have one id";
  }),
  "ACP-AUTH-202": metV2(async (stage) =>
    terminalMethods(stage).length > 0 ? "a way to log in needs a terminal" : undefined,
  ),
  "ACP-AUTH-203": metV2(async (stage) => {
    if (stage.authMethods.length === 0) return notApplicable("there are no ways to log in");
    if (stage.options.logout !== "allowed") return notApplicable("logout is not allowed here");
    const response = await stage.peer.request("auth/logout");
    if (!isObject(response?.["result"])) return said("auth/logout", response);
    return stage.check.result("auth/logout", response["result"]) || undefined;
  }),
  "ACP-AUTH-204": metV2(async (stage) => {
    const { authMethod, folder } = stage.options;
    if (stage.authMethods.length === 0 || authMethod === undefined)
      return notApplicable("no way to log in is named");
    const response = await stage.logIn();
    if (errorIn(response)?.["code"] === -32_601) return said("auth/login", response);
    const begun = await stage.peer.request("session/new", { cwd: folder });
    return errorIn(begun)?.["code"] === -32_000 ? said("session/new", begun) : undefined;
  }),
  "ACP-AUTH-205": metV2(async (stage) => {
    if (stage.authMethods.length > 0) return notApplicable("there are ways to log in");
    await stage.begin();
    return undefined;
  }),
  "ACP-AUTH-206": metV2(async ({ authMethods }) => {
    const bad = authMethods.find(({ type }) => !isDefined(type, ["agent", "terminal"]));
    return bad && `a way to log in is of the kind ${shown(bad["type"])}`;
  }),
  "ACP-AUTH-207": metV2(
    async (stage) => {
      const methods = terminalMethods(stage);
      if (methods.length === 0) return notApplicable("no way to log in is by a terminal");
      return methods.map(badTerminalMethod).find((bad) => bad !== undefined);
    },
    { auth: { terminal: {} } },
  ),
  "ACP-EXT-202": metV2(async ({ initialized }) => {
    const strange = Object.keys(asObject(initialized["capabilities"])).find((key) => !knownRoots.has(key));
    return strange && `it announces ${strange} beside _meta`;
  }),
} as const satisfies Readonly<Record<string, CheckV2>>;
