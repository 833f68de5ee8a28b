/** Opens a session for a program: everything that a query needs and that is too heavy to load before one is made. */
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import type { FindMessage } from "../../app/sessions/which-session.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import { projectKeyOf } from "../../kernel/path.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import type { Receipt } from "../../protocol/command.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import type { SessionOptions } from "../../protocol/options.ts";
import { noUsage } from "../../protocol/usage.ts";
import { toUsage } from "../dialect/blocks.ts";
import { MessageEmitter, type Outlet } from "../dialect/message-emitter.ts";
import type { SDKResultError } from "../messages/messages.ts";
import { inputOf, type UserMessage } from "../messages/read-content.ts";
import { answerWith, type CanUseTool, type PermissionResult } from "../options/callbacks.ts";
import { openOptionsOf } from "../options/open-options.ts";
import type { Options } from "../options/options.ts";
import { Mirror, restored } from "../stored/mirror.ts";
import { placeOfMessage } from "../stored/stored-messages.ts";
import { callTool } from "../tools/call-tool.ts";
import { definitionNamed } from "../tools/mcp-server.ts";
import { SessionServers } from "../tools/servers.ts";
import { version } from "../version.ts";
import type { ConversationHome, FindHome } from "./homes.ts";
import type { ServedSession } from "./served.ts";

export type OpenedConversation = {
  readonly session: OpenSession;
  readonly emitter: MessageEmitter;
  readonly mirror: Mirror | undefined;
  readonly servers: SessionServers;
  /** Throws `usage` for a block that is none. */
  contentOf(message: string | UserMessage): InputBlock[];
  say(content: InputBlock[], more: Said): Promise<void>;
};

type Said = {
  readonly when: "now" | "after" | "with-next";
  readonly id: string | undefined;
  /** A slash and an `@` mean nothing. */
  readonly verbatim: boolean;
  readonly origin?: UserMessage["origin"];
};

export type MessageListener = {
  readonly out: Outlet;
  /** Ids that the program itself gave. */
  readonly named: ReadonlySet<string>;
  /** Given the session once its messages are told: whoever listens too hears an event after them. */
  heard(session: OpenSession): void;
  /** The program reads too slowly. */
  tooSlow(): void;
  readonly findHome: FindHome;
};

/** Throws what keeps it from opening. */
export async function openFor(
  given: Options,
  { out, named, heard, tooSlow, findHome }: MessageListener,
): Promise<OpenedConversation> {
  const options = given.extraArgs
    ? await (await import("../options/extra-args.ts")).withExtraArgs(given)
    : given;
  const wanted = openOptionsOf(options, { version, processEnv: process.env });
  const home = await findHome(wanted);
  const known = await restored(options, { cwd: wanted.cwd, sessions: home.sessions });
  const session = await openHere(options, wanted, home);
  const emitter = new MessageEmitter(session, { options, named, out });
  const mirror = mirrorOf(options, { session, known, emitter });
  await emitter.catchUp();
  if (options.resume !== undefined || options.continue) await emitter.replayHistory();
  mirror?.follow(session);
  const servers: SessionServers = new SessionServers(session, {
    given: options.mcpServers,
    changed: () => emitter.showServers(servers.states()),
  });
  let hasBegun = false;
  // Before its first turn a program has not been told of anything that could change.
  session.mcp.onChange(() => hasBegun && emitter.showServers(servers.states()));
  session.onEvent((envelope) => {
    // Servers come and go: each turn says which there are.
    if (envelope.type === "turn.started" && !envelope.origin) {
      emitter.showServers(servers.states());
      hasBegun = true;
    }
    if (!emitter.emit(envelope)) tooSlow();
  });
  // What others say and hear there counts too, and is told to them.
  if ("onOther" in session) session.onOther((envelope) => emitter.passOver(envelope));
  heard(session);
  for (const { text: words } of session.notices) options.stderr?.(`${words}\n`);
  answerWith(session, {
    canUseTool: answererOf(options, session),
    onElicitation: options.onElicitation,
    sourceOf: (server) => servers.sourceOf(server),
    tell: (problem) => emitter.emitProblem(problem),
  });
  return {
    session,
    emitter,
    mirror,
    servers,
    contentOf: (message) => (typeof message === "string" ? [text(message)] : inputOf(message)),
    async say(content, more) {
      const receipt = await say(session, content, more);
      if (more.origin && receipt.type === "accepted") emitter.noteOrigin(receipt.inputId, more.origin);
    },
  };
}

