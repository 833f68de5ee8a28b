// The wire of the executable under bad lines, long lines, floods, readers that do not read and readers that are gone.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readFrame } from "../../keel/src/sdk/control/frames.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { parseJsonLine } from "../../keel/src/transport/strict-json.ts";
import { bytesOf, type LineRow, readLineRows } from "../corpus/line-rows.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, until } from "./stage.ts";
import { isResult, type Line, openWire, type WireClient } from "./wire-client.ts";

const mebibyte = 1024 * 1024;
const rows = readLineRows();

const isBad = ({ subtype, level, tag }: Line): boolean =>
  subtype === "informational" && level === "warning" && /^line_/.test(String(tag));
const badIn = (wire: WireClient): Line[] => wire.lines.filter(isBad);

async function openQuietly(start: "introduced" | "silent" = "introduced"): Promise<WireClient> {
  const stage = await openStage({ replies: [], otherwise: reply("Hi.") });
  const wire = openWire(stage);
  if (start === "introduced") await wire.request({ subtype: "initialize" });
  return wire;
}

/** A good line right behind the bad one is to be answered within a second; a machine with other work gets ten. */
const maxAnswerMs = 10_000;

async function probe(wire: WireClient): Promise<void> {
  const answer = wire.request({ subtype: "get_binary_version" });
  const late = pause(maxAnswerMs, "no answer in time", { ref: false });
  expect(await Promise.race([answer, late])).toEqual({ version: expect.any(String) });
}

async function write(wire: WireClient, bytes: Uint8Array): Promise<void> {
  if (!wire.child.stdin.write(bytes)) await new Promise((resolve) => wire.child.stdin.once("drain", resolve));
}

const residentBytes = (pid: number | undefined): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

