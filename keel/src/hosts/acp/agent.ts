/** The methods of the protocol, each joined to what does it. Nothing is decided here. */
import {
  type AgentApp,
  type AgentContext,
  agent,
  type JsonRpcId,
  RequestError,
} from "@agentclientprotocol/sdk";
import { asObject } from "../../kernel/json.ts";
import { type EditorAbilities, editorOf, initializeResponse, keyMethod } from "./capabilities.ts";
import type { EditorSession } from "./editor-session.ts";
import { errorOf } from "./errors.ts";
import type { Outbox } from "./outbox.ts";
import type { EditorSessions, WantedSession } from "./sessions.ts";

export type AgentOptions = {
  readonly version: string;
  readonly outbox: Outbox;
  /** Called once, when the editor has said what it can. */
  sessions(editor: EditorAbilities, client: AgentContext): EditorSessions;
};

export function acpAgent({ version, outbox, sessions: openSessions }: AgentOptions): AgentApp {
  let sessions: EditorSessions | undefined;
  // The library refuses every other method before.
  const opened = (): EditorSessions => {
    if (!sessions) throw RequestError.invalidRequest();
    return sessions;
  };
  const known = (id: string): EditorSession => opened().get(id);
  /** An editor that does not know a session yet would not know whom an update is about. */
  const begun = async (session: EditorSession, requestId: JsonRpcId) => {
    outbox.after(requestId, () => {
      session.listen();
      void session.tellCommands();
    });
    return { sessionId: session.id, ...(await session.state()) };
  };
  const takenUp = async (session: EditorSession, requestId: JsonRpcId) => {
    outbox.after(requestId, () => session.listen());
    return session.state();
  };

  return agent({ name: "keel" })
    .onRequest("session/prompt", ({ params, signal }) =>
      told(async () => known(params.sessionId).prompt(params.prompt, signal)),
    )
    .onRequest("initialize", ({ params, client }) => {
      sessions ??= openSessions(editorOf(params.clientCapabilities), client);
      return initializeResponse(params, version);
    })
    .onRequest("authenticate", ({ params: { methodId } }) => {
      if (methodId !== keyMethod && methodId !== "keep-key")
        throw RequestError.invalidParams({ methodId }, "there is no such way to log in");
      return {};
    })
    .onRequest("session/new", ({ params, requestId }) =>
      told(async () => begun(await opened().begin(params), requestId)),
    )
    .onRequest("session/load", ({ params, requestId }) =>
      told(async () => {
        const session = await opened().takeUp(params.sessionId, params);
        await session.replay();
        return takenUp(session, requestId);
      }),
    )
    .onRequest("session/resume", ({ params, requestId }) =>
      told(async () => {
        const session = await opened().takeUp(params.sessionId, params);
        await session.takeUp();
        await session.tellCommands();
        return takenUp(session, requestId);
      }),
    )
    .onRequest("session/fork", forkParams, ({ params, requestId }) =>
      told(async () => begun(await opened().fork(params.sessionId, params), requestId)),
    )
    .onRequest("session/list", ({ params }) => told(() => opened().list(params)))
    .onRequest("session/close", ({ params }) => told(async () => emptied(opened().close(params.sessionId))))
    .onRequest("session/delete", ({ params }) => told(async () => emptied(opened().delete(params.sessionId))))
    .onRequest("session/set_mode", ({ params: { sessionId, modeId } }) =>
      told(async () => emptied(known(sessionId).choose("mode", modeId))),
    )
    .onRequest("session/set_config_option", ({ params }) =>
      told(async () => ({
        configOptions: await known(params.sessionId).choose(params.configId, params.value),
      })),
    )
    .onNotification("session/cancel", ({ params }) => {
      // One that is not open has nothing to cancel, and a notification has no answer.
      sessions?.find(params.sessionId)?.cancel();
    });
}

const emptied = async (work: Promise<unknown>): Promise<Record<string, never>> => {
  await work;
  return {};
};

/** Every failure is one of the protocol's errors. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

/** The stable part of the library has no form for it yet. */
function forkParams(given: unknown): WantedSession & { readonly sessionId: string } {
  const { sessionId, cwd, additionalDirectories, mcpServers } = asObject(given);
  if (typeof sessionId !== "string" || typeof cwd !== "string") throw RequestError.invalidParams();
  const list = <T>(value: unknown): T[] => (Array.isArray(value) ? value : []);
  return { sessionId, cwd, additionalDirectories: list(additionalDirectories), mcpServers: list(mcpServers) };
}