/** A session of this process, or one that the server has. */
async function openHere(
  options: Options,
  wanted: OpenOptions,
  home: ConversationHome,
): Promise<OpenSession | ServedSession> {
  const which = await whichOf(options, wanted, home);
  try {
    return await home.open({ ...wanted, which });
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== "session_served" || !home.join) throw thrown;
    const { openServed } = await import("./served.ts");
    const join = home.join.bind(home);
    return openServed(options, { join, id: String(thrown.detail["session"]), wanted });
  }
}

async function say(
  session: OpenSession,
  content: InputBlock[],
  { when, id, verbatim }: Said,
): Promise<Receipt> {
  const named = id === undefined ? {} : { id };
  return session.submit({ type: "input", content, when, ...named, ...(verbatim ? { words: "as-is" } : {}) });
}

/** Where there is nothing yet to go on with, a session begins. */
export async function whichOf(
  { resumeSessionAt: uuid, sessionId: id }: SessionOptions,
  { which, cwd }: OpenOptions,
  { sessions }: ConversationHome,
): Promise<OpenOptions["which"]> {
  if (which === undefined || which.kind === "new") return which;
  if (which.from === "newest") {
    // A sub-agent's session belongs to its parent; those of others are not looked at where the newest is nobody's.
    const isOwn = ({ parent }: { parent?: unknown }): boolean => parent === undefined;
    const isThere = async (limit?: number): Promise<boolean> =>
      (await sessions.list({ cwd, limit })).some(isOwn);
    if (!(await isThere(1)) && !(await isThere())) return { kind: "new", id };
  }
  return uuid === undefined ? which : { ...which, at: messageNamed(uuid) };
}

const messageNamed =
  (uuid: string): FindMessage =>
  async (log, sessionId) => {
    const place = await placeOfMessage(log, { sessionId, uuid });
    if (!place) throw fault("usage", { reason: `The session has no message ${uuid}.` });
    return place;
  };

function mirrorOf(
  { sessionStore, sessionStoreFlush: flush = "batched" }: Options,
  { session, known, emitter }: { session: OpenSession; known: number; emitter: MessageEmitter },
): Mirror | undefined {
  if (!sessionStore) return undefined;
  const key = { projectKey: projectKeyOf(session.info.cwd), sessionId: session.id };
  const failed = (error: string): void => emitter.emitMirrorError(error, key);
  return new Mirror(sessionStore, { key, flush, known, failed });
}

/** Who answers asks: the callback, the tool of `permissionPromptToolName`, or nobody. */
function answererOf(options: Options, session: OpenSession): CanUseTool | undefined {
  if (options.permissionPrompts === "none") return undefined;
  return options.canUseTool ?? promptTool(options, session);
}

/** A question may wait for a person behind the tool. */
const promptToolMs = 24 * 60 * 60 * 1000;

/** A tool of the program's own server, or of one outside of it. */
export function promptTool(
  { permissionPromptToolName: name, mcpServers }: Options,
  session: Pick<OpenSession, "callTool">,
): CanUseTool | undefined {
  if (name === undefined) return undefined;
  const definition = definitionNamed(mcpServers, name);
  return async (toolName, asked, { signal, toolUseID }) => {
    const input = { tool_name: toolName, input: asked as JsonObject, tool_use_id: toolUseID };
    const call = { tool: name, input, permission: "own", timeoutMs: promptToolMs } as const;
    const { content, failed } = definition
      ? await callTool(definition, input, { callId: toolUseID, signal, progress: () => undefined })
      : await session.callTool(call);
    const words = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    if (failed) throw fault("usage", { reason: words });
    return readAnswer(words);
  };
}

function readAnswer(words: string): PermissionResult {
  const answer: unknown = JSON.parse(words);
  if (!isObject(answer)) throw fault("usage", { reason: "its answer is no object." });
  if (answer["behavior"] === "deny")
    return { behavior: "deny", message: String(answer["message"] ?? "Refused.") };
  if (answer["behavior"] !== "allow")
    throw fault("usage", { reason: "its answer is neither allow nor deny." });
  const { updatedInput } = answer;
  return { behavior: "allow", ...(isObject(updatedInput) ? { updatedInput } : {}) };
}

/** A session that could not be opened, told as the interface tells it: one failed result and nothing before it. */
export function failedStart({ message, sessionId }: { message: string; sessionId: string }): SDKResultError {
  return {
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    uuid: uuidFrom(`failed start of ${sessionId}`),
    session_id: sessionId,
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    total_cost_usd: 0,
    usage: toUsage(noUsage),
    modelUsage: {},
    permission_denials: [],
    errors: [message],
  };
}
