// `keel sessions`: listed, shown, taken away and brought back. Nothing runs meanwhile.
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, type Stage, until } from "./stage.ts";

const script = byPosition([
  reply("I look first.", toolUse("Bash", { command: "printf 'a<b>\\n'" })),
  reply("It prints **a<b>**."),
]);

describe("listing and showing", () => {
  test("the sessions of a folder, newest first, for people and for programs", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("ok") });
    expect((await stage.run(["sessions", "list"])).stdout).toBe("");
    expect((await stage.run(["sessions", "list", "--json"])).stdout).toBe("[]\n");
    await stage.run(["-p", "the first\nof two"]);
    await stage.run(["-p", "the second"]);
    const listed = await stage.run(["sessions", "list"]);
    expect(listed.stdout).toMatch(/^[\da-f-]{36} {2}\S+ \S+ {2}the second\n.*the first of two\n$/);
    const infos = JSON.parse((await stage.run(["sessions", "list", "--json"])).stdout);
    expect(infos).toMatchObject([
      { cwd: stage.project, firstInput: "the second" },
      { firstInput: "the first\nof two" },
    ]);
    const elsewhere = await stage.run(["sessions", "list"], { cwd: path.dirname(stage.project) });
    expect(elsewhere.stdout).toBe("");
    expect(
      (await stage.run(["sessions", "list", "--all"], { cwd: path.dirname(stage.project) })).stdout,
    ).toContain("the second");
  });

  test("showing says what happened, runs nothing and changes nothing", async () => {
    const stage = await openStage(script);
    await stage.run(["-p", "what does it print?", "--allowed-tools", "Bash"]);
    const [id = ""] = stage.sessions();
    const before = stage.log();
    const shown = await stage.run(["sessions", "show", id]);
    expect(shown.code).toBe(0);
    for (const part of ["what does it print?", "I look first.", "printf", "It prints"])
      expect(shown.stdout).toContain(part);
    expect(stage.log()).toEqual(before);
    expect(stage.server.requests).toHaveLength(2);
    for (const wrong of [[], [id, "x"]])
      expect((await stage.run(["sessions", "show", ...wrong])).code).toBe(64);
    expect((await stage.run(["sessions", "show", "11111111-2222-4333-8444-555555555555"])).code).toBe(66);
  });

  test("a session that is open elsewhere can be read meanwhile, but not deleted", async () => {
    const stage = await openStage({ replies: [replyWith({ delayMs: 60_000 }, "never")] });
    const holder = stage.start(["-p", "hold it"]);
    holder.child.stdin?.end();
    await until("the first request", () => stage.server.requests.length === 1);
    const [id = ""] = stage.sessions();
    const shown = await stage.run(["sessions", "show", id]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("hold it");
    expect((await stage.run(["sessions", "delete", id])).code).toBe(75);
    expect(stage.sessions()).toEqual([id]);
  });
});

