// A conversation with real files that is shortened: what stays, what is given back, and what is not.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { restored } from "../core/context/restore.ts";
import type { Json } from "../kernel/json.ts";
import { estimateTokens } from "../kernel/text.ts";
import { parseRule } from "../policy/rules.ts";
import type { Tool } from "../ports/tool.ts";
import { type Message, text } from "../protocol/message.ts";
import { httpError, reply, replyWith, toolUse } from "../testing/reply.ts";
import type { Script } from "../testing/script.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { builtInTools } from "./catalog.ts";
import { skillTool } from "./skill.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

let cwd = "";
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-compaction-")));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const at = (name: string): string => path.join(cwd, name);
const read = (name: string) => toolUse("Read", { file_path: at(name) });

async function opened(replies: Script["replies"], more = {}) {
  const model = scriptedModel({ replies });
  const session = await openTestSession({
    model,
    tools: builtInTools(),
    workspace: realWorkspace({ cwd }),
    clock: realClock,
    ...more,
  });
  return { ...session, model, last: () => JSON.stringify(model.requests.at(-1)?.messages) };
}

describe("after a compaction", () => {
  test("what was said before leaves memory, and the notes stand in its place", async () => {
    verifies("S4.53");
    const { say, session, last } = await opened([
      reply("An old answer."),
      reply("A newer one."),
      reply("NOTES"),
      reply("Gone on."),
    ]);
    await say("an old question ".repeat(50));
    await say("newer");
    await session.submit({ type: "compact" });
    await session.run();
    expect(JSON.stringify(session.state.history)).not.toContain("old question");
    expect(JSON.stringify(session.state.history)).toContain("NOTES");
    await say("go on");
    expect(last()).not.toContain("old question");
  });

  test("the newest five files that were read are given back, and one that has changed is named", async () => {
    verifies("S4.52");
    const names = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `${name}.txt`);
    for (const name of names) writeFileSync(at(name), `content of ${name}\n`);
    const { say, session, all, last } = await opened([
      reply(...names.map(read)),
      reply("Read."),
      replyWith({}, "NOTES"),
      reply("Gone on."),
    ]);
    await say("read them");
    writeFileSync(at("f.txt"), "written by somebody else\n");
    await session.submit({ type: "compact" });
    await session.run();
    await say("go on");
    const [{ restored = [] } = {}] = all("context.compacted");
    expect(restored.map((words) => /(\w)\.txt/.exec(words)?.[1])).toEqual(["g", "f", "e", "d", "c"]);
    expect(last()).toContain("content of g.txt");
    expect(last()).toContain("content of c.txt");
    expect(last()).not.toContain("content of b.txt");
    expect(last()).not.toContain("written by somebody else");
    expect(last()).toContain("f.txt, which has changed since");
  });

  test("a long file is cut, and a file whose reading is denied by now is not given back", async () => {
    verifies("S4.52");
    writeFileSync(at("long.txt"), "a line of words\n".repeat(10_000));
    writeFileSync(at("secret.txt"), "SECRET\n");
    // The rule is the person's word of today; the file was read before it.
    const deny = [parseRule("Read(//**/secret.txt)")].filter((rule) => rule !== undefined);
    const rules = { allow: [], ask: [], deny: [] as typeof deny };
    const first = await opened(
      [reply(read("long.txt"), read("secret.txt")), reply("Read."), reply("NOTES"), reply("Gone on.")],
      { rules },
    );
    await first.say("read them");
    rules.deny.push(...deny);
    await first.session.submit({ type: "compact" });
    await first.session.run();
    const [{ restored = [] } = {}] = first.all("context.compacted");
    const long = restored.find((words) => words.includes("long.txt")) ?? "";
    expect(long.length).toBeGreaterThan(10_000);
    expect(long.length).toBeLessThanOrEqual(20_000);
    expect(long).toContain("the rest is left out");
    expect(restored).toHaveLength(1);
    expect(restored.join()).not.toContain("SECRET");
  });

  test("skills that were followed are given back, the newest first, each of them cut", async () => {
    verifies("S4.52");
    const names = ["one", "two", "three", "four", "five", "six", "seven"];
    const words = (name: string) => `RULES OF ${name}. ${"word ".repeat(6_000)}`;
    const skills = skillTool({
      skills: async () => names.map((name) => ({ name, description: name })),
      readSkill: async ({ name }) => ({ ok: true, text: words(name) }),
    });
    const { say, session, all, last } = await opened(
      [
        ...names.map((skill) => reply(toolUse("Skill", { skill }))),
        reply("Followed."),
        reply("NOTES"),
        reply("Gone on."),
      ],
      {
        tools: [skills as Tool],
        rules: { allow: [parseRule("Skill")], ask: [], deny: [] },
      },
    );
    await say("follow them");
    await session.submit({ type: "compact" });
    await session.run();
    await say("go on");
    const [{ restored = [] } = {}] = all("context.compacted");
    const back = restored.map((given) => /RULES OF (\w+)/.exec(given)?.[1]);
    // The others are still there.
    expect(back).toEqual(["four", "three", "two", "one"]);
    for (const given of restored) {
      expect(given).toContain("the rest is left out");
      expect(given.length).toBeLessThanOrEqual(20_000);
    }
    for (const name of names) expect(last().split(`RULES OF ${name}`), name).toHaveLength(2);
  });

  test("files and skills together stay within the total, which is less in a small window", () => {
    verifies("S4.52");
    const use = (id: string, name: string, input: Json): Message => ({
      role: "assistant",
      content: [{ type: "tool_use", id, name, input }],
    });
    const dropped = ["a", "b", "c", "d", "e", "f", "g"].flatMap((name): Message[] => [
      use(`s${name}`, "Skill", { skill: name }),
      {
        role: "user",
        content: [
          { type: "tool_result", callId: `s${name}`, content: [text("x".repeat(30_000))], failed: false },
        ],
      },
      use(`f${name}`, "Read", { file_path: name }),
    ]);
    const texts = (windowTokens: number): string[] => {
      const work = restored({ dropped, kept: [], windowTokens });
      let next = work.next();
      while (!next.done) next = work.next({ path: next.value, text: "y".repeat(30_000), state: "as seen" });
      return next.value;
    };
    const tokensIn = (windowTokens: number): number =>
      texts(windowTokens).reduce((sum, words) => sum + estimateTokens(words), 0);
    const skills = texts(1_000_000).filter((words) => words.includes("xxx"));
    expect(skills).toHaveLength(5);
    expect(skills.reduce((sum, words) => sum + estimateTokens(words), 0)).toBeLessThanOrEqual(25_000);
    expect(tokensIn(1_000_000)).toBeGreaterThan(40_000);
    expect(tokensIn(1_000_000)).toBeLessThanOrEqual(50_000);
    expect(tokensIn(100_000)).toBeGreaterThan(10_000);
    expect(tokensIn(100_000)).toBeLessThanOrEqual(20_000);
  });

  test("images and documents are named in the request for notes, wherever they stand", async () => {
    verifies("S4.52");
    writeFileSync(at("dot.png"), Buffer.from(png, "base64"));
    const { session, all, model } = await opened([reply(read("dot.png")), reply("Red."), reply("NOTES")]);
    const document = {
      type: "document",
      mediaType: "application/pdf",
      data: "JVBERi0x",
      name: "a.pdf",
    } as const;
    await session.submit({ type: "input", content: [text("look"), document] });
    await session.run();
    expect(JSON.stringify(model.requests[1])).toContain(png);
    await session.submit({ type: "compact" });
    await session.run();
    const sent = JSON.stringify(model.requests[2]);
    expect(sent).not.toContain(png);
    expect(sent).not.toContain("JVBERi0x");
    expect(sent).toContain("(an image)");
    expect(sent).toContain("(a document)");
    expect(all("context.compacted")).toHaveLength(1);
  });

  test("a request for notes that is itself too long is made shorter, without images, and never for ever", async () => {
    verifies("S4.26");
    const tooLong = httpError(400, { message: "prompt is too long: 250000 tokens > 200000 maximum" });
    const { say, all, model } = await opened([
      reply("One."),
      reply("Two."),
      tooLong,
      tooLong,
      reply("NOTES"),
      reply("Gone on."),
    ]);
    await say("first");
    await say("second");
    await say("third");
    expect(all("turn.finished").map(({ reason }) => reason)).toEqual(["completed", "completed", "completed"]);
    expect(all("context.compacted")).toHaveLength(1);
    expect(model.requests).toHaveLength(6);
  });
});
