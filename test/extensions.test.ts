// The program of a plugin: tools, commands and panels, each call a process of its own, only of plugins that a person named;
// what it brings is data.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { offerPlugin } from "../keel/src/app/maintenance/plugins.ts";
import type { OpenSession } from "../keel/src/app/open-session.ts";
import { readPlugin } from "../keel/src/config/definitions/plugins.ts";
import type { Envelope } from "../keel/src/protocol/event/envelope.ts";
import { layout } from "../keel/src/testing/layout.ts";
import { byPosition, reply, toolUse } from "../keel/src/testing/reply.ts";
import { examplesOf } from "./docs/examples.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

const example = path.join(import.meta.dirname, "../examples/plugins/notes");

/** A plugin of one file, in a folder of its own. */
function plugin(folder: string, program: string, name = "odd"): string {
  const root = path.join(folder, `plugin-${name}`);
  mkdirSync(root);
  writeFileSync(path.join(root, "keel-plugin.json"), JSON.stringify({ name }));
  writeFileSync(path.join(root, "extension.mjs"), program);
  return root;
}

const heardOf = (session: OpenSession): Envelope[] => {
  const heard: Envelope[] = [];
  session.onEvent((event) => heard.push(event));
  return heard;
};
const answersIn = (heard: readonly Envelope[]) =>
  heard.flatMap((event) => (event.type === "command.answered" ? [event] : []));

test("an added plugin brings a tool with a display, commands, a panel with a form, and a hook", async () => {
  verifies("P20");
  const stage = await scriptedHome(
    byPosition([
      reply(toolUse("mcp__plugin_notes__add_note", { text: "tea is at four" })),
      reply("Kept it."),
      reply("Sorted."),
    ]),
  );
  const place = { env: stage.env, cwd: stage.cwd };
  const offered = await offerPlugin(place, example, new AbortController().signal);
  expect(offered.report.extension).toEqual([expect.stringMatching(/^extension\.mjs \(\d+ lines\)$/)]);
  await offered.accept();

  const session = await stage.home.open(stage.options);
  agree(session);
  const heard = heardOf(session);
  await say(session, "When is tea?");
  await session.idle();
  expect(layout(stage.server.requests[0]?.body)).toContain("Decisions that matter later");
  expect(heard.find((event) => event.type === "tool.finished")).toMatchObject({
    content: [{ type: "text", text: "Kept. There are 1 notes." }],
    display: { kind: "table", columns: ["Note", "Kind"], rows: [["tea is at four", "model"]] },
  });

  expect((await session.inquire("commands")).map(({ name }) => name)).toEqual(
    expect.arrayContaining(["notes:add", "notes:sort"]),
  );
  expect(await say(session, '/notes:add milk and "salt"')).toEqual({ type: "ran", command: "notes:add" });
  expect(answersIn(heard).at(-1)).toMatchObject({
    text: "Kept.",
    display: {
      kind: "table",
      rows: [
        ["tea is at four", "model"],
        ['milk and "salt"', "person"],
      ],
    },
  });

  expect(await session.inquire("panels")).toEqual([{ id: "notes:all", title: "Notes" }]);
  const { forms, displays } = await session.inquire("panel", { id: "notes:all" });
  expect(forms?.[0]?.fields.map(({ name }) => name)).toEqual(["text", "kind"]);
  expect(displays[0]).toMatchObject({ kind: "table", rows: [{}, {}] });
  // As a form of the console says it.
  await say(session, '/notes:add {"text":"the pot leaks","kind":"bug"}');
  expect((await session.inquire("panel", { id: "notes:all" })).displays[0]).toMatchObject({
    rows: [{}, {}, ["the pot leaks", "bug"]],
  });

  // What goes to the model stands in the log with the person's own line.
  await say(session, "/notes:sort");
  await session.idle();
  expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("Sort the notes in notes.jsonl");
});

