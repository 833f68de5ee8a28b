// Every example of the pages about instructions, commands, skills and plugins runs: files that a page shows are written,
// words that it shows are said, and each line below them is found in what the model is sent.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readText } from "./docs/documents.ts";
import { verifies } from "./verifies.ts";
import { type Tree, wordsStage } from "./words-stage.ts";

type Fence = { readonly kind: string; readonly name: string; readonly text: string };

const fencesIn = (page: string): Fence[] =>
  [...page.matchAll(/^```(\S+) ?(.*)\n([\s\S]*?)^```$/gm)].map(([, kind = "", name = "", text = ""]) => ({
    kind,
    name,
    text,
  }));

const pages = ["instructions", "commands", "skills", "plugins"] as const;
const plugins = { plugins: ["greeter"] } as const;

describe("the guide's page about", () => {
  test.each(pages)("%s shows what happens", async (name) => {
    verifies("S4.66");
    const fences = fencesIn(readText(`docs/guide/${name}.md`));
    const files = fences.filter((fence) => fence.name.includes("."));
    const sessions = fences.filter((fence) => fence.name === "session");
    const tree = (home: boolean): Tree =>
      Object.fromEntries(
        files
          .filter((file) => file.name.startsWith("~/") === home)
          .map((file) => [home ? file.name.slice(2) : file.name, file.text]),
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
    const [style] = fencesIn(readText("docs/guide/instructions.md")).filter(({ name }) =>
      name.includes("output-styles"),
    );
    expect(style).toBeDefined();
    const file = (style?.name ?? "").slice(2);
    const stage = await wordsStage({
      home: { [file]: style?.text ?? "" },
      options: { settings: { outputStyle: path.basename(file, ".md") } },
    });
    await stage.say("hi");
    expect(JSON.stringify(stage.body()["system"])).toContain("Three lines, no more.");
  });
});
