// What agents change in the folder of their session is taken back with the turn in which they worked.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { Query } from "../../keel/src/sdk/query/query-methods.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Rule, Script } from "../../keel/src/testing/script.ts";
import { logged, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const prompt = (id: string) => ({
  type: "user" as const,
  uuid: id,
  message: { role: "user" as const, content: "go" },
});
const first = "11111111-1111-4111-8111-111111111111";
const order = (kind: string, background: boolean) =>
  toolUse("Agent", {
    description: kind,
    prompt: `work as ${kind}`,
    subagent_type: kind,
    run_in_background: background,
  });
const edit = (from: string, to: string) =>
  toolUse("Edit", { file_path: "a.txt", old_string: from, new_string: to });
const read = toolUse("Read", { file_path: "a.txt" });
const bash = (command: string) => toolUse("Bash", { command });

/** What an agent of this kind answers, one after the other. */
const works = (kind: string, ...replies: ReturnType<typeof reply>[]): Rule[] =>
  replies.map((one) => ({ when: { systemContains: `You are the ${kind}.` }, reply: one, times: 1 }));

type Talk = SdkStage & { running: Query; messages: SDKMessage[]; results: (count: number) => Promise<void> };

async function talk(script: Script, steps: (talk: Talk) => Promise<void>): Promise<void> {
  const stage = await sdkStage(script);
  writeFileSync(path.join(stage.cwd, "a.txt"), "one\n");
  const messages: SDKMessage[] = [];
  const results = async (count: number): Promise<void> => {
    while (messages.filter(({ type }) => type === "result").length < count)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  async function* prompts() {
    yield prompt(first);
    await steps({ ...stage, running, messages, results });
  }
  const kind = (name: string) => ({ description: name, prompt: `You are the ${name}.` });
  const running: Query = query({
    prompt: prompts(),
    options: {
      ...stage.options,
      enableFileCheckpointing: true,
      permissionMode: "acceptEdits",
      allowedTools: ["Bash", "Agent"],
      agents: { worker: kind("worker"), helper: kind("helper") },
    },
  });
  for await (const message of running) messages.push(message);
}

const textOf = ({ cwd }: SdkStage): string => readFileSync(path.join(cwd, "a.txt"), "utf8");

test("an agent's edits and commands, and those of its own agents, are in the rewind of the turn", async () => {
  verifies("S4.55");
  const script: Script = {
    rules: [
      ...works(
        "worker",
        reply(read),
        reply(edit("one", "two")),
        reply(bash("echo made > b.txt")),
        reply(order("helper", false)),
        reply("Worked."),
      ),
      ...works("helper", reply(read), reply(edit("two", "three")), reply("Helped.")),
    ],
    replies: [reply(order("worker", false)), reply("Done.")],
  };
  await talk(script, async (stage) => {
    await stage.results(1);
    expect(textOf(stage)).toBe("three\n");
    expect(existsSync(path.join(stage.cwd, "b.txt"))).toBe(true);
    expect(await stage.running.rewindFiles(first, { dryRun: true })).toMatchObject({
      canRewind: true,
      filesChanged: expect.arrayContaining([path.join(stage.cwd, "a.txt"), path.join(stage.cwd, "b.txt")]),
    });
    expect(await stage.running.rewindFiles(first)).toEqual({ canRewind: true, skippedLinks: 0 });
    expect(textOf(stage)).toBe("one\n");
    expect(existsSync(path.join(stage.cwd, "b.txt"))).toBe(false);
    // All of it stands in the log of the session itself.
    const session = stage.messages[0]?.session_id ?? "";
    const saved = logged(stage.home, session).filter(({ type }) => type === "files.saved");
    expect(saved.length).toBeGreaterThan(2);
  });
});

test("what somebody else changed after an agent stays", async () => {
  const script: Script = {
    rules: works("worker", reply(read), reply(edit("one", "two")), reply("Worked.")),
    replies: [reply(order("worker", false)), reply("Done.")],
  };
  await talk(script, async (stage) => {
    await stage.results(1);
    writeFileSync(path.join(stage.cwd, "a.txt"), "mine\n");
    expect(await stage.running.rewindFiles(first)).toEqual({ canRewind: true, skippedLinks: 1 });
    expect(textOf(stage)).toBe("mine\n");
  });
});

test("an agent in the background that works on after the turn: nothing is rewound under it, then all of it is", async () => {
  const script: Script = {
    rules: works(
      "worker",
      reply(bash("while [ ! -e go ]; do sleep 0.05; done")),
      reply(read),
      reply(edit("one", "two")),
      reply("Worked."),
    ),
    replies: [reply(order("worker", true)), reply("Started."), reply("It is done.")],
  };
  await talk(script, async (stage) => {
    await stage.results(1);
    await expect(stage.running.rewindFiles(first)).rejects.toThrow("while an agent works");
    expect(await stage.running.rewindFiles(first, { dryRun: true })).toMatchObject({ canRewind: true });
    writeFileSync(path.join(stage.cwd, "go"), "");
    await stage.results(2);
    expect(textOf(stage)).toBe("two\n");
    await stage.running.rewindFiles(first);
    expect(textOf(stage)).toBe("one\n");
  });
});
