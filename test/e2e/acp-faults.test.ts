// Everything that can go wrong while an editor waits, each in a session of its own and all at once: no thread is without a
// word for more than ten seconds, each can be cancelled, and each goes on with the next prompt.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { McpServer, NewSessionResponse } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { Asked } from "../../keel/src/testing/answers.ts";
import { rawToolUse, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply, ReplyFault } from "../../keel/src/testing/script.ts";
import { verifies } from "../support/verifies.ts";
import { type Editor, openEditor } from "./acp-stage.ts";
import { allowUnasked } from "./allow-unasked.ts";
import { openStage } from "./stage.ts";

const fails = (fault: ReplyFault): Reply => replyWith({ fault, chunkChars: 2 }, "some words of a reply");
const status = (code: number, headers?: Record<string, string>): Reply =>
  fails({
    kind: "http",
    status: code,
    type: "api_error",
    message: `status ${code}`,
    ...(headers ? { headers } : {}),
  });
const bash = (command: string, more = {}): Reply => reply(toolUse("Bash", { command, ...more }));

const malformed = [
  "two-message-starts",
  "delta-before-start",
  "call-after-end",
  "wrong-content-type",
  "gzip-cut",
  "negative-usage",
  "missing-usage",
  "garbage",
] as const;

/** By their names, which the prompts hold. */
const faults: Readonly<Record<string, Reply>> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 413, 429, 500, 502, 503, 529].map((code) => [`status ${code}.`, status(code)]),
  ),
  "wait an hour.": status(429, { "retry-after": "3600" }),
  "silent from the start.": fails({ kind: "stall", afterEvents: 0, with: "silence" }),
  "pings from the start.": fails({ kind: "stall", afterEvents: 0, with: "pings", pingEveryMs: 500 }),
  "silent in the middle.": fails({ kind: "stall", afterEvents: 5, with: "silence" }),
  "pings in the middle.": fails({ kind: "stall", afterEvents: 5, with: "pings", pingEveryMs: 500 }),
  "cut at the start.": fails({ kind: "cut", afterEvents: 1 }),
  "cut in the middle.": fails({ kind: "cut", afterEvents: 5 }),
  "cut with a word.": fails({
    kind: "cut",
    afterEvents: 5,
    error: { type: "overloaded_error", message: "busy" },
  }),
  "reset.": fails({ kind: "reset" }),
  ...Object.fromEntries(malformed.map((how) => [`${how}.`, fails({ kind: "malformed", how })])),
  "no words at all.": reply(),
  "no such tool.": reply(toolUse("NoSuchTool", { a: 1 })),
  "no JSON for a tool.": reply(rawToolUse("Bash", '{"command": ')),
  "a command without a word.": bash("sleep 60"),
  "a command that hears nothing.": bash("trap '' TERM INT; sleep 60"),
  "a command that floods.": bash("yes"),
  "a command of bytes.": bash("head -c 200000 /bin/sh; sleep 60"),
  "a command that ends at once.": bash("exit 7"),
  "a file that is not there.": reply(toolUse("Read", { file_path: "nowhere.txt" })),
  "a file of the editor.": reply(toolUse("Read", { file_path: "open.txt" })),
  "a permission that fails.": bash("touch refused.txt"),
};

const names = Object.keys(faults);
const watchedMs = 12_500;
/** Ten seconds on a machine that does nothing else, to which the long command holds it; here any word will do. */
const maxSilenceMs = process.env["KEEL_TEST_COUNTS"] === undefined ? watchedMs - 1 : 10_000;

function script(_: unknown, { lastUser }: Asked): Reply {
  if (lastUser.includes("and on")) return reply("Going on.");
  const name = names.find((one) => lastUser.includes(one));
  return (name && faults[name]) || reply("Through.");
}

/** The longest time without a message about the session, from a moment to another. */
function longestSilence({ heard, heardMs }: Editor, sessionId: string, from: number, to: number): number {
  const times = heard.flatMap((message, index) => {
    const isAbout = JSON.stringify(message).includes(sessionId);
    return isAbout && (heardMs[index] ?? 0) >= from ? [heardMs[index] ?? 0] : [];
  });
  const all = [from, ...times, to];
  return Math.max(...all.slice(1).map((time, index) => time - (all[index] ?? 0)));
}

test("no fault leaves a thread without a word for more than ten seconds, and the next prompt works", async () => {
  verifies("P3");
  expect(names.length).toBeGreaterThanOrEqual(30);
  const stage = await openStage(script, { law: "none" });
  allowUnasked(stage, ["Bash(sleep:*)", "Bash(trap:*)", "Bash(yes:*)", "Bash(head:*)", "Bash(exit:*)"]);
  writeFileSync(path.join(stage.project, "open.txt"), "saved\n");
  const editor = await openEditor(stage, {
    can: { fs: { readTextFile: true } },
    // It announced that it reads files, and never does.
    lend: () => new Promise(() => undefined),
    permit: () => {
      throw new Error("it cannot ask");
    },
  });
  const silences = await Promise.all(
    names.map(async (name): Promise<readonly [string, number]> => {
      const { sessionId } = await editor.begin();
      const from = performance.now();
      const ended = { at: 0 };
      const said = editor
        .say(sessionId, name)
        .catch((thrown: unknown) => thrown)
        .then((outcome) => {
          ended.at = performance.now();
          return outcome;
        });
      await Promise.race([said, pause(watchedMs)]);
      const silence = longestSilence(editor, sessionId, from, ended.at || performance.now());
      if (ended.at === 0) {
        await editor.agent.notify("session/cancel", { sessionId });
        expect(await said, name).toEqual({ stopReason: "cancelled" });
      }
      expect(await editor.say(sessionId, "and on"), name).toEqual({ stopReason: "end_turn" });
      return [name, silence];
    }),
  );
  if (process.env["KEEL_TEST_COUNTS"] !== undefined)
    process.stdout.write(
      `acp-faults: ${silences.length} faults, the longest silence ${Math.max(...silences.map(([, silence]) => silence)).toFixed(0)} ms\n`,
    );
  const silent = silences.filter(([, silence]) => silence > maxSilenceMs);
  expect(silent).toEqual([]);
});

test("servers that never answer, crash or talk nonsense do not keep a session from beginning and working", async () => {
  verifies("P3");
  const stage = await openStage(() => reply("Here."), { law: "none" });
  const editor = await openEditor(stage);
  const node = process.execPath;
  const stdio = (name: string, program: string) => ({ name, command: node, args: ["-e", program], env: [] });
  const servers: McpServer[] = [
    ...Array.from({ length: 5 }, (_, index) => stdio(`silent-${index}`, "setInterval(() => 0, 1000)")),
    stdio("crashes", "process.exit(3)"),
    stdio("nonsense", "setInterval(() => console.log('nonsense'), 50)"),
    { name: "missing", command: "/no/such/program", args: [], env: [] },
    { type: "http", name: "nobody", url: "http://127.0.0.1:1/mcp", headers: [] },
    { type: "sse", name: "nobody-either", url: "http://127.0.0.1:1/sse", headers: [] },
  ];
  const wanted = { cwd: stage.project, mcpServers: servers };
  const { sessionId } = await editor.agent.request<NewSessionResponse>("session/new", wanted);
  expect(await editor.say(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  expect(await editor.leave()).toBe(0);
});
