// Transcripts of the official interface at the doors of the built command: written, imported, gone on with.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { projectKeyOf } from "../../keel/src/kernel/path.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { startHost } from "./runner-host.ts";
import { openStage, type Stage, until } from "./stage.ts";
import { openWire } from "./wire-client.ts";

const host = { CLAUDE_CODE_ENTRYPOINT: "sdk-cli" };

const linesOf = ({ env, project }: Stage, id: string): Record<string, unknown>[] =>
  readFileSync(
    path.join(env["HOME"] ?? "", ".claude", "projects", projectKeyOf(project), `${id}.jsonl`),
    "utf8",
  )
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("the copy of a transcript is written", () => {
  const script = { replies: [reply("Looking.", toolUse("Glob", { pattern: "*" })), reply("Done.")] };
  const types = ["user", "assistant", "assistant", "user", "assistant"];

  test("by keel -p, once the command has ended", async () => {
    const stage = await openStage(script);
    const ended = await stage.run(["-p", "look", "--output-format", "json"], { env: host });
    const lines = linesOf(stage, JSON.parse(ended.stdout).session_id);
    expect(lines.map(({ type }) => type)).toEqual(types);
    expect(lines[0]).toMatchObject({ entrypoint: "sdk-cli", message: { content: "look" } });
  });

  test("by the executable of an SDK, before it ends", async () => {
    const stage = await openStage(script);
    const wire = openWire(stage, { env: host });
    wire.say("look");
    const result = await wire.line("a result", ({ type }) => type === "result");
    wire.endInput();
    await wire.ended;
    expect(linesOf(stage, String(result["session_id"])).map(({ type }) => type)).toEqual(types);
  });

  test("by the runner", async () => {
    const stage = await openStage(script);
    const runner = startHost(stage, [], host);
    runner.send({ type: "message", id: "00000000-0000-4000-8000-000000000001", content: "look" });
    await until("the turn is on disk", () => stage.log().some(({ type }) => type === "turn.finished"));
    runner.end();
    await runner.exited;
    expect(linesOf(stage, stage.sessions()[0] ?? "").map(({ type }) => type)).toEqual(types);
  });
});

const id = (number: number): string => `0196f0c2-1111-4222-8333-${String(number).padStart(12, "0")}`;

function transcript(number: number, cwd: string): string {
  const common = { isSidechain: false, sessionId: id(number), cwd, timestamp: "2026-01-01T00:00:00Z" };
  const ask = {
    ...common,
    type: "user",
    uuid: id(101),
    parentUuid: null,
    message: { role: "user", content: `Question ${number}` },
  };
  const message = {
    id: "m",
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text: `Answer ${number}` }],
  };
  const answer = { ...common, type: "assistant", uuid: id(102), parentUuid: id(101), message };
  return `${JSON.stringify(ask)}\n${JSON.stringify(answer)}\n`;
}

describe("keel sessions import", () => {
  test("takes a transcript, a folder of them, or those of all projects, each once; and goes on with one by its path", async () => {
    verifies("P53");
    const stage = await openStage({ replies: [reply("Gone on.")] });
    const write = (file: string, number: number): void => {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, transcript(number, stage.project));
    };
    write(path.join(stage.project, "old.jsonl"), 1);
    write(path.join(stage.project, "more", `${id(2)}.jsonl`), 2);
    write(path.join(stage.project, "more", "agent-x.jsonl"), 9);
    write(path.join(stage.env["HOME"] ?? "", ".claude", "projects", "-a", `${id(3)}.jsonl`), 3);
    writeFileSync(
      path.join(stage.env["HOME"] ?? "", ".claude", "projects", "-a", `${id(4)}.jsonl`),
      "rubbish\n",
    );

    expect(await stage.run(["sessions", "import", "old.jsonl"])).toMatchObject({
      code: 0,
      stdout: `${id(1)}\n`,
    });
    const again = await stage.run(["sessions", "import", "old.jsonl"]);
    expect(again).toMatchObject({ code: 0, stdout: `${id(1)}\n` });
    expect(again.stderr).toContain("It is there already; nothing was changed.");
    expect(await stage.run(["sessions", "import", "more"])).toMatchObject({ code: 0, stdout: `${id(2)}\n` });
    const all = await stage.run(["sessions", "import", "--all"]);
    expect(all).toMatchObject({ code: 1, stdout: `${id(3)}\n` });
    expect(all.stderr).toContain("Imported 1 sessions; 0 were there already. 1 could not be imported.");
    expect(all.stderr).toContain("was not imported");
    expect(all.stderr).not.toContain("stand beside it");
    const listed = await stage.run(["sessions", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toHaveLength(3);

    const gone = await stage.run(["-p", "--resume", "old.jsonl", "And now?"]);
    expect(gone).toMatchObject({ code: 0, stdout: "Gone on.\n" });
    expect(JSON.stringify(stage.server.requests.at(-1)?.body["messages"])).toContain("Answer 1");
    expect(await stage.run(["sessions", "import"])).toMatchObject({ code: 64 });
    expect(await stage.run(["sessions", "import", "--all", "old.jsonl"])).toMatchObject({ code: 64 });
  });

  test("takes a long one without holding it", async () => {
    const stage = await openStage({ replies: [] });
    const file = path.join(stage.project, "long.jsonl");
    // 40 MB, in a process that has less than that for all it holds.
    const lines: string[] = [];
    const common = { isSidechain: false, sessionId: id(5), cwd: stage.project };
    for (let number = 0; number < 10_000; number += 2) {
      const before = number === 0 ? null : id(1_000 + number - 1);
      const content = "x".repeat(8_000);
      lines.push(
        JSON.stringify({
          ...common,
          type: "user",
          uuid: id(1_000 + number),
          parentUuid: before,
          message: { role: "user", content: "go" },
        }),
      );
      const message = {
        id: `m${number}`,
        role: "assistant",
        model: "m",
        content: [{ type: "text", text: content }],
      };
      lines.push(
        JSON.stringify({
          ...common,
          type: "assistant",
          uuid: id(1_001 + number),
          parentUuid: id(1_000 + number),
          message,
        }),
      );
    }
    writeFileSync(file, `${lines.join("\n")}\n`);
    const ended = await stage.run(["sessions", "import", "long.jsonl"], {
      env: { NODE_OPTIONS: "--max-old-space-size=40" },
    });
    expect(ended).toMatchObject({ code: 0, stdout: `${id(5)}\n` });
    expect(ended.stderr).toContain("Imported 25002 events.");
  });
});
