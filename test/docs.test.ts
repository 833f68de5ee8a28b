// The documents, kept true by a test: the rules are in test/docs/.
// Every rule is first shown to fail on a small fixture; a rule that cannot fail guards nothing.
import { beforeAll, describe, expect, test } from "vitest";
import { commands } from "../keel/src/hosts/cli/command-table.ts";
import { durableEventSchema } from "../keel/src/protocol/event/durable.ts";
import { declarationsIn } from "../scripts/reference/declarations.ts";
import { eventTypes, referencePages, referenceSources, withEventList } from "../scripts/reference/pages.ts";
import { type Document, readDocuments, readText, repositoryFiles } from "./docs/documents.ts";
import {
  brokenLinks,
  missingPaths,
  stalePages,
  unknownCommands,
  unknownScripts,
  wrongDecisions,
  wrongEventList,
} from "./docs/rules.ts";

const manifest: { scripts: Record<string, string> } = JSON.parse(readText("package.json"));
const packaged: { exports: Record<string, unknown> } = JSON.parse(readText("keel/package.json"));
const scripts = Object.keys(manifest.scripts);
const doors = Object.keys(packaged.exports).map((door) => door.replace(/^\./, "keel"));
const known = await Promise.all(
  commands.map(async ({ name, options }) => ({
    name,
    options: Object.entries(await options()).flatMap(([long, { short, aliases = [] }]) => [
      ...[long, ...aliases].map((one) => `--${one}`),
      ...(short === undefined ? [] : [`-${short}`]),
    ]),
  })),
);
/** Made by a build or a run. */
const made = ["keel/dist", ".keel-test/"];
/** Stand in the projects of those who use Keel. */
const theirs = [
  ".keel/settings.json",
  ".keel/settings.local.json",
  ".mcp.json",
  ".keel/mcp.json",
  ".claude/",
  ".keel/commands/",
  ".keel/commands/git/push.md",
  ".keel/skills/",
  ".keel/agents/",
  ".keel/tools/",
  ".claude/tools/",
  "SKILL.md",
  "MEMORY.md",
  ".keel/issues.json",
  "@src/a.ts",
  ".keel/rules/",
  ".claude/rules/",
  "AGENTS.local.md",
  "CLAUDE.local.md",
  "CLAUDE.md",
  "GEMINI.md",
  "keel-plugin.json",
  "plugin.json",
  "hooks/hooks.json",
  "skills/",
  "output-styles/",
];
const eventHeading = "Events";

describe("the documents", () => {
  let files: string[] = [];
  let documents: Document[] = [];
  beforeAll(() => {
    files = repositoryFiles();
    documents = readDocuments(files);
  });

  test("are those that a reader expects", () => {
    const names = documents.map(({ file }) => file);
    for (const name of ["README.md", "AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"])
      expect(names).toContain(name);
    for (const name of ["SECURITY.md", "docs/glossary.md", "docs/guide/index.md"])
      expect(names).toContain(name);
  });

  test("have no broken link", () => {
    expect(brokenLinks(documents, files)).toEqual([]);
  });

  test("name only files that exist", () => {
    // Decisions and the changelog tell what was; the others what is.
    const present = documents.filter(({ file }) => !/^(CHANGELOG|docs\/decisions\/)/.test(file));
    expect(missingPaths(present, { files, others: [...doors, ...made, ...theirs] })).toEqual([]);
  });

  test("name only scripts that package.json has", () => {
    expect(unknownScripts(documents, scripts)).toEqual([]);
  });

  test("name only commands and options that the command line knows", () => {
    const present = documents.filter(({ file }) => !file.startsWith("docs/decisions/"));
    expect(unknownCommands(present, known)).toEqual([]);
  });

  test("say in ARCHITECTURE.md which events there are", () => {
    const { durable, live } = eventTypes(eventSources());
    const page = { file: "ARCHITECTURE.md", text: readText("ARCHITECTURE.md") };
    expect(wrongEventList(page, eventHeading, [...durable, ...live])).toEqual([]);
  });

  test("say of every event what it means", () => {
    const declared = Object.entries(eventSources()).flatMap(([file, text]) => declarationsIn(file, text));
    const events = declared.filter(({ name }) => ["durable", "LiveEvent"].includes(name));
    const silent = events.flatMap(({ members }) => members).filter(({ comment }) => comment === undefined);
    expect(events).toHaveLength(2);
    expect(silent.map(({ type }) => type)).toEqual([]);
  });

  test("have a reference that is what the source says now", async () => {
    const sources = Object.fromEntries(referenceSources.map((file) => [file, readText(file)]));
    const stored = (file: string) => (files.includes(file) ? readText(file) : undefined);
    expect(stalePages(await referencePages(sources), stored)).toEqual([]);
  });

  test("tell every decision in its four parts", () => {
    const decisions = documents.filter(({ file }) => file.startsWith("docs/decisions/"));
    expect(wrongDecisions(decisions)).toEqual([]);
  });
});

