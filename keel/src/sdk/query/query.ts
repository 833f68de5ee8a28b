/** `query()`: a session in this process, as an iterator of messages with the methods of the interface. */

import { Queue } from "../../kernel/queue.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { SDKMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { Options } from "../options/options.ts";
import { runsApart, startApart } from "../process/apart.ts";
import { controlsOf } from "./controls.ts";
import { Conversation, maxWaiting, type Prompt } from "./conversation.ts";
import { inquiriesOf } from "./inquiries.ts";
import { contextUsage, describeSession, type InitializationResult } from "./introspection.ts";
import type { Query, QueryMethods, RewindFilesResult } from "./query-methods.ts";

export function query({ prompt, options = {} }: { prompt: Prompt; options?: Options }): Query {
  const out = new Queue<SDKMessage>({ limit: maxWaiting });
  if (runsApart(options)) return startApart(options, out).query(prompt);
  const conversation = new Conversation(options, out);
  void conversation.live(prompt);
  return queryOf(conversation, out);
}

export const queryOf = (conversation: Conversation, out: Queue<SDKMessage>): Query =>
  Object.assign(read(out, conversation), {
    ...methodsOf(conversation),
    [Symbol.asyncDispose]: () => conversation.close(),
  });

export function methodsOf(conversation: Conversation): QueryMethods {
  const describe = async (): Promise<InitializationResult> => describeSession(await conversation.open());
  return {
    async interrupt({ cancelQueued = false }: { cancelQueued?: boolean } = {}) {
      const receipt = await conversation.submit({ type: "interrupt", dropQueued: cancelQueued });
      if (receipt.type !== "interrupted") return { still_queued: [] };
      const { stillQueued, dropped } = receipt;
      return { still_queued: stillQueued, ...(dropped.length > 0 ? { cancelled: dropped } : {}) };
    },
    setPermissionMode: (permissionMode: PermissionMode) => conversation.set({ permissionMode }),
    async setModel(model?: string) {
      const { info } = await conversation.open();
      await conversation.set({ model: model ?? info.model });
    },
    setMaxThinkingTokens: (tokens: number | null) =>
      conversation.set({ thinking: tokens ? { kind: "budget", tokens } : { kind: "off" } }),
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
    getContextUsage: async () => contextUsage(await conversation.open()),
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

/** The iterator. Leaving it early closes the session. */
async function* read(out: Queue<SDKMessage>, conversation: Conversation): AsyncGenerator<SDKMessage, void> {
  try {
    yield* out;
  } finally {
    await conversation.close();
  }
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