describe("bad lines", () => {
  test("each is told once, in few words, and the session goes on", async () => {
    verifies("G39");
    const wire = await openQuietly();
    const bad = [
      "hello",
      "{",
      '{"type":"user"}{"type":"user"}',
      "[]",
      "null",
      "{}",
      '{"type":7}',
      '{"type":"user","message":{"role":"assistant","content":"x"}}',
      '{"type":"user","message":{"role":"user","content":7}}',
      '{"type":"user","type":"user"}',
      '{"type":"control_request","request":{"subtype":"interrupt"}}',
      '{"type":"control_response","response":{"subtype":"success"}}',
      '{"type":"control_cancel_request"}',
      `${"z".repeat(5_000)}`,
    ];
    for (const [index, line] of bad.entries()) {
      wire.raw(`${line}\n`);
      await probe(wire);
      expect(badIn(wire), line.slice(0, 80)).toHaveLength(index + 1);
    }
    for (const { content } of badIn(wire)) expect(String(content).length).toBeLessThan(400);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("what only newer ones know, blank lines and signs of life are passed over", async () => {
    const wire = await openQuietly();
    wire.raw('\n   \n{"type":"keep_alive"}\n{"type":"from_the_future","x":1}\r\n{"type":"__proto__"}\n');
    wire.send({ type: "control_response", response: { subtype: "success", request_id: "nobody asked" } });
    wire.send({ type: "control_cancel_request", request_id: "nobody asked" });
    await probe(wire);
    expect(badIn(wire)).toEqual([]);
  });

  test("a request whose body is none is answered under its id", async () => {
    const wire = await openQuietly();
    wire.send({ type: "control_request", request_id: "x1", request: "interrupt" });
    await wire.line(
      "the answer",
      ({ response }) => (response as { request_id?: string })?.request_id === "x1",
    );
    expect(badIn(wire)).toEqual([]);
  });

  test("a message with a block that is none is told, and the next one is answered", async () => {
    const stage = await openStage({ replies: [reply("Hi.")] });
    const wire = openWire(stage);
    wire.send({ type: "user", message: { role: "user", content: [{ type: "dance" }] } });
    wire.say("hi");
    expect(await wire.line("a result", isResult)).toMatchObject({ result: "Hi." });
    expect(wire.lines.filter(({ subtype }) => subtype === "informational")).toMatchObject([{ tag: "usage" }]);
  });

  test("a last line without its end counts, and a cut one is told", async () => {
    const stage = await openStage({ replies: [reply("Hi.")] });
    const wire = openWire(stage);
    wire.raw('{"type":"us\n{"type":"user","message":{"role":"user","content":"hi"}}');
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(wire.results()).toMatchObject([{ result: "Hi." }]);
    expect(badIn(wire)).toHaveLength(1);
  });

  test("of many changed lines, every bad one is told and every good request is answered", {
    timeout: 3_600_000,
  }, async () => {
    verifies("G39");
    const wire = await openQuietly();
    const random = generator(seed());
    let bad = 0;
    let asked = 0;
    for (let index = 0; index < countOf("wire-lines"); index += 1) {
      const line = changed(goodLine(index, random), random);
      if (line.trim() === "") continue;
      const parsed = parseJsonLine(line);
      const frame = parsed.ok ? readFrame(parsed.value) : undefined;
      if (!frame || frame.kind === "bad") bad += 1;
      if (frame?.kind === "request" || frame?.kind === "refused") asked += 1;
      await write(wire, Buffer.from(`${line}\n`));
    }
    await probe(wire);
    await until("all answers", () => badIn(wire).length >= bad);
    expect(badIn(wire)).toHaveLength(bad);
    // The introduction and the probe are answered too.
    const answers = (): number => wire.lines.filter(({ type }) => type === "control_response").length;
    await until("all answers", () => answers() >= asked + 2);
    expect(answers()).toBe(asked + 2);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });
});

describe("long lines", () => {
  test("ten megabytes of prompt arrive whole", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("Read.") });
    const wire = openWire(stage);
    const text = `start ${"a".repeat(10 * mebibyte)} end`;
    wire.say(text);
    await wire.line("a result", isResult);
    expect(stage.log().find(({ type }) => type === "input.accepted")).toMatchObject({
      input: { content: [{ type: "text", text }] },
    });
  });

  test("a line without an end is skipped with one word about it, and memory stays flat", async () => {
    verifies("G39");
    const wire = await openQuietly();
    await probe(wire);
    const before = residentBytes(wire.child.pid);
    let most = 0;
    for (let sent = 0; sent < 256; sent += 1) {
      await write(wire, Buffer.alloc(mebibyte, "x"));
      most = Math.max(most, residentBytes(wire.child.pid));
    }
    wire.raw("\n");
    await probe(wire);
    expect(badIn(wire)).toMatchObject([{ tag: "line_too_long" }]);
    expect((most - before) / mebibyte).toBeLessThan(64);
  });
});