const eventSources = () =>
  Object.fromEntries(
    ["durable", "live"]
      .map((name) => `keel/src/protocol/event/${name}.ts`)
      .map((file) => [file, readText(file)] as const),
  );

const page = (text: string, file = "README.md"): Document[] => [{ file, text }];

describe("the rule of links", () => {
  const files = ["README.md", "docs/guide/index.md"];

  test.each([
    ["[gone](docs/gone.md)", "the link docs/gone.md leads nowhere"],
    ["[up](../outside.md)", "the link ../outside.md leads nowhere"],
    ["[part](#no-such-part)", "README.md has no heading #no-such-part"],
  ])("finds %s", (text, words) => {
    expect(brokenLinks(page(text), files)).toEqual([`README.md:1: ${words}`]);
  });

  test.each([
    "[guide](docs/guide/index.md)",
    "[folder](docs/guide/)",
    "[elsewhere](https://example.org/x)",
    "# A part, `named`\n[part](#a-part-named)",
    "`[no](link.md)`",
    "```\n[no](link.md)\n```",
  ])("accepts %s", (text) => {
    expect(brokenLinks(page(text), files)).toEqual([]);
  });

  test("follows a link from the page's own folder", () => {
    expect(brokenLinks(page("[home](../../README.md)", "docs/guide/index.md"), files)).toEqual([]);
    expect(brokenLinks(page("[home](README.md)", "docs/guide/index.md"), files)).toHaveLength(1);
  });
});

describe("the rule of paths", () => {
  const facts = {
    files: ["keel/src/engine/session.ts", "keel/bin/keel", "package.json"],
    others: ["keel/testing"],
  };

  test.each([
    "keel/src/engine/gone.ts",
    "engine/gone.ts",
    "gone.ts",
    "keel/gone",
    "gone/",
    "engine/{session,gone}.ts",
    "keel/gone/<name>.ts",
    "ession.ts",
  ])("finds that there is no %s", (path) => {
    expect(missingPaths(page(`See \`${path}\`.`), facts)).toHaveLength(1);
  });

  test.each([
    "keel/src/engine/session.ts",
    "engine/session.ts",
    "session.ts",
    "engine/{session}.ts",
    "keel/src/engine/",
    "engine/",
    "engine/<name>.ts",
    "keel/bin/keel",
    "keel/testing",
    "~/.keel/settings.json",
    "npm run check",
    "tool.finished",
    "and/or",
  ])("accepts %s", (path) => {
    expect(missingPaths(page(`See \`${path}\`.`), facts)).toEqual([]);
  });
});

describe("the rule of scripts", () => {
  test.each(["`npm run gone`", "```sh\nnpm ci && npm run gone\n```", "`npm start`"])("finds %s", (text) => {
    expect(unknownScripts(page(text), ["test"])).toHaveLength(1);
  });

  test("accepts what package.json has, and npm's own commands", () => {
    expect(
      unknownScripts(page("`npm ci && npm test`, `npm run test:long -- SUITE`"), ["test", "test:long"]),
    ).toEqual([]);
  });
});

describe("the rule of commands", () => {
  const few = [
    { name: "", options: ["-p", "--model"] },
    { name: "sessions list", options: ["--all"] },
    { name: "doctor", options: [] },
  ];

  test.each([
    ["`keel trust`", "there is no command keel trust"],
    ["`keel sessions gone ID`", "there is no command keel sessions gone ID"],
    ["`keel -p --gone`", "keel has no option --gone"],
    ["`keel sessions list --model x`", "keel sessions list has no option --model"],
    ["```sh\nFOO=1 keel/bin/keel doctor --json\n```", "keel doctor has no option --json"],
  ])("finds what is wrong with %s", (text, words) => {
    const [found, ...others] = unknownCommands(page(text), few);
    expect(found).toContain(words);
    expect(others).toEqual([]);
  });

  test.each([
    '`keel -p "do --this and --that"`',
    "`keel -p --model=x`",
    "`keel sessions`",
    "`keel sessions list --all`",
    "```sh\nkeel doctor   # looks --around\ncat x | keel -p\n```",
    "`keel/testing`",
    "keel trust is a word of prose",
  ])("accepts %s", (text) => {
    expect(unknownCommands(page(text), few)).toEqual([]);
  });
});

