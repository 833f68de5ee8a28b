// Lines that no host should send: each gets its one answer, and the next good line is answered all the same.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { bytesOf, type LineRow, readLineRows } from "../corpus/jsonl-rows.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { type Host, startHost } from "./runner-host.ts";
import { openStage, type Stage } from "./stage.ts";

const rows = readLineRows();

test("the corpus of lines is here", () => {
  expect(rows.length).toBeGreaterThanOrEqual(80);
});

/** Lines that must leave no trace: many of them go to one runner, which answers each as if it were the first. */
const traceless = rows.filter(
  ({ outcome, needs, firstLine, thenEof, maxRssGrowthMb }) =>
    (outcome === "error" || outcome === "ignore") &&
    !needs &&
    !firstLine &&
    !thenEof &&
    maxRssGrowthMb === undefined,
);

test("lines of the corpus that leave no trace: each has its one answer, and the runner is as it was", {
  timeout: 120_000,
}, async () => {
  verifies("G39", "G40");
  expect(traceless.length).toBeGreaterThan(50);
  const stage = await openStage({ replies: [], otherwise: reply("Heard.") });
  const host = startHost(stage);
  await host.next("init");
  // The last of what a start says.
  await host.next("context_window_size");
  for (const row of traceless) {
    const before = host.lines.length;
    await deliver(host, row, "");
    host.send({ type: "get_mcp_status", id: row.id });
    await host.next("mcp_status", ({ inputId }) => inputId === row.id);
    const said = host.lines.slice(before);
    expectErrors(
      row,
      said.filter(({ type }) => type === "error"),
    );
    const others = said.flatMap(({ type }) => (type === "error" || type === "mcp_status" ? [] : [type]));
    expect(others, row.id).toEqual([]);
  }
  host.send({ type: "message", content: "hi" });
  await host.next("result");
  expect(stage.server.requests).toHaveLength(1);
  host.send({ type: "stop" });
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
});

function expectErrors(row: LineRow, found: ReturnType<typeof errors>): void {
  if (row.outcome !== "error") return expect(found, row.id).toEqual([]);
  const count = row.gen?.lines === undefined ? 1 : row.gen.count;
  expect(
    found.map(({ code }) => code),
    row.id,
  ).toEqual(Array.from({ length: count }, () => row.code));
  for (const { message } of found.slice(0, 3)) expect(String(message).length).toBeLessThanOrEqual(260);
}

describe("a line of the corpus", () => {
  test.each(rows.filter((row) => !traceless.includes(row)))(
    "$id $class: $why",
    { timeout: 120_000 },
    async (row) => {
      verifies("G39", "G40");
      const stage = await openStage((_, { assistantTurns }) =>
        row.needs === "pendingApproval" && assistantTurns === 0
          ? reply(toolUse("ExitPlanMode", { plan: "1. Do it" }, "plan"))
          : reply("Heard."),
      );
      const host = startHost(stage, row.needs ? ["--permission-mode", "plan"] : []);
      const request = await prepare(host, row);
      const before = errors(host).length;
      const rss = rssOf(host);
      await deliver(host, row, request);
      if (row.thenEof) return expectEnd(row, { host, stage });
      host.send({ type: "get_mcp_status", id: "probe" });
      await host.next("mcp_status", ({ inputId }) => inputId === "probe");
      expectErrors(row, errors(host).slice(before));
      if (row.outcome === "accept" && row.class !== "interrupt" && row.class !== "flood")
        await host.next("result");
      if (row.class === "privilege" || row.why.includes("mode must not change"))
        expect(host.lines.filter(({ type }) => type === "permission_mode_changed")).toEqual([]);
      if (row.roundTrip) expectSame(row, stage);
      if (row.maxRssGrowthMb !== undefined) expect(rssOf(host) - rss).toBeLessThan(row.maxRssGrowthMb + 16);
      host.send({ type: "stop" });
      expect((await host.exited).code).toBe(0);
      expect(host.stray).toEqual([]);
    },
  );
});

