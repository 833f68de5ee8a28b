import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { learn, nothingLearnt } from "../../policy/changes.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { Durable, DurableEvent, Input } from "../../protocol/event/durable.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import { importLog, type LeftOut } from "./import.ts";
import { encodeHeader, encodeRecord } from "./line.ts";
import { jsonlStore } from "./store.ts";

const origin = "11111111-1111-4111-8111-111111111111";
const copy = "22222222-2222-4222-8222-222222222222";

const opened: DurableEvent = {
  type: "session.opened",
  keel: "0.0.0",
  cwd: "/elsewhere",
  settings: { model: "m", permissionMode: "bypassPermissions", thinking: { kind: "off" } },
};
const started: DurableEvent = { type: "turn.started", turnId: "t", inputIds: [] };
const finished: DurableEvent = {
  type: "turn.finished",
  turnId: "t",
  inputIds: [],
  reason: "completed",
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  costUsd: 0,
  requests: 1,
  ms: 1,
  apiMs: 1,
};
const ask = (id: string): Ask => ({
  id,
  kind: "permission",
  title: "Allow Bash?",
  body: { kind: "text", text: "" },
  options: [{ id: "always", label: "Always", verdict: "allow", rule: "Bash" }],
});
const asked = (id: string): DurableEvent => ({ type: "ask.opened", ask: ask(id) });
const allowed = (askId: string): DurableEvent => ({
  type: "ask.closed",
  askId,
  answer: { verdict: "allow", option: "always" },
  by: "host",
});

test("what was allowed elsewhere is not allowed here: no rule is remembered, and no waiting call is let through", async () => {
  const events = await imported([
    opened,
    started,
    asked("a"),
    allowed("a"),
    finished,
    started,
    asked("b"),
    allowed("b"),
  ]);
  const options = events.flatMap((event) => (event.type === "ask.opened" ? event.ask.options : []));
  expect(options.map(({ rule }) => rule)).toEqual([undefined, undefined]);
  const answers = events.flatMap((event) => (event.type === "ask.closed" ? [event.answer.verdict] : []));
  // The first is history; the second would let a call run that nobody here has seen.
  expect(answers).toEqual(["allow", "deny"]);
});