describe("the rule of events", () => {
  const list = { file: "ARCHITECTURE.md", text: "## Events\n- `turn.started`\n\n## Else\n- `turn.gone`" };

  test("finds an event that the list leaves out", () => {
    expect(wrongEventList(list, "Events", ["turn.started", "turn.finished"])).toEqual([
      "ARCHITECTURE.md: Events leaves out turn.finished",
    ]);
  });

  test("finds a listed event that does not exist", () => {
    expect(wrongEventList(list, "Events", [])).toEqual([
      "ARCHITECTURE.md: Events lists turn.started, which is no event",
    ]);
  });

  test("reads the list of that heading only", () => {
    expect(wrongEventList(list, "Events", ["turn.started"])).toEqual([]);
    expect(wrongEventList(list, "Missing", ["turn.started"])).toHaveLength(1);
  });
});

describe("the reference", () => {
  test("is stale when a page differs or is missing", () => {
    expect(stalePages({ "a.md": "new" }, () => "old")).toEqual(["a.md is stale; run: npm run reference"]);
    expect(stalePages({ "a.md": "new" }, () => undefined)).toHaveLength(1);
    expect(stalePages({ "a.md": "new" }, () => "new")).toEqual([]);
  });

  test("reads as many durable events from the source as the schema has at run time", () => {
    const atRunTime = durableEventSchema.def.options.map((option) => option.shape.type.def.values[0]);
    expect(eventTypes(eventSources()).durable).toEqual(atRunTime);
  });

  test("writes the list of events between its marks, and misses a page that has lost them", () => {
    const events = declarationsIn(
      "event.ts",
      'const durable = [/** Is so. */ z.object({ type: type("a.b") })];\nexport type LiveEvent = | { type: "c.d" };',
    );
    const [start, end] = readText("ARCHITECTURE.md").match(/<!--.*-->/g) ?? [];
    const written = withEventList(`before\n${start}\nold\n${end}\nafter`, events);
    expect(written).toContain("- `a.b`: is so\n");
    expect(written).toContain("- `c.d`\n");
    expect(written).not.toContain("old");
    expect(written.split("\n").at(-1)).toBe("after");
    expect(withEventList(written, events)).toBe(written);
    expect(() => withEventList("no marks", events)).toThrow("lost the marks");
  });

  test("shows a schema as a type, with its comments", () => {
    const source = `
      const rates = { input: z.number() };
      /** What it is. */
      export const thingSchema = z.object({
        ...rates,
        /** Why. */
        kind: z.enum(["a", "b"]),
        parts: z.optional(z.array(partSchema)),
        cost: z.nullable(z.number()),
      });
      export type Thing = z.infer<typeof thingSchema>;`;
    const [thing, ...others] = declarationsIn("thing.ts", source);
    expect(others).toEqual([]);
    expect(thing?.comment).toBe("What it is.");
    expect(thing?.members[0]?.shape).toBe(
      '{\n  input: number;\n  /** Why. */\n  kind: "a" | "b";\n  parts?: Part[];\n  cost: number | null;\n}',
    );
  });

  test("takes the members of a union apart by their type", () => {
    const source = `export type Live = | { type: "a.b"; at?: number | undefined } | { type: "c.d" };`;
    const [live] = declarationsIn("live.ts", source);
    expect(live?.members.map(({ type, shape }) => [type, shape])).toEqual([
      ["a.b", '{ type: "a.b"; at?: number }'],
      ["c.d", '{ type: "c.d" }'],
    ]);
  });
});

describe("the rule of decisions", () => {
  const whole = "# 1\n## Context\na\n## Decision\nb\n## Consequences\nc\n## What would change our mind\nd";

  test("finds a part that is missing or empty", () => {
    const text = whole.replace("## Consequences\nc", "## Consequences\n");
    expect(wrongDecisions(page(text, "docs/decisions/0001-a.md"))).toEqual([
      'docs/decisions/0001-a.md: has no part "Consequences"',
    ]);
  });

  test("finds a number that is out of order", () => {
    expect(wrongDecisions(page(whole, "docs/decisions/0002-a.md"))).toHaveLength(1);
    expect(wrongDecisions(page(whole, "docs/decisions/0001-a.md"))).toEqual([]);
  });
});
