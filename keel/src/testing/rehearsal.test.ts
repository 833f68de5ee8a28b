import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ModelRequest } from "../ports/model.ts";
import type { Block, Message } from "../protocol/message.ts";
import { rehearsalFiles, rehearsalModel, rehearsalPrompt, rehearsalScript } from "./rehearsal.ts";
import { scriptedModel } from "./scripted-model.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keel-rehearsal-"));
  for (const [name, text] of Object.entries(rehearsalFiles)) await writeFile(path.join(folder, name), text);
});
afterEach(() => rm(folder, { recursive: true }));

const run = promisify(execFile);
const check = () => run(process.execPath, ["check.js"], { cwd: folder });

/** Plays the conversation; `outcomes` are the results of the calls, in their order. */
async function play(
  outcomes: readonly string[],
  prompts: readonly string[] = [rehearsalPrompt],
): Promise<Block[][]> {
  const model = scriptedModel(rehearsalScript(folder));
  const messages: Message[] = [];
  const replies: Block[][] = [];
  const left = [...outcomes];
  for (const prompt of prompts) {
    messages.push({ role: "user", content: [{ type: "text", text: prompt }] });
    for (;;) {
      const content = await ask(model, messages);
      replies.push(content);
      messages.push({ role: "assistant", content });
      const calls = content.filter((block) => block.type === "tool_use");
      if (calls.length === 0) break;
      messages.push({
        role: "user",
        content: calls.map(({ id }) => ({
          type: "tool_result",
          callId: id,
          content: [{ type: "text", text: left.shift() ?? "nothing left" }],
          failed: false,
        })),
      });
    }
  }
  return replies;
}

async function ask(model: ReturnType<typeof scriptedModel>, messages: Message[]): Promise<Block[]> {
  const request: ModelRequest = {
    model: rehearsalModel,
    system: [],
    tools: ["Read", "Edit", "Bash"].map((name) => ({ name, description: "", input: { type: "object" } })),
    messages,
    maxOutputTokens: 100,
    thinking: { kind: "off" },
    session: "s",
  };
  for await (const event of model.stream(request, new AbortController().signal))
    if (event.type === "end") return event.content;
  throw new Error("the reply did not end");
}

const said = (content: readonly Block[] | undefined) =>
  (content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

test("the rehearsal reads, edits and checks, and says that it is a rehearsal", async () => {
  const replies = await play(["the file", "edited", "The greeting is right.\n"]);
  const calls = replies.flatMap((content) => content.filter((block) => block.type === "tool_use"));
  const file_path = path.join(folder, "greeting.js");
  expect(calls.map(({ name, input }) => ({ name, input }))).toEqual([
    { name: "Read", input: { file_path } },
    { name: "Edit", input: { file_path, old_string: "Helo, ", new_string: "Hello, " } },
    { name: "Bash", input: { command: "node check.js", description: expect.any(String) } },
  ]);
  expect(said(replies[0])).toContain("rehearsal model");
  expect(said(replies[3])).toContain("passes");
  expect(replies).toHaveLength(4);
});

test("the check fails before the edit and passes after it, in the words that the script waits for", async () => {
  await expect(check()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("Helo, Ada!") });
  const before = rehearsalFiles["greeting.js"] ?? "";
  expect(before.split("Helo, ")).toHaveLength(2);
  await writeFile(path.join(folder, "greeting.js"), before.replace("Helo, ", "Hello, "));
  const { stdout } = await check();
  const replies = await play(["the file", "edited", stdout]);
  expect(said(replies.at(-1))).toContain("passes");
});

test("a refused command is not reported as a success", async () => {
  const replies = await play(["the file", "edited", "You may not run this."]);
  expect(said(replies.at(-1))).not.toContain("passes");
  expect(said(replies.at(-1))).toContain("rehearsal");
});

test("a person who goes on talking is told that the script is over", async () => {
  const replies = await play(["the file", "edited", "The greeting is right."], [rehearsalPrompt, "And now?"]);
  expect(said(replies.at(-1))).toContain("My script ends here");
});
