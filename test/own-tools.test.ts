// A person's own tools from folders: described and run in processes of their own, asked about, and looked at again when
// their files change.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { trustProject, trustReport } from "../keel/src/app/maintenance/trust.ts";
import type { OpenSession } from "../keel/src/app/open-session.ts";
import { byPosition, reply, toolUse } from "../keel/src/testing/reply.ts";
import { examplesOf } from "./docs/examples.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

const prefix = "mcp__custom-tools__";

const adder = `export default {
  name: "add",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  run({ a, b }, { cwd }) {
    console.log("a word that is no answer");
    return { sum: a + b, cwd, pid: process.pid, key: process.env.ANTHROPIC_API_KEY ?? "none" };
  },
};`;

/** Old spellings, two tools in a file, CommonJS. */
const others = `module.exports = [
  { name: "greet", description: "Greets.", input_schema: { type: "object" }, execute: async () => "hello" },
  { name: "draw", description: "Draws.", run: () => ({ content: [{ type: "text", text: "a point" }, { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] }) },
];`;

const faulty = `
const tool = (name, run, more) => ({ name, description: name, run, ...more });
export default [
  tool("throws", () => { throw new Error("the cup is broken"); }),
  tool("exits", () => { console.error("going"); process.exit(3); }),
  tool("hangs", () => { require("node:fs").writeFileSync("hung", String(process.pid)); for (;;); }, { timeoutMs: 700 }),
];
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
`;

type Stage = Awaited<ReturnType<typeof scriptedHome>>;

function put(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
}

/** What came of calls, as the model reads it. */
function resultsOf(session: OpenSession): string[] {
  const said: string[] = [];
  session.onEvent((event) => {
    if (event.type === "tool.finished")
      said.push(event.content.map((part) => (part.type === "text" ? part.text : part.type)).join("|"));
  });
  return said;
}

const ownNames = (session: OpenSession): string[] =>
  session
    .toolNames()
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .toSorted();

const noticesOf = (session: OpenSession): string[] => {
  const told: string[] = [];
  session.onEvent((event) => {
    if (event.type === "notice.raised" && event.code === "custom_tools") told.push(event.text);
  });
  return told;
};

const toolsSent = ({ server }: Stage, request: number): string[] => {
  const body = server.requests[request]?.body as { tools?: { name: string }[] } | undefined;
  return (body?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith(prefix));
};

/** Processes that still work in this folder, wherever their namespace is. */
const workingIn = (folder: string): string[] =>
  readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder;
    } catch {
      return false; // It has ended, or is somebody else's.
    }
  });

