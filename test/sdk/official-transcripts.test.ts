// Transcripts of the official interface become sessions of ours: once, whole as far as they can be read, and ready to go on.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import { projectKeyOf } from "../../keel/src/kernel/path.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { getSubagentMessages, listSubagents } from "../../keel/src/sdk/stored/session-functions.ts";
import { reply, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { all, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const id = "0196f0c2-1111-4222-8333-444455556666";
const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const model = "claude-sonnet-4-5";

type Line = Record<string, unknown>;

/** Lines in the shape of the interface: each number is an id, `after` the line before. */
const line = (number: number, after: number | null, more: Line): Line => ({
  parentUuid: after === null ? null : uuid(after),
  isSidechain: false,
  sessionId: id,
  uuid: uuid(number),
  timestamp: new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString(),
  ...more,
});
const said = (number: number, after: number | null, content: unknown, more: Line = {}): Line =>
  line(number, after, { type: "user", message: { role: "user", content }, ...more });
const replied = (number: number, after: number | null, message: string, block: Line, more: Line = {}): Line =>
  line(number, after, {
    type: "assistant",
    requestId: `req_${message}`,
    message: {
      id: message,
      role: "assistant",
      model,
      content: [block],
      usage: {
        input_tokens: 10,
        output_tokens: 20,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 1,
      },
    },
    ...more,
  });
const words = (text: string): Line => ({ type: "text", text });
const call = (callId: string, name: string, input: Line = {}): Line => ({
  type: "tool_use",
  id: callId,
  name,
  input,
});
const found = (callId: string, content: unknown, more: Line = {}): Line[] => [
  { type: "tool_result", tool_use_id: callId, content, ...more },
];

const textOf = (lines: readonly (Line | string)[]): string =>
  lines.map((each) => `${typeof each === "string" ? each : JSON.stringify(each)}\n`).join("");

function place(stage: SdkStage, lines: readonly (Line | string)[], name = `${id}.jsonl`): string {
  const folder = path.join(
    String(stage.options.env?.["HOME"]),
    ".claude",
    "projects",
    projectKeyOf(stage.cwd),
  );
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  writeFileSync(file, textOf(lines));
  return file;
}

const sessionsOf = ({ home, cwd }: SdkStage) => openHome({ env: {}, cwd, home }).sessions;
const importInto = (stage: SdkStage, file: string) =>
  sessionsOf(stage).importFile(file, { cwd: stage.cwd, version: "0" });
const logOf = (stage: SdkStage, session = id): Promise<Durable[]> =>
  Array.fromAsync(sessionsOf(stage).read(session));

async function goOn(stage: SdkStage, more: Options = {}) {
  const told = await all(query({ prompt: "Go on.", options: { ...stage.options, resume: id, ...more } }));
  return told.find(({ type }) => type === "result");
}

/** What the model was sent, as a provider sees it: the server refuses what a provider would refuse. */
const sent = ({ server }: SdkStage): string => JSON.stringify(server.requests.at(-1)?.body["messages"]);

const conversation = (cwd: string): Line[] => [
  { type: "summary", summary: "Looking at a", leafUuid: uuid(6) },
  said(1, null, "Look at a.txt", { cwd, gitBranch: "main", permissionMode: "bypassPermissions" }),
  replied(2, 1, "m1", { type: "thinking", thinking: "hm", signature: "sig-1" }),
  replied(3, 2, "m1", words("Reading both.")),
  replied(4, 3, "m1", call("t1", "Read", { file_path: "a.txt" })),
  // Two calls at once: their results stand on branches of their own.
  said(5, 4, found("t1", "a"), { toolUseResult: { type: "text", file: { content: "a" } } }),
  replied(6, 4, "m1", call("t2", "Read", { file_path: "b.png" })),
  said(
    7,
    6,
    found("t2", [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }]),
  ),
  replied(8, 7, "m2", words("Both are short.")),
];

describe("a transcript of the official interface", () => {
  test("is resumed by its id, and the next request is valid and has all of it", async () => {
    verifies("P53");
    const stage = await sdkStage({ replies: [reply("Gone on.")] });
    place(stage, conversation(stage.cwd));
    const result = await goOn(stage);
    expect(result).toMatchObject({ subtype: "success", result: "Gone on.", session_id: id });
    const request = sent(stage);
    for (const part of [
      "Look at a.txt",
      "sig-1",
      "Reading both.",
      '"t1"',
      '"t2"',
      "image/png",
      "Both are short.",
      "Go on.",
    ])
      expect(request).toContain(part);
    // What was allowed there is not allowed here.
    const [opened] = await logOf(stage);
    expect(opened).toMatchObject({ type: "session.opened", settings: { permissionMode: "default", model } });
  });

  test("is resumed by its path, also into a copy", async () => {
    const stage = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const file = path.join(stage.cwd, "old.jsonl");
    writeFileSync(file, textOf(conversation(stage.cwd)));
    const result = await goOn(stage, { resume: "old.jsonl" });
    expect(result).toMatchObject({ subtype: "success", session_id: id });
    const forked = await goOn(stage, { resume: file, forkSession: true });
    expect(forked?.session_id).not.toBe(id);
    expect(sent(stage)).toContain("Both are short.");
  });

  test("is imported once, stays as it is, and carries its bill and its title", async () => {
    verifies("P53");
    const stage = await sdkStage({ replies: [] });
    const file = place(stage, conversation(stage.cwd));
    const before = readFileSync(file);
    expect(await importInto(stage, file)).toMatchObject({ id, state: "new", notices: [] });
    const log = await logOf(stage);
    expect(await importInto(stage, file)).toMatchObject({ id, state: "there" });
    // It went on there: here nothing is overwritten.
    appendFileSync(file, textOf([said(9, 8, "more")]));
    expect(await importInto(stage, file)).toMatchObject({ id, state: "there" });
    expect(await logOf(stage)).toEqual(log);
    expect(readFileSync(file).subarray(0, before.length)).toEqual(before);
    const replies = log.flatMap((event) => (event.type === "model.finished" ? [event] : []));
    // The blocks of a reply are one reply, and are paid for once.
    expect(
      replies.map(({ providerId, usage, costUsd }) => [providerId, usage.outputTokens, (costUsd ?? 0) > 0]),
    ).toEqual([
      ["m1", 20, true],
      ["m2", 20, true],
    ]);
    expect(log.at(-1)).toMatchObject({ type: "session.closed" });
    const [info] = await sessionsOf(stage).list({ cwd: stage.cwd });
    expect(info).toMatchObject({ id, title: "Looking at a", firstInput: "Look at a.txt" });
    expect(readdirSync(stage.home).filter((name) => name.startsWith("importing"))).toEqual([]);
  });

  test("goes along the newest branch: what was taken back is not said again", async () => {
    const stage = await sdkStage({ replies: [reply("ok")] });
    place(stage, [
      said(1, null, "first", { cwd: stage.cwd }),
      replied(2, 1, "m1", words("one")),
      said(3, 2, "TAKEN BACK"),
      replied(4, 3, "m2", words("dead end")),
      said(5, 2, "instead"),
      replied(6, 5, "m3", words("another way")),
    ]);
    await goOn(stage);
    expect(sent(stage)).toContain("another way");
    expect(sent(stage)).not.toMatch(/TAKEN BACK|dead end/);
  });

  test("with damaged lines is told of and kept as far as it can be read", async () => {
    const stage = await sdkStage({ replies: [reply("ok")] });
    const broken = JSON.stringify(replied(2, 1, "m1", words("lost"))).slice(0, 60);
    const file = place(stage, [
      said(1, null, "first", { cwd: stage.cwd }),
      broken,
      said(3, 2, "second"),
      replied(4, 3, "m2", call("t1", "Bash", { command: "sleep 9" })),
      "\u0000\u0000",
      '{"type":"assis',
    ]);
    const stderr: string[] = [];
    await goOn(stage, { stderr: (text) => stderr.push(text) });
    expect(stderr.join("")).toContain(
      "lines 2, 5, 6 cannot be read and are left out; they stay in the file.",
    );
    expect(sent(stage)).toContain("first");
    expect(sent(stage)).toContain("second");
    // A call without a result has one before the next request.
    expect(sent(stage)).toContain("may have had effects");
    expect(readFileSync(file, "utf8")).toContain('{"type":"assis');
  });

  test("that was shortened goes on from its summary", async () => {
    const stage = await sdkStage({ replies: [reply("ok")] });
    place(stage, [
      said(1, null, "long ago", { cwd: stage.cwd }),
      replied(2, 1, "m1", words("old words")),
      line(3, null, {
        type: "system",
        subtype: "compact_boundary",
        logicalParentUuid: uuid(2),
        compactMetadata: { trigger: "auto", preTokens: 900, postTokens: 90 },
      }),
      said(4, 3, "SUMMARY of it", { isCompactSummary: true }),
      said(5, 4, "next"),
      replied(6, 5, "m2", words("new words")),
    ]);
    await goOn(stage);
    expect(sent(stage)).toContain("SUMMARY of it");
    expect(sent(stage)).toContain("new words");
    expect(sent(stage)).not.toContain("old words");
    const shortened = (await logOf(stage)).find(({ type }) => type === "context.compacted");
    expect(shortened).toMatchObject({ trigger: "full", tokensBefore: 900, tokensAfter: 90 });
    // It is all still there to be read.
    expect(JSON.stringify(await logOf(stage))).toContain("old words");
  });

  test("brings its agents, from files of their own and from lines in between, with what they used", async () => {
    const stage = await sdkStage({ replies: [] });
    const side = { isSidechain: true };
    const file = place(stage, [
      said(1, null, "go", { cwd: stage.cwd }),
      replied(2, 1, "m1", call("t1", "Task", { prompt: "Look around.", description: "look" })),
      said(3, 2, found("t1", "I looked."), { toolUseResult: { agentId: "a1", status: "completed" } }),
      replied(4, 3, "m2", call("t2", "Task", { prompt: "Look again." })),
      said(20, null, "Look again.", side),
      replied(21, 20, "s1", words("Inside."), side),
      said(5, 4, found("t2", "Inside.")),
      replied(6, 5, "m3", words("Done.")),
    ]);
    const folder = path.join(file.replace(/\.jsonl$/, ""), "subagents");
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      path.join(folder, "agent-a1.jsonl"),
      textOf([
        said(30, null, "Look around.", { ...side, agentId: "a1" }),
        replied(31, 30, "s2", words("I looked."), { ...side, agentId: "a1" }),
      ]),
    );
    writeFileSync(
      path.join(folder, "agent-a1.meta.json"),
      JSON.stringify({ agentType: "Explore", toolUseId: "t1" }),
    );
    expect(await importInto(stage, file)).toMatchObject({ state: "new", agents: 2 });
    const agents = await listSubagents(id, { dir: stage.cwd });
    expect(agents).toHaveLength(2);
    const texts = await Promise.all(
      agents.map(async (agent) => JSON.stringify(await getSubagentMessages(id, agent, { dir: stage.cwd }))),
    );
    expect(texts.filter((text) => text.includes("I looked.") || text.includes("Inside."))).toHaveLength(2);
    const ends = (await logOf(stage)).flatMap((event) =>
      event.type === "task.changed" && event.status === "completed" ? [event.data] : [],
    );
    expect(ends).toMatchObject([
      { agent: "Explore", callId: "t1", report: "I looked.", bill: { usage: { outputTokens: 20 } } },
      { callId: "t2", report: "Inside.", bill: { usage: { outputTokens: 20 } } },
    ]);
    expect(
      JSON.stringify((await logOf(stage)).filter(({ type }) => type === "input.accepted")),
    ).not.toContain("Look again.");
  });

  test("that Keel wrote itself comes back the same", async () => {
    const stage = await sdkStage({
      replies: [
        reply(thinking("hm", "sig-9"), "Looking.", toolUse("Read", { file_path: "a.txt" })),
        reply("It says a."),
        reply("ok"),
      ],
    });
    writeFileSync(path.join(stage.cwd, "a.txt"), "a\n");
    const env = { ...stage.options.env, CLAUDE_CODE_ENTRYPOINT: "sdk-ts" };
    const told = await all(query({ prompt: "look", options: { ...stage.options, env } }));
    const own = told.find(({ type }) => type === "result")?.session_id ?? "";
    const written = readFileSync(place(stage, [], "x.jsonl").replace("x.jsonl", `${own}.jsonl`), "utf8");
    const elsewhere = await sdkStage({ replies: [reply("ok")] });
    place(elsewhere, written.trimEnd().split("\n"), `${own}.jsonl`);
    await goOn(elsewhere, { resume: own });
    for (const part of ["look", "sig-9", "Looking.", "tool_result", "It says a."])
      expect(sent(elsewhere)).toContain(part);
  });

  test("is nothing where it holds no conversation: nothing is written, and the words say so", async () => {
    const stage = await sdkStage({ replies: [] });
    const file = place(stage, [
      { type: "user", isSidechain: true, message: { role: "user", content: "inside" } },
    ]);
    await expect(importInto(stage, file)).rejects.toMatchObject({
      code: "not_imported",
      message: expect.stringContaining("holds no conversation"),
    });
    const other = place(stage, ["hello", "world"], "other.jsonl");
    await expect(importInto(stage, other)).rejects.toMatchObject({ code: "not_imported" });
    expect(existsSync(path.join(stage.home, "projects"))).toBe(false);
  });
});
