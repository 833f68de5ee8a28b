// What an agent may be doing when an editor has enough of it: the words that bring it there, and how it is seen to be there.

import type { Asked } from "../../keel/src/testing/answers.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { type Editor, saidIn } from "./acp-stage.ts";
import type { Stage } from "./stage.ts";

export type Phase = {
  readonly replies: readonly Reply[];
  begun(stage: Stage, editor: Editor, sessionId: string): boolean;
};

const slow = replyWith({ chunkChars: 1, betweenMs: 15 }, "a".repeat(4_000));
const stalled = replyWith({ fault: { kind: "stall", afterEvents: 0, with: "silence" } }, "never");
const cutShort = replyWith(
  { fault: { kind: "stall", afterEvents: 6, with: "silence" }, chunkChars: 1 },
  "begun and never ended",
);
const overloaded = replyWith({
  fault: { kind: "http", status: 529, type: "overloaded_error", message: "busy" },
});
const bash = (command: string): Reply => reply(toolUse("Bash", { command, timeout: 60_000 }));
const agent = (words: string, more = {}): Reply =>
  reply(toolUse("Agent", { description: "Work", prompt: words, subagent_type: "general-purpose", ...more }));

const shows = (text: string) => (_: Stage, editor: Editor, sessionId: string) =>
  JSON.stringify(editor.updates(sessionId)).includes(text);
const asks = (_: Stage, editor: Editor, sessionId: string) =>
  editor.asked.some((request) => request.sessionId === sessionId);

/** By the words of the prompt. Commands carry them, so that no two phases are the same. */
export const phases: Readonly<Record<string, Phase>> = {
  "model writes": { replies: [slow], begun: (_, editor, id) => saidIn(editor.updates(id)).length > 3 },
  "model is silent": { replies: [stalled], begun: () => true },
  "model stops in the middle": {
    replies: [cutShort],
    begun: (_, editor, id) => saidIn(editor.updates(id)) !== "",
  },
  "model is overloaded": { replies: [overloaded], begun: shows("Trying again") },
  "command sleeps": { replies: [bash("echo started; sleep 60")], begun: shows("started") },
  "command does not want to end": {
    replies: [bash("trap '' TERM INT HUP; echo started; (trap '' TERM; sleep 60) & wait; sleep 60")],
    begun: shows("started"),
  },
  "command floods": { replies: [bash("yes started")], begun: shows("started") },
  "somebody is asked": { replies: [reply(toolUse("Bash", { command: "touch asked.txt" }))], begun: asks },
  "agent works": { replies: [agent("the silent work of an agent")], begun: shows('"in_progress"') },
  "agents work beside it": {
    replies: [agent("the silent work of an agent", { run_in_background: true }), slow],
    begun: (_, editor, id) => saidIn(editor.updates(id)).length > 3,
  },
};

/** What goes without a question in these phases. */
export const allowed = ["Bash(echo:*)", "Bash(sleep:*)", "Bash(trap:*)", "Bash(yes:*)", "Agent"];

/** What the model answers: by the phase that the last words name, and by how far it is. */
export function phaseScript(_: unknown, { lastUser, assistantTurns }: Asked): Reply {
  if (lastUser.includes("the silent work of an agent")) return stalled;
  const [, phase] = Object.entries(phases).find(([words]) => lastUser.includes(words)) ?? [];
  if (lastUser.includes("next") || !phase) return reply("Next.");
  return phase.replies[Math.min(assistantTurns % 2, phase.replies.length - 1)] ?? reply("Next.");
}
