/** The methods of the protocol, in each version, each joined to what does it. Nothing is decided here. */
import type {
  LoadSessionResponse,
  NewSessionResponse,
  PromptResponse,
  SetSessionConfigOptionResponse,
} from "@agentclientprotocol/sdk";
import type {
  NewSessionResponse as NewSessionResponseV2,
  PromptResponse as PromptResponseV2,
  ResumeSessionResponse as ResumeSessionResponseV2,
  SetSessionConfigOptionResponse as SetOptionResponseV2,
} from "@agentclientprotocol/sdk/experimental/v2";
import { fault } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { methodNotFound, type RpcCall, type RpcHandler, type RpcReply } from "../../transport/json-rpc.ts";
import { isLoginMethod } from "./capabilities.ts";
import type { EditorSession } from "./editor-session.ts";
import { replyOf } from "./errors.ts";
import { configOf, modesOf } from "./options.ts";
import { forms, promptBlocks, read, readPage, traceIn, wantedBy } from "./params.ts";
import type { EditorSessions } from "./sessions.ts";
import { configV2 } from "./v2.ts";

type Method = (params: unknown, signal: AbortSignal) => Promise<RpcReply>;
type Methods = Readonly<Record<string, Method>>;

const said = <T extends object>(result: T, after?: () => void): RpcReply => ({ result, after });
const nothing = said({});

/** What holds in both versions. */
const shared = (sessions: EditorSessions): Methods => ({
  "session/list": async (params) => said(await sessions.list(readPage(params))),
  "session/close": async (params) => {
    await sessions.close(read(forms.session, params).sessionId);
    return nothing;
  },
  "session/delete": async (params) => {
    await sessions.delete(read(forms.session, params).sessionId);
    return nothing;
  },
});

const login: Method = async (params) => {
  const { methodId } = read(forms.login, params);
  if (!isLoginMethod(methodId))
    throw fault("usage", { reason: `There is no way to log in called ${methodId}.` });
  return nothing;
};

/** An editor that does not know a session yet would not know whom an update is about. */
const begun = (session: EditorSession) => (): void => {
  session.listen();
  void session.tellCommands();
};

const stateV1 = async (session: EditorSession): Promise<LoadSessionResponse> => {
  const choices = await session.choices();
  return { modes: modesOf(choices), configOptions: configOf(choices) };
};

export const methodsV1 = (sessions: EditorSessions): Methods => {
  const newSession = async (session: EditorSession): Promise<RpcReply> =>
    said<NewSessionResponse>({ sessionId: session.id, ...(await stateV1(session)) }, begun(session));
  return {
    ...shared(sessions),
    authenticate: login,
    "session/new": async (params) =>
      newSession(await sessions.begin(wantedBy(read(forms.begin, params), "later"))),
    "session/load": async (params) => {
      const given = read(forms.takeUp, params);
      const session = await sessions.takeUp(given.sessionId, wantedBy(given, "later"));
      await session.replay();
      return said(await stateV1(session), () => session.listen());
    },
    "session/resume": async (params) => {
      const given = read(forms.takeUp, params);
      const session = await sessions.takeUp(given.sessionId, wantedBy(given, "later"));
      await session.takeUp();
      await session.tellCommands();
      return said(await stateV1(session), () => session.listen());
    },
    // Not in the stable part of the protocol yet.
    "session/fork": async (params) => {
      const given = read(forms.takeUp, params);
      return newSession(await sessions.fork(given.sessionId, wantedBy(given, "later")));
    },
    "session/prompt": async (params, signal) => {
      const given = read(forms.prompt, params);
      const session = sessions.get(given.sessionId);
      const { stopReason, error } = await session.prompt(promptBlocks(given), signal, traceIn(given));
      return error ? { error } : said<PromptResponse>({ stopReason });
    },
    "session/set_mode": async (params) => {
      const { sessionId, modeId } = read(forms.setMode, params);
      await sessions.get(sessionId).choose("mode", modeId);
      return nothing;
    },
    "session/set_config_option": async (params) => {
      const { sessionId, configId, value } = read(forms.setOption, params);
      const choices = await sessions.get(sessionId).choose(configId, value);
      return said<SetSessionConfigOptionResponse>({ configOptions: configOf(choices) });
    },
  };
};

export const methodsV2 = (sessions: EditorSessions): Methods => {
  const stateV2 = async (session: EditorSession): Promise<ResumeSessionResponseV2> => ({
    configOptions: configV2(await session.choices()),
  });
  return {
    ...shared(sessions),
    "auth/login": login,
    // A key is where the person put it: there is nothing to forget.
    "auth/logout": async () => nothing,
    "session/new": async (params) => {
      const session = await sessions.begin(wantedBy(read(forms.begin, params), "refused"));
      const result: NewSessionResponseV2 = { sessionId: session.id, ...(await stateV2(session)) };
      return said(result, begun(session));
    },
    "session/resume": async (params) => {
      const given = read(forms.resume, params);
      const from = given.replayFrom?.type;
      if (from !== undefined && from !== "start")
        throw fault("usage", { reason: `Nothing can be told from ${from} on.` });
      const session = await sessions.takeUp(given.sessionId, wantedBy(given, "refused"));
      if (from === "start") await session.replay();
      else {
        await session.takeUp();
        await session.tellCommands();
      }
      session.tellState();
      return said(await stateV2(session), () => session.listen());
    },
    "session/prompt": async (params) => {
      const given = read(forms.prompt, params);
      const messageId = await sessions.get(given.sessionId).accept(promptBlocks(given), traceIn(given));
      return said<PromptResponseV2>({ messageId });
    },
    "session/set_config_option": async (params) => {
      const { sessionId, configId, value } = read(forms.setOption, params);
      const choices = await sessions.get(sessionId).choose(configId, value);
      return said<SetOptionResponseV2>({ configOptions: configV2(choices) });
    },
  };
};

export const agentOf = (sessions: EditorSessions, methods: Methods): RpcHandler => ({
  request: ({ method, params, signal }: RpcCall) => {
    const called = Object.hasOwn(methods, method) ? methods[method] : undefined;
    return called ? replyOf(() => called(params, signal)) : methodNotFound(method);
  },
  // One that is not open has nothing to cancel, and a notification has no answer.
  notice: (method, params) => {
    const { sessionId } = asObject(params);
    if (method === "session/cancel" && typeof sessionId === "string") sessions.find(sessionId)?.cancel();
  },
});