describe("floods and readers", () => {
  test("who asks and does not read is not read either: memory stays bounded, and nothing is lost", async () => {
    const wire = await openQuietly();
    await probe(wire);
    const before = residentBytes(wire.child.pid);
    wire.child.stdout.pause();
    const asked = 60_000;
    let sent = 0;
    const sending = (async () => {
      for (; sent < asked; sent += 1)
        await write(
          wire,
          Buffer.from(
            `{"type":"control_request","request_id":"f${sent}","request":{"subtype":"${"x".repeat(300)}"}}\n`,
          ),
        );
    })();
    await pause(1_500);
    expect((residentBytes(wire.child.pid) - before) / mebibyte).toBeLessThan(100);
    wire.child.stdout.resume();
    await sending;
    await until("all answers", () => wire.lines.length >= asked);
    const ids = wire.lines.flatMap(({ response }) => (response as { request_id?: string })?.request_id ?? []);
    expect(ids.filter((id) => id.startsWith("f"))).toHaveLength(asked);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("a flood of prompts: each is taken or refused, none is lost in silence", async () => {
    const stage = await openStage({ replies: [], otherwise: replyWith({ delayMs: 200 }, "Hi.") });
    const wire = openWire(stage);
    const said = 2_500;
    for (let index = 0; index < said; index += 1) wire.say(`prompt ${index}`);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    const accepted = stage.log().filter(({ type }) => type === "input.accepted").length;
    const refused = wire.lines.filter(({ tag }) => tag === "queue_full").length;
    expect(accepted + refused).toBe(said);
  });

  test("a reader that goes away ends the session, with its own code and the log whole", async () => {
    verifies("G15");
    const stage = await openStage((_, { assistantTurns }) =>
      assistantTurns < 5 ? replyWith({ delayMs: 50 }, toolUse("Read", { file_path: "none" })) : reply("end"),
    );
    const wire = openWire(stage);
    wire.say("go");
    await wire.line("a first message", ({ type }) => type === "assistant");
    wire.child.stdout.destroy();
    expect((await wire.ended).code).toBe(74);
    expect(stage.log().at(-1)?.type).toBe("session.closed");
    expect(wire.err()).toBe("");
  });

  test("separators that some readers take for line ends are written as escapes", async () => {
    verifies("G40");
    const stage = await openStage({ replies: [reply("a\u2028b\u2029c")] });
    const wire = openWire(stage);
    let bytes = "";
    wire.child.stdout.on("data", (chunk: string) => {
      bytes += chunk;
    });
    wire.say("x\u2028y");
    expect(await wire.line("a result", isResult)).toMatchObject({ result: "a\u2028b\u2029c" });
    expect(bytes).not.toMatch(/[\u2028\u2029]/);
  });
});

/** What the corpus says of the runner's messages is not said here: in this dialect `message` is a type of tomorrow. */
const framing = ["bad_json", "bad_utf8", "too_large"];
const largest = 128 * mebibyte;
const applies = ({ outcome, code, needs, thenEof, gen }: LineRow): boolean =>
  needs === undefined &&
  !thenEof &&
  (gen?.count ?? 0) <= largest &&
  (outcome !== "error" || framing.includes(code ?? "") || code === "bad_message");

describe("the lines of the corpus", () => {
  const send = async (wire: WireClient, row: LineRow): Promise<void> => {
    const before = badIn(wire).length;
    for (const bytes of bytesOf(row)) await write(wire, bytes);
    wire.raw("\n");
    await probe(wire);
    const expected = row.outcome !== "error" ? 0 : row.gen?.lines === undefined ? 1 : row.gen.count;
    expect(badIn(wire).length - before, `${row.id}: ${row.why}`).toBe(expected);
  };

  test("each is told or passed over as it should be, and the next good one is answered", {
    timeout: 300_000,
  }, async () => {
    verifies("G39");
    const wire = await openQuietly();
    for (const row of rows.filter(applies)) if (!row.firstLine) await send(wire, row);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("what only counts as the first line is the first line", async () => {
    for (const row of rows.filter(({ firstLine }) => firstLine)) await send(await openQuietly("silent"), row);
  });
});

function goodLine(index: number, random: () => number): string {
  const lines = [
    { type: "control_request", request_id: `g${index}`, request: { subtype: "get_binary_version" } },
    { type: "control_request", request_id: `g${index}`, request: { subtype: "stop_task", task_id: "b1" } },
    { type: "control_response", response: { subtype: "success", request_id: `s${index}`, response: {} } },
    { type: "control_cancel_request", request_id: `g${index - 1}` },
    { type: "keep_alive" },
  ];
  return JSON.stringify(lines[Math.floor(random() * lines.length)]);
}

/** One to three places are cut, doubled or replaced; a prompt cannot come out of it. */
function changed(line: string, random: () => number): string {
  let text = line;
  for (let times = Math.floor(random() * 3); times >= 0; times -= 1) {
    const at = Math.floor(random() * text.length);
    const signs = '{}[]",:\\x0 \u00e9';
    const sign = signs[Math.floor(random() * signs.length)] ?? "";
    const kind = Math.floor(random() * 3);
    if (kind === 0) text = text.slice(0, at) + text.slice(at + 1);
    if (kind === 1) text = text.slice(0, at) + sign + text.slice(at);
    if (kind === 2) text = text.slice(0, at) + sign + text.slice(at + 1);
  }
  return text;
}

/** One step of mulberry32: the same numbers for the same seed. */
function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