async function prepare(host: Host, row: LineRow): Promise<string> {
  if (!row.firstLine) await host.next("init");
  if (row.needs !== "pendingApproval") return "";
  host.send({ type: "message", content: "plan" });
  return String((await host.next("plan_approval_request"))["requestId"]);
}

async function deliver(host: Host, row: LineRow, request: string): Promise<void> {
  for (const piece of bytesOf(row, (text) => text.replaceAll("{REQ}", request))) {
    if (row.delivery === undefined) {
      if (host.child.stdin?.write(piece) === false)
        await new Promise((resolve) => host.child.stdin?.once("drain", resolve));
      continue;
    }
    const step = row.delivery === "byte" ? 1 : piece.indexOf(0xc3) + 1;
    for (let at = 0; at < piece.length; at += step) {
      host.write(piece.subarray(at, at + step));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  if (!row.thenEof) host.write("\n");
}

async function expectEnd(row: LineRow, { host, stage }: { host: Host; stage: Stage }): Promise<void> {
  host.end();
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
  expect(errors(host).map(({ code }) => code)).toEqual(row.outcome === "error" ? [row.code] : []);
  if (row.outcome === "accept") {
    expect(host.lines.filter(({ type }) => type === "result")).toHaveLength(1);
    expect(stage.server.requests).toHaveLength(1);
  }
}

function expectSame(row: LineRow, stage: Stage): void {
  const { content } = JSON.parse(Buffer.from(row.b64 ?? "", "base64").toString("utf8"));
  expect(JSON.stringify(stage.server.requests[0]?.body)).toContain(JSON.stringify(content).slice(1, -1));
}

const errors = ({ lines }: Host) => lines.filter(({ type }) => type === "error");

function rssOf({ child }: Host): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

test("changed lines: one error for each bad one, no crash, and the next good line is answered", {
  timeout: 3_600_000,
}, async () => {
  verifies("G39", "G40");
  const stage = await openStage({ replies: [], otherwise: reply("Heard.") });
  const host = startHost(stage);
  await host.next("init");
  const random = generator(seed());
  const count = countOf("runner-lines");
  const batch = 2_000;
  for (let sent = 0; sent < count; sent += batch) {
    const lines = Array.from({ length: Math.min(batch, count - sent) }, () => changed(random));
    const payload = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
    if (host.child.stdin?.write(payload) === false)
      await new Promise((resolve) => host.child.stdin?.once("drain", resolve));
    host.send({ type: "get_account_info", id: `p${sent}` });
    await host.next("account_info", ({ inputId }) => inputId === `p${sent}`);
    expect(host.stray).toEqual([]);
  }
  expect(host.child.exitCode).toBeNull();
  host.send({ type: "stop" });
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
});

const seeds = [
  '{"type":"interrupt"}',
  '{"type":"get_mcp_status","id":"x"}',
  '{"type":"set_permission_mode","mode":"plan"}',
  '{"type":"set_max_thinking_tokens","maxThinkingTokens":100}',
  '{"type":"rewind_files","checkpoint":"00000000-0000-4000-8000-000000000000"}',
  '{"type":"user_question_response","requestId":"a","answers":{"b":"c"}}',
  '{"type":"tool_approval_response","requestId":"a","approved":true,"input":{"x":[1,2]}}',
  '{"type":"set_mcp_servers","servers":{"a":{"command":"b"}}}',
];

/** A good line with some of its bytes changed, taken out, doubled or swapped. Messages are left out: each is a turn. */
function changed(random: () => number): Buffer {
  const bytes = [...Buffer.from(seeds[Math.floor(random() * seeds.length)] ?? "")];
  for (let times = Math.floor(random() * 6); times > 0; times--) {
    const at = Math.floor(random() * bytes.length);
    const byte = Math.floor(random() * 256);
    const kind = Math.floor(random() * 4);
    if (kind === 0) bytes[at] = byte;
    else if (kind === 1) bytes.splice(at, 1 + Math.floor(random() * 5));
    else if (kind === 2) bytes.splice(at, 0, ...bytes.slice(at, at + 1 + Math.floor(random() * 20)));
    else bytes.splice(at, 0, byte);
  }
  return Buffer.from(bytes.filter((byte) => byte !== 0x0a));
}

function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
