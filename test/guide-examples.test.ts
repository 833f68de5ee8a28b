// Every example of the guide is of a kind that some test runs. Those that need no build run here:
// every example of the pages about instructions, commands, skills and plugins. Files that a page shows are written, words
// that it shows are said, and each line below them is found in what the model is sent.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readText } from "./docs/documents.ts";
import { type Example, exampleOf, examplesOf, runBy } from "./docs/examples.ts";
import { fencesIn, fencesOf, guideFences } from "./docs/fences.ts";
import { verifies } from "./support/verifies.ts";
import { type Tree, wordsStage } from "./support/words-stage.ts";

const pages = ["instructions", "commands", "skills", "plugins"] as const;
const plugins = { plugins: ["greeter"] } as const;

describe("the guide's page about", () => {
  test.each(pages)("%s shows what happens", async (name) => {
    verifies("S4.66");
    const fences = fencesOf(`docs/guide/${name}.md`);
    const files = fences.filter((fence) => exampleOf(fence) === "file");
    const sessions = fences.filter((fence) => exampleOf(fence) === "session");
    const tree = (home: boolean): Tree =>
      Object.fromEntries(
        files
          .filter((file) => file.label.startsWith("~/") === home)
          .map((file) => [home ? file.label.slice(2) : file.label, file.text]),
      );
    expect(files.length).toBeGreaterThan(1);
    expect(sessions.length).toBeGreaterThan(0);
    const stage = await wordsStage({
      files: tree(false),
      home: tree(true),
      options: { settingSources: ["user", "project", "local"], ...(name === "plugins" ? plugins : {}) },
    });
    expect(stage.session.notices).toEqual([]);
    let lines = 0;
    for (const { text } of sessions) {
      for (const part of text.split(/^> /m).filter((words) => words.trim() !== "")) {
        const [words = "", ...expected] = part.trimEnd().split("\n");
        await stage.say(words);
        for (const line of expected) expect(stage.sent(), `${words} → ${line}`).toContain(line);
        lines += expected.length;
      }
    }
    expect(lines).toBeGreaterThan(0);
  });

  test("instructions names a style that is there", async () => {
    const [style] = fencesOf("docs/guide/instructions.md").filter(({ label }) =>
      label.includes("output-styles"),
    );
    expect(style).toBeDefined();
    const file = (style?.label ?? "").slice(2);
    const stage = await wordsStage({
      home: { [file]: style?.text ?? "" },
      options: { settings: { outputStyle: path.basename(file, ".md") } },
    });
    await stage.say("hi");
    expect(JSON.stringify(stage.body()["system"])).toContain("Three lines, no more.");
  });
});

describe("an example of the guide", () => {
  const kinds = Object.keys(runBy) as Example[];

  test("is of a kind that a test runs", () => {
    const unknown = guideFences().filter((fence) => exampleOf(fence) === undefined);
    expect(unknown.map(({ page, line, kind, label }) => `${page}:${line} ${kind} ${label}`)).toEqual([]);
  });

  test.each(kinds)("of the kind %s is there, and its test asks for it", (kind) => {
    expect(examplesOf(kind).length).toBeGreaterThan(0);
    expect(readText(runBy[kind])).toMatch(new RegExp(`examplesOf\\("${kind}"\\)|exampleOf\\(.*"${kind}"`));
  });

  test.each([
    ["```json\n{}\n```", undefined],
    ["```json ~/.keel/settings.json\n{}\n```", "settings"],
    ["```\nwords\n```", undefined],
    ["```text\nwords\n```", undefined],
    ["```rust\nfn main() {}\n```", undefined],
    ["```sh from examples/headless.sh#x\nkeel\n```", undefined],
    ["- a list\n\n  ```sh\n  keel doctor\n  ```", "commands"],
  ])("%j is of the kind %s", (text, kind) => {
    const [fence, ...others] = fencesIn({ file: "docs/guide/new.md", text });
    expect(others).toEqual([]);
    expect(fence && exampleOf(fence)).toBe(kind);
    expect(fence?.text).not.toMatch(/^ /);
  });

  test("that nobody closes is told", () => {
    expect(() => fencesIn({ file: "a.md", text: "```sh\nkeel doctor" })).toThrow("a.md:1");
  });
});