test("nor are rules that a host, a command or a skill added", async () => {
  verifies("G46");
  const patch: SettingsPatch = {
    title: "kept",
    permissions: [{ type: "rules", change: "add", list: "allow", rules: ["Bash"] }],
  };
  const input: Input = { id: "i", content: [], from: { kind: "person" }, when: "after", allow: ["Bash"] };
  const events = await imported([
    opened,
    { type: "settings.changed", patch, why: "host" },
    { type: "input.accepted", input },
    started,
    asked("a"),
    { type: "ask.closed", askId: "a", answer: { verdict: "allow", rules: ["Bash"] }, by: "host" },
    {
      type: "tool.finished",
      callId: "c",
      tool: "Skill",
      content: [],
      failed: false,
      ms: 1,
      display: { kind: "text", text: "" },
      allow: ["Bash"],
    },
    finished,
  ]);
  expect(JSON.stringify(events)).not.toMatch(/"allow":\[|"rules":\[/);
  expect(JSON.stringify(events)).toContain("kept");
});

test("rules that deny or ask come along, and nothing in the log takes them away", async () => {
  verifies("G29", "G46");
  const patch = (...permissions: NonNullable<SettingsPatch["permissions"]>): DurableEvent => ({
    type: "settings.changed",
    patch: { permissions },
    why: "host",
  });
  const rules = "rules";
  const { events, leftOut } = await importedWith([
    opened,
    patch({ type: rules, change: "add", list: "deny", rules: ["Bash(rm:*)"] }),
    patch(
      { type: rules, change: "replace", list: "ask", rules: ["Bash(git push:*)"] },
      { type: rules, change: "add", list: "allow", rules: ["Bash(ls:*)"] },
      { type: "folders", change: "add", folders: ["/etc"] },
    ),
    patch({ type: rules, change: "remove", list: "deny", rules: ["Bash(rm:*)"] }),
    patch({ type: rules, change: "replace", list: "deny", rules: [] }),
  ]);
  const learnt = events
    .flatMap((event) => (event.type === "settings.changed" ? [event.patch.permissions ?? []] : []))
    .reduce(learn, nothingLearnt);
  expect(learnt).toEqual({ allow: [], ask: ["Bash(git push:*)"], deny: ["Bash(rm:*)"], folders: [] });
  expect(leftOut).toEqual({ rules: ["Bash(ls:*)"], folders: ["/etc"], answers: 0, lifted: 3 });
});

test("what was left out is counted, each rule once", async () => {
  const { leftOut } = await importedWith([
    opened,
    started,
    asked("a"),
    allowed("a"),
    finished,
    started,
    asked("b"),
    allowed("b"),
  ]);
  expect(leftOut).toEqual({ rules: ["Bash"], folders: [], answers: 1, lifted: 0 });
});

test("the copy belongs to the folder that it came to, and names where it came from", async () => {
  const [first, ...others] = await imported([opened, started, finished]);
  expect(first).toMatchObject({ cwd: "/here", forkedFrom: { session: origin, seq: 3 }, session: copy });
  expect(others.map(({ seq }) => seq)).toEqual([2, 3]);
});

test("what is no log of a session is refused, and the home stays as it was", async () => {
  const folder = await newFolder();
  const file = path.join(folder, "log.jsonl");
  await writeFile(file, lines([started, finished]));
  const home = path.join(folder, "home");
  await expect(importLog({ home, file, session: copy, cwd: "/here", now: 0 })).rejects.toMatchObject({
    code: "not_imported",
  });
  await expect(importLog({ home, file: folder, session: copy, cwd: "/here", now: 0 })).rejects.toMatchObject({
    code: "log_unreadable",
  });
  expect(await readdir(folder)).toEqual(["log.jsonl"]);
});

test.each([
  ["one character changed", (whole: string) => whole.replace("/elsewhere", "/elsewhare")],
  ["a record missing", (whole: string) => whole.split("\n").toSpliced(2, 1).join("\n")],
  ["cut off", (whole: string) => whole.slice(0, -40)],
  ["no header", (whole: string) => whole.split("\n").slice(1).join("\n")],
  ["another file", () => "hello\n"],
  ["empty", () => ""],
])("a log with %s is refused, and nothing is half done", async (_, change) => {
  const folder = await newFolder();
  const file = path.join(folder, "log.jsonl");
  const home = path.join(folder, "home");
  await writeFile(file, change(lines([opened, started, finished]).toString()));
  const refused = importLog({ home, file, session: copy, cwd: "/here", now: 0 });
  await expect(refused).rejects.toMatchObject({
    code: "not_imported",
    message: expect.stringContaining("was not imported"),
  });
  expect(await readdir(folder)).toEqual(["log.jsonl"]);
});

test("the file that was imported stays as it is", async () => {
  const folder = await newFolder();
  const file = path.join(folder, "log.jsonl");
  const before = lines([opened, started, finished]);
  await writeFile(file, before);
  await importLog({ home: path.join(folder, "home"), file, session: copy, cwd: "/here", now: 0 });
  expect(await readFile(file)).toEqual(before);
});

const imported = async (events: readonly DurableEvent[]): Promise<Durable[]> =>
  (await importedWith(events)).events;

async function importedWith(
  events: readonly DurableEvent[],
): Promise<{ events: Durable[]; leftOut: LeftOut }> {
  const folder = await newFolder();
  const file = path.join(folder, "log.jsonl");
  const home = path.join(folder, "home");
  await writeFile(file, lines(events));
  const { events: count, leftOut } = await importLog({ home, file, session: copy, cwd: "/here", now: 0 });
  expect(count).toBe(events.length);
  return { events: await Array.fromAsync(jsonlStore({ home }).read(copy)), leftOut };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "keel-import-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const lines = (events: readonly DurableEvent[]): Buffer =>
  Buffer.concat([
    encodeHeader({ session: origin, cwd: "/elsewhere", at: 0 }),
    ...events.map((event, index) => encodeRecord({ seq: index + 1, at: 0, session: origin, ...event })),
  ]);
