// The built command: slash commands without a model, mentions and instructions with one, plugins and imports.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { lines, openStage } from "./stage.ts";

const write = (root: string, file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};

describe("keel -p", () => {
  test("answers a command that needs no model, as text and as JSON", async () => {
    verifies("S4.66", "S4.70");
    const stage = await openStage({ replies: [] });
    const help = await stage.run(["-p", "/help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("/compact [what the summary should keep]");
    const json = await stage.run(["-p", "--output-format", "json", "/status"]);
    expect(lines(json.stdout)[0]).toMatchObject({
      subtype: "success",
      num_turns: 0,
      local_command: "status",
    });
    expect(stage.server.requests).toHaveLength(0);
  });

  test("tells the model instructions and what is mentioned, and lists commands in init", async () => {
    verifies("S4.43", "S0.82");
    const stage = await openStage({ replies: [reply("ok")] });
    write(stage.project, "AGENTS.md", "PROJECT RULES");
    write(stage.project, "notes.txt", "NOTES");
    write(stage.home, "commands/mine.md", "Do $1 with @notes.txt.");
    const ran = await stage.run(["-p", "--output-format", "stream-json", "/mine it"]);
    expect(ran.code).toBe(0);
    expect(lines(ran.stdout)[0]).toMatchObject({
      subtype: "init",
      slash_commands: expect.arrayContaining(["mine", "help"]),
      skills: expect.arrayContaining(["commit"]),
    });
    const sent = JSON.stringify(stage.server.requests[0]?.body);
    for (const mark of ["PROJECT RULES", "Do it with @notes.txt.", "NOTES"]) expect(sent).toContain(mark);
  });
});

describe("keel plugin", () => {
  test("adds, lists and removes", async () => {
    verifies("P19");
    const stage = await openStage({ replies: [reply("ok")] });
    write(stage.project, "plug/keel-plugin.json", '{"name":"plug","version":"2.0.0"}');
    write(stage.project, "plug/commands/go.md", "PLUGIN TEXT");
    const added = await stage.run(["plugin", "add", "plug"]);
    expect(added).toMatchObject({ code: 0, stderr: "Added: plug\n" });
    expect(added.stdout).toContain("/plug:go");
    expect(lines((await stage.run(["plugin", "list", "--json"])).stdout)[0]).toMatchObject([
      { name: "plug" },
    ]);
    await stage.run(["-p", "/plug:go"]);
    expect(JSON.stringify(stage.server.requests[0]?.body)).toContain("PLUGIN TEXT");
    expect(await stage.run(["plugin", "remove", "plug"])).toMatchObject({ code: 0 });
    expect(await stage.run(["plugin", "remove", "plug"])).toMatchObject({ code: 1 });
    expect(await stage.run(["plugin", "add", "nowhere"])).toMatchObject({ code: 64 });
  });
});

describe("keel import", () => {
  test("only shows without somebody to ask, and copies with --yes", async () => {
    verifies("P53");
    const stage = await openStage({ replies: [] });
    write(path.dirname(stage.project), ".codex/config.toml", 'model = "gpt-x"\n');
    write(path.dirname(stage.project), ".codex/AGENTS.md", "Rules of mine.");
    const shown = await stage.run(["import", "codex"]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^new +setting +model = "gpt-x"/);
    expect(await stage.run(["import", "codex", "--yes"])).toMatchObject({
      code: 0,
      stderr: "Copied: 2 of 2.\n",
    });
    expect(readFileSync(path.join(stage.home, "AGENTS.md"), "utf8")).toBe("Rules of mine.");
    expect((await stage.run(["import", "codex", "--yes"])).stderr).toBe("There is nothing to copy.\n");
    expect(await stage.run(["import", "nobody"])).toMatchObject({ code: 64 });
  });
});
