/** `query()`: a session in this process, as an iterator of messages with the methods of the interface. */

import { fault } from "../../kernel/fault.ts";
import { Queue } from "../../kernel/queue.ts";
import { shorten } from "../../kernel/text.ts";
import type { PermissionMode, ThinkingMode } from "../../protocol/settings.ts";
import { throwing } from "../dialect/failed-result.ts";
import type { SDKMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { Options } from "../options/options.ts";
import { read, runsApart, startApart } from "../process/apart.ts";
import { serverRule } from "../tools/mcp-server.ts";
import { Conversation, maxWaiting, type Prompt } from "./conversation.ts";
import { inquiriesOf, settingsOf } from "./inquiries.ts";
import { describeSession } from "./introspection.ts";
import type { Query, QueryControls, QueryMethods, RewindFilesResult } from "./query-methods.ts";
import type { SDKControlInitializeResponse } from "./responses.ts";

export function query({ prompt, options = {} }: { prompt: Prompt; options?: Options }): Query {
  warnOfShadowedCallback(options);
  return begin(options).query(prompt);
}

/** A session of this process, or one apart: its one prompt may come later. */
export function begin(options: Options): {
  /** Opens it. Throws what kept it from opening. */
  introduced(): Promise<unknown>;
  query(prompt: Prompt): Query;
  close(): Promise<void>;
} {
  const out = new Queue<SDKMessage>({ limit: maxWaiting });
  if (runsApart(options)) return startApart(options, out);
  const conversation = new Conversation(options, throwing(out));
  return {
    introduced: () => conversation.open(),
    query(prompt) {
      void conversation.live(prompt);
      return queryOf(conversation, out);
    },
    close: () => conversation.close(),
  };
}

export function queryOf(conversation: Conversation, out: Queue<SDKMessage>): Query {
  const close = (): Promise<void> => conversation.close();
  return Object.assign(read(out, close), { ...methodsOf(conversation), [Symbol.asyncDispose]: close });
}

export function methodsOf(conversation: Conversation): QueryMethods {
  const describe = async (): Promise<SDKControlInitializeResponse> =>
    describeSession(await conversation.open());
  return {
    async interrupt({ cancelQueued = false }: { cancelQueued?: boolean } = {}) {
      const receipt = await conversation.submit({ type: "interrupt", dropQueued: cancelQueued });
      if (receipt.type !== "interrupted") return { still_queued: [] };
      const { stillQueued, dropped } = receipt;
      return { still_queued: stillQueued, ...(dropped.length > 0 ? { cancelled: dropped } : {}) };
    },
    setPermissionMode: (permissionMode: PermissionMode) => conversation.set({ permissionMode }),
    setModel: (model?: string) => conversation.setModel(model),
    setMaxThinkingTokens: (tokens: number | null) => conversation.set({ thinking: thinkingWithin(tokens) }),
    rewindFiles: (id: string, { dryRun = false }: { dryRun?: boolean } = {}) =>
      rewind(conversation, { checkpoint: id, preview: dryRun }),
    streamInput: (input: AsyncIterable<UserMessage>) => conversation.send(input),
    ...controlsOf(conversation),
    ...inquiriesOf(conversation),
    initializationResult: describe,
    reinitialize: describe,
    supportedCommands: async () => (await describe()).commands,
    supportedModels: async () => (await describe()).models,
    supportedAgents: async () => (await describe()).agents,
    accountInfo: async () => (await describe()).account,
    async getContextUsage() {
      const { contextUsage } = await import("./context-usage.ts");
      return contextUsage(await conversation.open(), (await conversation.servers()).states());
    },
    async stopTask(taskId: string) {
      await conversation.submit({ type: "stop", taskId });
    },
    async backgroundTasks(callId?: string) {
      const request = { type: "background" as const, ...(callId === undefined ? {} : { callId }) };
      const receipt = await conversation.submit(request);
      return receipt.type === "backgrounded" && receipt.callIds.length > 0;
    },
    close: () => void conversation.close(),
  };
}

async function rewind(
  conversation: Conversation,
  { checkpoint, preview }: { checkpoint: string; preview: boolean },
): Promise<RewindFilesResult> {
  const receipt = await conversation.submit({ type: "rewind", checkpoint, preview });
  if (receipt.type !== "rewound") return { canRewind: false };
  if (!preview) return { canRewind: true, skippedLinks: receipt.skipped.length };
  const sum = (of: "insertions" | "deletions"): number =>
    receipt.files.reduce((total, file) => total + file[of], 0);
  return {
    canRewind: true,
    filesChanged: receipt.files.map(({ path }) => path),
    insertions: sum("insertions"),
    deletions: sum("deletions"),
  };
}

function controlsOf(conversation: Conversation): QueryControls {
  return {
    mcpServerStatus: async () => (await conversation.servers()).states(),
    setMcpServers: async (servers) => (await conversation.servers()).set(servers),
    async setMcpPermissionModeOverride(name, mode) {
      const change = mode === "default" ? "add" : "remove";
      const rules = [serverRule(name)];
      const session = await conversation.open();
      await session.changePermissions([{ type: "rules", change, list: "ask", rules, to: "session" }]);
      const known = (await conversation.servers()).states().some((server) => server.name === name);
      return known ? {} : { warning: `No server is called ${name} so far.` };
    },
    toggleMcpServer: async (name, enabled) => (await conversation.servers()).toggle(name, enabled),
    reconnectMcpServer: async (name) => (await conversation.servers()).reconnect(name),
    applyFlagSettings: async (settings) => (await conversation.open()).updateSettings("flags", settings),
    renameSession: (title) => conversation.set({ title }),
    async generateSessionTitle(description, { persist = false } = {}) {
      const title = titleFrom(description);
      if (persist && title !== null) await conversation.set({ title });
      return title;
    },
    getSettings: async () => settingsOf(await conversation.open()),
    async updateSettings(destination, settings) {
      const to = destinations[destination];
      if (!to) throw fault("usage", { reason: `Settings are not written to ${destination}.` });
      await (await conversation.open()).updateSettings(to, settings);
    },
    async readFile(name, { maxBytes = maxFileBytes, encoding = "utf8" } = {}) {
      const read = await (await conversation.open()).readFile(name, { maxBytes: maxFileBytes });
      if (!read) return null;
      const bytes = Buffer.from(read.bytes).subarray(0, maxBytes);
      const about = {
        absPath: read.path,
        requested_path: name,
        ...(bytes.length < read.bytes.length ? { truncated: true } : {}),
      };
      if (encoding === "base64") return { contents: bytes.toString("base64"), encoding, ...about };
      const contents = bytes.toString("utf8");
      return { contents, lossy: !bytes.equals(Buffer.from(contents)), ...about };
    },
  };
}

/** The first line that says something, in the length of a line of a list. */
function titleFrom(description: string): string | null {
  const [line] = description.split("\n").flatMap((one) => one.trim() || []);
  return line === undefined ? null : shorten(line, maxTitleLetters);
}

const maxTitleLetters = 60;
const maxFileBytes = 10_000_000;

const destinations: Readonly<Record<string, "local" | "user" | undefined>> = {
  localSettings: "local",
  userSettings: "user",
};

/** Null takes a word about it back. */
function thinkingWithin(tokens: number | null): ThinkingMode {
  if (tokens === null) return { kind: "usual" };
  return tokens > 0 ? { kind: "budget", tokens } : { kind: "off" };
}

/** By which programs of the interface find the warning, or leave it out. */
const shadowed = "CLAUDE_SDK_CAN_USE_TOOL_SHADOWED";

/** Rules of settings may do the same; those are read later, and by somebody else. */
function warnOfShadowedCallback(options: Options): void {
  const words = options.canUseTool && shadowIn(options);
  if (words) process.emitWarning(`${words} A PreToolUse hook sees every call.`, { code: shadowed });
}

function shadowIn({ permissionMode, allowedTools = [] }: Options): string | undefined {
  if (permissionMode === "bypassPermissions")
    return "canUseTool is not called: bypassPermissions allows every call that no rule denies.";
  const whole = allowedTools.filter((rule) => rule !== "" && !rule.includes("("));
  if (whole.length === 0) return undefined;
  return `canUseTool is not called for ${whole.join(", ")}: allowedTools allows all calls of a tool that is named without parentheses.`;
}
