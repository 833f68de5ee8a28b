// Sessions of `keel acp` that are walked through at random, several at once: every line that it writes is held to the
// schema of the protocol (at the end of each test), and each session to what holds for all of them.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { Asked } from "../../keel/src/testing/answers.ts";
import { reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { type Random, randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { type Editor, kindsIn, openEditor } from "./acp-stage.ts";
import { openStage, type Stage } from "./stage.ts";

const question = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Red", description: "As fire" },
    { label: "Blue", description: "As water" },
  ],
};

/** What a model may answer, by chance; the last one of a turn is always words. */
const answers: readonly ((random: Random) => Reply)[] = [
  () => reply("Words."),
  () => reply(thinking("Hm."), "Words, with `code`\n\n```ts\nlet a = 1;\n```\n"),
  () => replyWith({ chunkChars: 3 }, "Many small pieces of one and the same answer, \u202e hidden and 日本."),
  () => reply("Looking.", toolUse("Read", { file_path: "a.txt" })),
  () => reply(toolUse("Read", { file_path: "a.txt" }), toolUse("Glob", { pattern: "*" })),
  () => reply(toolUse("Edit", { file_path: "a.txt", old_string: "two", new_string: "2" })),
  () => reply(toolUse("Write", { file_path: "b.txt", content: "b\n" })),
  () => reply(toolUse("Bash", { command: "echo out; echo err >&2; exit 3" })),
  (random) => reply(toolUse("Bash", { command: `touch made-${random.below(100)}` })),
  () => reply(toolUse("Grep", { pattern: "two" })),
  () => reply(toolUse("TaskCreate", { subject: "Look", description: "Look at it" })),
  () => reply(toolUse("AskUserQuestion", { questions: [question] })),
  () => reply(toolUse("NoSuchTool", {})),
  () => replyWith({ fault: { kind: "http", status: 400, type: "invalid_request_error", message: "no" } }),
  () => replyWith({ stop: "output_limit" }, "Cut"),
  () => replyWith({ stop: "refusal" }, "No."),
];

/** The same words and the same place in the conversation, the same answer. */
function script(
  _: unknown,
  { lastUser, assistantTurns, toolResults }: Asked & { toolResults?: unknown },
): Reply {
  void toolResults;
  const [, number = "0"] = /walk (\d+)/.exec(lastUser) ?? [];
  const random = randomOf(Number(number) * 31 + assistantTurns);
  if (!lastUser.includes("walk") || random.below(3) === 0) return reply("Through.");
  return random.pick(answers)(random);
}

async function walk(editor: Editor, stage: Stage, random: Random, number: number): Promise<void> {
  let { sessionId } = await editor.begin();
  const place = () => ({ sessionId, cwd: stage.project, mcpServers: [] });
  const steps: readonly (() => Promise<unknown>)[] = [
    () => editor.say(sessionId, `walk ${number * 10 + random.below(10)}`),
    () => editor.say(sessionId, `walk ${number * 10 + random.below(10)}`),
    async () => {
      const said = editor.say(sessionId, `walk ${number * 10 + random.below(10)}`);
      await editor.agent.notify("session/cancel", { sessionId });
      const told = await said.then(() => editor.updates(sessionId).length);
      expect(editor.updates(sessionId)).toHaveLength(told);
    },
    () => editor.say(sessionId, random.pick(["/cost", "/context", "/status", "/help"])),
    () =>
      editor.agent.request("session/set_mode", {
        sessionId,
        modeId: random.pick(["default", "acceptEdits", "plan", "auto", "dontAsk"]),
      }),
    () =>
      editor.agent.request("session/set_config_option", {
        sessionId,
        configId: "model",
        value: random.pick(["haiku", "sonnet"]),
      }),
    () => editor.agent.request("session/list", random.below(2) === 0 ? {} : { cwd: stage.project }),
    async () => {
      await editor.agent.request("session/close", { sessionId });
      const before = editor.updates(sessionId).length;
      await editor.agent.request("session/resume", { sessionId, cwd: stage.project });
      const told = kindsIn(editor.updates(sessionId).slice(before));
      expect(told.filter((kind) => /_chunk$|^tool_call/.test(kind))).toEqual([]);
    },
    async () => {
      await editor.agent.request("session/close", { sessionId });
      await editor.agent.request("session/load", place());
      const told = editor.updates(sessionId).length;
      await new Promise((resolve) => setImmediate(resolve));
      expect(editor.updates(sessionId)).toHaveLength(told);
    },
    async () => {
      const copy = await editor.agent.request<{ sessionId: string }>("session/fork", place());
      ({ sessionId } = copy);
    },
  ];
  const length = 1 + random.below(5);
  // A model that refuses and a turn that fails are the protocol's errors: the walk goes on.
  for (let step = 0; step < length; step++)
    await random
      .pick(steps)()
      .catch((thrown: unknown) => {
        if (!(thrown instanceof Error) || !("code" in thrown)) throw thrown;
      });
  const last = random.pick(["close", "delete", "leave"] as const);
  if (last !== "leave") await editor.agent.request(`session/${last}`, { sessionId });
}

/** One process serves so many sessions. */
const perProcess = 25;

test("every line of sessions that are walked at random is of the schema", {
  timeout: 3_600_000,
}, async () => {
  verifies("P3");
  const count = countOf("acp-walks");
  for (let first = 0; first < count; first += perProcess) {
    const stage = await openStage(script, { law: "none" });
    writeFileSync(path.join(stage.project, "a.txt"), "one\ntwo\nthree\n");
    const random = randomOf(seed() + first);
    const editor = await openEditor(stage, {
      can: {
        ...(random.below(2) === 0 ? { elicitation: { form: {} } } : {}),
        session: random.below(2) === 0 ? { notices: {}, compaction: {} } : {},
      },
      fill: () => ({ action: "accept", content: { question1: "Blue" } }),
      permit: ({ options }) => ({
        outcome: { outcome: "selected", optionId: random.pick(options).optionId },
      }),
    });
    const numbers = Array.from({ length: Math.min(perProcess, count - first) }, (_, index) => first + index);
    // Some of them at the same time.
    for (let from = 0; from < numbers.length; from += 5)
      await Promise.all(
        numbers.slice(from, from + 5).map((number) => walk(editor, stage, randomOf(seed() + number), number)),
      );
    expect(await editor.leave()).toBe(0);
  }
});