test("nobody's program runs who was not added: not of a project, not before yes, not by a link that leads out", async () => {
  const stage = await scriptedHome(byPosition([reply("Hello.")]));
  const trace = path.join(stage.folder, "trace");
  const program = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(trace)}, "ran"); export default { commands: [] };`;
  const root = plugin(stage.folder, program);
  const projects = path.join(stage.cwd, ".keel", "plugins", "odd");
  mkdirSync(path.dirname(projects), { recursive: true });
  cpSync(root, projects, { recursive: true });
  // To show what it brings does not run it.
  await (await offerPlugin({ env: stage.env, cwd: stage.cwd }, root, new AbortController().signal)).refuse();
  const session = await stage.home.open(stage.options);
  await say(session, "hi");
  await session.idle();
  expect(existsSync(trace)).toBe(false);
  await session.close("ended");

  const linked = path.join(stage.folder, "linked");
  mkdirSync(linked);
  writeFileSync(path.join(linked, "keel-plugin.json"), '{"name":"linked"}');
  symlinkSync(path.join(root, "extension.mjs"), path.join(linked, "extension.mjs"));
  expect(await readPlugin(linked)).toMatchObject({
    ok: true,
    plugin: { extension: undefined },
    problems: [expect.stringContaining("lies outside of it")],
  });

  // The same program runs when it is named: the trace would have been seen.
  const named = await stage.home.open({ ...stage.options, plugins: [root] });
  await named.inquire("panels");
  expect(readFileSync(trace, "utf8")).toBe("ran");
});

test("a damaged, throwing or boasting extension is words to a person, and the session goes on", async () => {
  const stage = await scriptedHome(byPosition([reply("Still here.")]));
  const throwing = `export default {
    commands: [
      { name: "breaks", description: "", run() { throw new Error("the cup is broken"); } },
      { name: "leaves", description: "", run() { process.exit(3); } },
      { name: "boasts", description: "", run: () => ({ text: "look", display: { kind: "html", text: "<script>" } }) },
      { name: "key", description: "", run: () => process.env.ANTHROPIC_API_KEY ?? "none" },
      { name: "a b", description: "", run() {} },
    ],
    panels: [
      { name: "broken", title: "Broken", show() { throw new Error("no panel today"); } },
      { name: "wrong", title: "Wrong", show: () => ({ displays: [{ kind: "frame", src: "https://example.org" }] }) },
    ],
  };`;
  const broken = plugin(stage.folder, "this is no program", "broken");
  const session = await stage.home.open({
    ...stage.options,
    plugins: [plugin(stage.folder, throwing), broken],
  });
  const heard = heardOf(session);
  for (const name of ["breaks", "leaves", "boasts", "key"]) await say(session, `/odd:${name}`);
  expect(answersIn(heard).map(({ text, display }) => [text, display])).toEqual([
    [expect.stringContaining("the cup is broken"), undefined],
    [expect.stringContaining("it ended with code 3"), undefined],
    [expect.stringMatching(/^look\n\(Its display was left out: /), undefined],
    ["none", undefined],
  ]);
  expect(await session.inquire("panel", { id: "odd:broken" })).toMatchObject({
    displays: [],
    problem: expect.stringContaining("no panel today"),
  });
  expect(await session.inquire("panel", { id: "odd:wrong" })).toMatchObject({
    displays: [],
    problem: expect.any(String),
  });
  await expect(session.inquire("panel", { id: "odd:none" })).rejects.toMatchObject({ code: "usage" });
  const told = heard.flatMap((event) => (event.type === "notice.raised" ? [event.text] : []));
  expect(told).toEqual(
    expect.arrayContaining([
      expect.stringContaining("The extension of the plugin broken is left out"),
      expect.stringContaining('"a b" of its commands is left out'),
    ]),
  );
  await say(session, "hi");
  await session.idle();
  expect(stage.server.requests).toHaveLength(1);
});

test("the program of the guide is the one of the examples", () => {
  const [shown] = examplesOf("extension");
  expect(shown?.text.trim()).toBe(readFileSync(path.join(example, "extension.mjs"), "utf8").trim());
});