describe("tools of a person's own folders", () => {
  test("are offered, asked about and run, each call in a process of its own without keys", async () => {
    verifies("S1.32");
    const call = toolUse(`${prefix}add`, { a: 2, b: 3 });
    const stage = await scriptedHome(
      byPosition([
        reply(call, toolUse(`${prefix}add`, { a: 2, b: 3 }, "again")),
        reply(toolUse(`${prefix}greet`, {}), toolUse(`${prefix}draw`, {})),
        reply(toolUse(`${prefix}add`, { a: "two" })),
        reply("Done."),
      ]),
    );
    put(path.join(stage.home.path, "tools"), {
      "add.js": adder,
      "script.js": "console.log('I am a script')",
    });
    put(path.join(stage.folder, ".claude", "tools"), { "others.js": others, "add.mjs": adder });
    const session = await stage.home.open(stage.options);
    const results = resultsOf(session);
    const told = noticesOf(session);
    const asked: string[] = [];
    session.onEvent((event) => {
      if (event.type === "ask.opened") asked.push(event.ask.tool ?? "");
    });
    agree(session);
    await say(session, "go");
    await session.idle();
    expect(toolsSent(stage, 0).toSorted()).toEqual([`${prefix}add`, `${prefix}draw`, `${prefix}greet`]);
    expect(asked.map((name) => name.slice(prefix.length))).toEqual(["add", "add", "greet", "draw"]);
    const sums = results.slice(0, 2).map((text) => JSON.parse(text));
    expect(sums).toMatchObject([
      { sum: 5, cwd: stage.cwd, key: "none" },
      { sum: 5, cwd: stage.cwd, key: "none" },
    ]);
    expect(new Set([...sums.map(({ pid }) => pid), process.pid]).size).toBe(3);
    expect(results.slice(2, 4)).toEqual(["hello", "a point|image"]);
    expect(results[4]).toMatch(/a.*number|required/);
    expect(told.toSorted()).toEqual([
      expect.stringMatching(/script\.js is left out: it exports no tool with a description\.$/),
      "A second tool of yours is called mcp__custom-tools__add: it is left out.",
    ]);
  });

  test("a tool that throws, exits or hangs is told in words, and nothing of it is left running", async () => {
    verifies("S1.32");
    const stage = await scriptedHome(
      byPosition([
        reply(toolUse(`${prefix}throws`, {})),
        reply(toolUse(`${prefix}exits`, {})),
        reply(toolUse(`${prefix}hangs`, {})),
        reply("Done."),
      ]),
    );
    put(path.join(stage.home.path, "tools"), {
      "faulty.js": faulty,
      "broken.js": "export const description = (",
      "nameless.js": `export default { description: "x", run() {} };`,
      "wrong.js": `export default { name: "wrong", description: "x", inputSchema: { type: "array" }, run() {} };`,
    });
    const session = await stage.home.open(stage.options);
    const results = resultsOf(session);
    const told = noticesOf(session);
    agree(session);
    await say(session, "go");
    await session.idle();
    expect(results).toEqual([
      "the cup is broken",
      "It gave no answer: it ended with code 3, and said: going",
      "The tool took too long.",
    ]);
    expect(ownNames(session)).toEqual(["exits", "hangs", "throws"]);
    expect(told).toHaveLength(3);
    for (const name of ["broken.js", "nameless.js", "wrong.js"])
      expect(
        told.filter((words) => words.includes(`${name} is left out: `)),
        name,
      ).toHaveLength(1);
    await session.close("ended");
    await stage.home.close();
    expect(existsSync(path.join(stage.cwd, "hung"))).toBe(true);
    expect(workingIn(stage.cwd)).toEqual([]);
  });

  test("a file that comes, changes or goes is heard of; requests change at a declared boundary only", async () => {
    verifies("S1.32");
    const stage = await scriptedHome((_, { assistantTurns }) => reply(`Answer ${assistantTurns}.`));
    const folder = path.join(stage.home.path, "tools");
    put(folder, { "add.js": adder });
    const session = await stage.home.open(stage.options);
    await say(session, "one");
    await session.idle();
    expect(toolsSent(stage, 0)).toEqual([`${prefix}add`]);
    put(folder, { "others.js": others });
    await expect.poll(() => ownNames(session), { timeout: 20_000 }).toEqual(["add", "draw", "greet"]);
    rmSync(path.join(folder, "add.js"));
    await expect.poll(() => ownNames(session), { timeout: 20_000 }).toEqual(["draw", "greet"]);
    put(folder, { "others.js": others.replace('"greet"', '"welcome"') });
    await expect.poll(() => ownNames(session), { timeout: 20_000 }).toEqual(["draw", "welcome"]);
    await say(session, "two");
    await session.idle();
    expect(toolsSent(stage, 1)).toEqual(expect.arrayContaining([`${prefix}draw`, `${prefix}welcome`]));
    const fixed = (await Array.fromAsync(session.history())).filter(({ type }) => type === "prompt.fixed");
    expect(fixed).toHaveLength(2);
  });
});

test("the tool of the guide is the one of the examples, and counts", async () => {
  verifies("S1.32");
  const [shown] = examplesOf("tool");
  const file = path.resolve(import.meta.dirname, "..", shown?.label ?? "");
  const written = readFileSync(file, "utf8");
  expect(shown?.text.trim()).toBe(written.trim());
  const stage = await scriptedHome(
    byPosition([reply(toolUse(`${prefix}count_words`, { path: "note.txt" })), reply("Three.")]),
  );
  put(path.join(stage.home.path, "tools"), { [path.basename(file)]: written });
  put(stage.cwd, { "note.txt": "one two\nthree\n" });
  const session = await stage.home.open(stage.options);
  const results = resultsOf(session);
  agree(session);
  await say(session, "go");
  await session.idle();
  expect(results).toEqual(['{"words":3,"lines":2}']);
});

describe("tools of a project", () => {
  test("wait for trust, and for all of it: a file that changed since takes them away", async () => {
    verifies("S1.32");
    const stage = await scriptedHome(() => reply("Done."));
    const folder = path.join(stage.cwd, ".keel", "tools");
    put(path.join(folder, "lib"), { "sum.js": "export const sum = (a, b) => a + b;\n" });
    put(folder, {
      "add.js": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(path.join(stage.folder, "ran"))}, "");\n${adder}`,
    });
    const names = async (): Promise<string[]> => {
      const session = await stage.home.open(stage.options);
      const told = noticesOf(session);
      await say(session, "go");
      await session.idle();
      const found = ownNames(session);
      await session.close("ended");
      return found.length > 0 ? found : told;
    };
    const place = { env: stage.env, cwd: stage.cwd };
    expect(await names()).toEqual([expect.stringContaining("the project is not trusted")]);
    expect(existsSync(path.join(stage.folder, "ran"))).toBe(false);
    await trustProject(place, await trustReport(place));
    expect(await names()).toEqual(["add"]);
    writeFileSync(path.join(folder, "lib", "sum.js"), "export const sum = () => 0;\n");
    rmSync(path.join(stage.folder, "ran"));
    expect(await names()).toEqual([expect.stringMatching(/sum\.js is new or has changed since/)]);
    await trustProject(place, await trustReport(place));
    expect(await names()).toEqual(["add"]);
    symlinkSync("/etc/hostname", path.join(folder, "link.js"));
    expect(await names()).toEqual([expect.stringMatching(/link\.js is new or has changed since/)]);
  });
});
