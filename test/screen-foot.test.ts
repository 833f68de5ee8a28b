// On a small terminal with ten agents at work, a question of forty lines and a change of three hundred to be allowed,
// the foot stays within half of the screen, and every answer can be reached. And five hundred calls at once.
import { describe, expect, test } from "vitest";
import { layout } from "../keel/src/hosts/tui/screen/layout.ts";
import { initialState, type ScreenState } from "../keel/src/hosts/tui/screen/state.ts";
import { update } from "../keel/src/hosts/tui/screen/update.ts";
import { fullSigns } from "../keel/src/hosts/tui/text/signs.ts";
import { lineWidth, textOfLine } from "../keel/src/hosts/tui/text/styled.ts";
import { modernWidths } from "../keel/src/hosts/tui/text/width.ts";
import type { Envelope } from "../keel/src/protocol/event/envelope.ts";
import { verifies } from "./support/verifies.ts";
import { changeAsk, longQuestion, options, questionAsk, withAgents, wordsAsk } from "./tui/crowd.ts";
import { recordedEvents } from "./tui/scenes.ts";

const size = { columns: 80, rows: 24 };
const login = recordedEvents("login");

function started(events: readonly Envelope[]): ScreenState {
  const state = initialState({
    size,
    now: 0,
    look: {
      theme: { depth: "16", background: "dark", links: false },
      profile: modernWidths,
      signs: fullSigns,
      reflow: "all",
    },
    session: { id: "s", cwd: "/home/ada/shop", home: "/home/ada" },
  });
  return events.reduce(
    (before, event) => update(before, { type: "event", event }).state,
    update(state, { type: "caught-up" }).state,
  );
}

const right = { kind: "key", name: "right", text: "" } as const;

describe.each([
  ["a change of 300 lines", changeAsk],
  ["words of 40 lines", wordsAsk],
])("with ten agents at work, %s", (_, ask) => {
  test("is asked within 12 rows of 24, and every answer can be reached", () => {
    verifies("S4.72");
    let state = started([
      ...withAgents(login, 10),
      { type: "ask.opened", ask, seq: 900, at: 1, session: "s" } as Envelope,
    ]);
    state = update(state, { type: "tick", now: state.now + 5_000 }).state;
    const marked = new Set<string>();
    for (let step = 0; step < 6; step++) {
      const { lines } = layout(state);
      expect(lines.length).toBeLessThanOrEqual(12);
      for (const line of lines) expect(lineWidth(line, modernWidths)).toBeLessThanOrEqual(size.columns - 2);
      const shown = lines.map((line) => textOfLine(line)).join("\n");
      for (const { label } of options) if (shown.includes(`› ${label}`)) marked.add(label);
      state = update(state, { type: "input", input: right, now: state.now + 10 }).state;
    }
    expect([...marked].sort()).toEqual(options.map(({ label }) => label).sort());
  });
});

test("with ten agents at work, a question of 40 lines is read to its last row, and each of its answers is reached", () => {
  verifies("S4.72");
  let state = started([
    ...withAgents(login, 10),
    { type: "ask.opened", ask: questionAsk, seq: 900, at: 1, session: "s" } as Envelope,
  ]);
  state = update(state, { type: "tick", now: state.now + 5_000 }).state;
  const seen = new Set<string>();
  const press = (name: string): void => {
    const { lines } = layout(state);
    expect(lines.length).toBeLessThanOrEqual(12);
    for (const line of lines) expect(lineWidth(line, modernWidths)).toBeLessThanOrEqual(size.columns - 2);
    for (const line of lines) seen.add(textOfLine(line).trim());
    const input = { kind: "key", name, text: "" } as const;
    state = update(state, { type: "input", input, now: state.now + 10 }).state;
  };
  for (let page = 0; page < 40; page++) press("pagedown");
  for (const line of longQuestion) expect(seen).toContain(line);
  // What is beyond the end is not counted: one page back shows something else at once.
  const atEnd = layout(state)
    .lines.map((line) => textOfLine(line))
    .join("\n");
  press("pageup");
  expect(
    layout(state)
      .lines.map((line) => textOfLine(line))
      .join("\n"),
  ).not.toBe(atEnd);
  for (let option = 0; option < 5; option++) press("down");
  for (const label of ["SQLite", "PostgreSQL", "Files", "None"])
    expect(
      [...seen].some((row) => row.startsWith("› ") && row.includes(label)),
      label,
    ).toBe(true);
});

test("five hundred calls at once are counted in a foot of half the screen", () => {
  const begin = login.findIndex(({ type }) => type === "model.finished");
  const model = login[begin];
  const call = login.find(({ type }) => type === "tool.started");
  if (model?.type !== "model.finished" || call?.type !== "tool.started") throw new Error("no call");
  const ids = Array.from({ length: 500 }, (_, index) => `call-${index}`);
  const content = ids.map((id) => ({
    type: "tool_use" as const,
    id,
    name: "Bash",
    input: { command: `echo ${id}` },
  }));
  const events: Envelope[] = [
    ...login.slice(0, begin),
    { ...model, content },
    ...ids.map((callId, index): Envelope => ({ ...call, seq: 100 + index, callId, tool: "Bash" })),
    ...ids.map(
      (callId): Envelope =>
        ({
          type: "tool.progress",
          callId,
          tool: "Bash",
          elapsedMs: 100,
          display: { kind: "terminal", command: `echo ${callId}`, output: `output of ${callId}\n` },
          at: model.at,
          session: "s",
        }) as Envelope,
    ),
  ];
  const state = started(events);
  const { lines } = layout(state);
  expect(lines.length).toBeLessThanOrEqual(12);
  for (const line of lines) expect(lineWidth(line, modernWidths)).toBeLessThanOrEqual(size.columns - 2);
  expect(lines.map((line) => textOfLine(line)).join("\n")).toMatch(/and 4\d\d more/);
});
