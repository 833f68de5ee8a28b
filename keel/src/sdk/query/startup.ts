/** Sessions that are begun ahead of their prompt: `startup()` opens one, `prewarm()` loads what any of them needs. */
import { fault } from "../../kernel/fault.ts";
import { Queue } from "../../kernel/queue.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import { throwing } from "../dialect/failed-result.ts";
import type { SDKMessage } from "../messages/messages.ts";
import type { AgentDefinition, Options } from "../options/options.ts";
import { runsApart } from "../process/apart.ts";
import { Conversation, maxWaiting, type Prompt } from "./conversation.ts";
import { begin, queryOf } from "./query.ts";
import type { Query } from "./query-methods.ts";

export type WarmQuery = {
  /** Once only: a session has one beginning. */
  query(prompt: Prompt): Query;
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

type StartupOptions = {
  options?: Options;
  /** Accepted, so that programs compile: what opens a session has limits of its own. */
  initializeTimeoutMs?: number;
};

/** Opens a session ahead of its prompt. Throws what kept it from opening. */
export async function startup({ options = {} }: StartupOptions = {}): Promise<WarmQuery> {
  const { introduced, query, close } = begin(options);
  await introduced();
  let used = false;
  return {
    query(prompt) {
      if (used) throw fault("usage", { reason: "A warm query takes one prompt." });
      used = true;
      return query(prompt);
    },
    close: () => void close(),
    [Symbol.asyncDispose]: close,
  };
}

/** What is known only when a session is wanted. */
export type ClaimOptions = {
  cwd: string;
  env?: Record<string, string>;
  additionalDirectories?: string[];
  model?: string;
  permissionMode?: PermissionMode;
  maxThinkingTokens?: number | null;
  settings?: Record<string, unknown>;
  appendSystemPrompt?: string;
  title?: string;
  agents?: Record<string, AgentDefinition>;
};

export type SpareProcess = {
  /** Once only. */
  claim(request: { prompt: Prompt; options: ClaimOptions }): Query;
  readonly claimed: Promise<{ cwd: string; sessionId: string; sdkMcpSettled: boolean }>;
  /** Resolves when its session has ended, or it was closed unused. */
  readonly exited: Promise<void>;
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Loads what a session needs, for one whose folder is not known yet. There is no process in stock: the session is one of
 * this process, and opens when it is claimed.
 */
export async function prewarm({ options = {} }: StartupOptions = {}): Promise<SpareProcess> {
  if (runsApart(options))
    throw fault("usage", { reason: "prewarm() is for sessions of this process; startup() starts another." });
  await import("./opened.ts");
  const claimed = Promise.withResolvers<{ cwd: string; sessionId: string; sdkMcpSettled: boolean }>();
  claimed.promise.catch(() => undefined); // Whoever does not ask is not told.
  const exited = Promise.withResolvers<void>();
  let used: Conversation | "closed" | undefined;
  const close = async (): Promise<void> => {
    if (used instanceof Conversation) return used.close();
    used = "closed";
    claimed.reject(fault("session_closed"));
    exited.resolve();
  };
  return {
    claim({ prompt, options: claim }) {
      if (used !== undefined) throw fault("usage", { reason: "It was claimed or closed before." });
      const out = new Queue<SDKMessage>({ limit: maxWaiting });
      const conversation = new Conversation(claimedOptions(options, claim), throwing(out));
      used = conversation;
      conversation.open().then(
        ({ id: sessionId, info }) => claimed.resolve({ cwd: info.cwd, sessionId, sdkMcpSettled: true }),
        (thrown: unknown) => claimed.reject(thrown),
      );
      void conversation.live(prompt).finally(() => exited.resolve());
      return queryOf(conversation, out);
    },
    claimed: claimed.promise,
    exited: exited.promise,
    close: () => void close(),
    [Symbol.asyncDispose]: close,
  };
}

/** Throws `usage` for words beside a prompt that is whole, and for settings beside a file of them. */
function claimedOptions(
  given: Options,
  { env, settings, appendSystemPrompt, maxThinkingTokens, agents, ...rest }: ClaimOptions,
): Options {
  const options: Options = { ...given, ...rest };
  if (env) options.env = { ...(given.env ?? process.env), ...env };
  if (agents) options.agents = { ...given.agents, ...agents };
  if (maxThinkingTokens === null) options.thinking = { type: "disabled" };
  else if (maxThinkingTokens !== undefined) options.maxThinkingTokens = maxThinkingTokens;
  if (settings) {
    if (typeof given.settings === "string")
      throw fault("usage", { reason: "Settings of a claim have no place beside a file of settings." });
    options.settings = { ...given.settings, ...settings };
  }
  if (appendSystemPrompt !== undefined) {
    const prompt = given.systemPrompt ?? { type: "preset", preset: "claude_code" };
    if (typeof prompt === "string" || Array.isArray(prompt) || prompt.type !== "preset")
      throw fault("usage", { reason: "Only Keel's own prompt takes words at its end." });
    options.systemPrompt = { ...prompt, append: appendSystemPrompt };
  }
  return options;
}