describe("export and import", () => {
  test("a session goes out and comes back as a new one that goes on with the same conversation", async () => {
    verifies("P18");
    const stage = await openStage(script);
    const { id, file } = await exportedSession(stage);
    const imported = await stage.run(["sessions", "import", file]);
    expect(imported.code).toBe(0);
    const copy = imported.stdout.trim();
    expect(copy).not.toBe(id);
    const strip = (events: ReturnType<Stage["log"]>) =>
      events.map(({ sum: _, session: __, forkedFrom: ___, ...event }) => event);
    expect(strip(stage.log(copy))).toEqual(strip(stage.log(id)));
    expect(stage.log(copy)[0]).toMatchObject({ forkedFrom: { session: id, seq: stage.log(id).length } });
    const other = await openStage({ replies: [reply("I remember.")] });
    const there = (await other.run(["sessions", "import", file])).stdout.trim();
    expect(await other.run(["-p", "and now?", "--resume", there])).toMatchObject({
      code: 0,
      stdout: "I remember.\n",
    });
    expect(JSON.stringify(other.server.requests[0]?.body["messages"])).toContain("what does it print?");
    expect(JSON.parse((await other.run(["sessions", "list", "--json"])).stdout)).toMatchObject([
      { cwd: other.project },
    ]);
  });

  test("Markdown and HTML are whole pages on which nothing loads or runs", async () => {
    const stage = await openStage(script);
    const { id } = await exportedSession(stage);
    const markdown = await stage.run(["sessions", "export", id, "--format", "md"]);
    expect(markdown.stdout).toContain("# Session");
    const html = await stage.run(["sessions", "export", id, "--format", "html", "-o", "page.html"]);
    expect(html).toEqual({ code: 0, stdout: "", stderr: "" });
    const page = readFileSync(path.join(stage.project, "page.html"), "utf8");
    expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(page).toContain("a&#60;b&#62;");
    expect(page).not.toMatch(/<script|src="http/);
    expect((await stage.run(["sessions", "export", id, "--format", "pdf"])).code).toBe(64);
  });

  test("what is written to a file is private, and whole or not there", async () => {
    const stage = await openStage(script);
    const { id, file } = await exportedSession(stage);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const refused = await stage.run(["sessions", "export", id, "-o", "nowhere/x.jsonl"]);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    await stage.run(["sessions", "export", "11111111-2222-4333-8444-555555555555", "-o", "y.jsonl"]);
    expect(readdirSync(stage.project)).toEqual(["out.jsonl"]);
  });

  test("damaged input is refused with 65, and nothing is half done", async () => {
    const stage = await openStage(script);
    const { file } = await exportedSession(stage);
    const whole = readFileSync(file, "utf8");
    const rows = whole.trimEnd().split("\n");
    const damaged: Record<string, string> = {
      "one character changed": whole.replace("I look first", "I look later"),
      "a record missing": [...rows.slice(0, 4), ...rows.slice(5)].join("\n"),
    };
    const before = stage.sessions();
    for (const [what, content] of Object.entries(damaged)) {
      writeFileSync(file, content);
      const ended = await stage.run(["sessions", "import", file]);
      expect(ended, what).toMatchObject({ code: 65, stdout: "" });
      expect(ended.stderr, what).toContain("was not imported");
    }
    expect(stage.sessions()).toEqual(before);
    const missing = await stage.run(["sessions", "import", "nowhere.jsonl"]);
    expect(missing.code).toBe(65);
    expect(missing.stderr).toContain("nowhere.jsonl");
  });

  test("a damaged session is exported as far as it can be read, with a warning", async () => {
    const stage = await openStage(script);
    const { id } = await exportedSession(stage);
    const [key = ""] = readdirSync(path.join(stage.home, "projects"));
    appendFileSync(path.join(stage.home, "projects", key, `${id}.jsonl`), "rubbish\n");
    const ended = await stage.run(["sessions", "export", id]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("damaged");
    expect(ended.stdout).toContain("what does it print?");
  });
});

test("a deleted session is gone, and a second time it is unknown", async () => {
  const stage = await openStage({ replies: [reply("ok")] });
  await stage.run(["-p", "hi"]);
  const [id = ""] = stage.sessions();
  expect(await stage.run(["sessions", "delete", id])).toMatchObject({ code: 0, stdout: "" });
  expect(stage.sessions()).toEqual([]);
  expect((await stage.run(["sessions", "delete", id])).code).toBe(66);
  expect(existsSync(path.join(stage.home, "projects"))).toBe(true);
});

async function exportedSession(stage: Stage): Promise<{ id: string; file: string }> {
  await stage.run(["-p", "what does it print?", "--allowed-tools", "Bash"]);
  const [id = ""] = stage.sessions();
  const ended = await stage.run(["sessions", "export", id, "-o", "out.jsonl"]);
  expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
  return { id, file: path.join(stage.project, "out.jsonl") };
}
