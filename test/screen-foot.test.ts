// On a small terminal with ten agents at work, a question of forty lines and a change of three hundred to be allowed,
// the foot stays within half of the screen, and every answer can be reached. And five hundred calls at once.
import { describe, expect, test } from "vitest";
import { layout } from "../keel/src/hosts/tui/screen/layout.ts";
import { initialState, type ScreenState } from "../keel/src/hosts/tui/screen/state.ts";
import { update } from "../keel/src/hosts/tui/screen/update.ts";
import { fullSigns } from "../keel/src/hosts/tui/text/signs.ts";
import { lineWidth, textOfLine } from "../keel/src/hosts/tui/text/styled.ts";
import { modernWidths } from "../keel/src/hosts/tui/text/width.ts";
import type { Ask } from "../keel/src/protocol/ask.ts";
import type { Envelope } from "../keel/src/protocol/event/envelope.ts";
import { verifies } from "./support/verifies.ts";
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

/** The agent's whole life so far, told so many times under other names. */
function withAgents(count: number): readonly Envelope[] {
  const begin = login.findIndex(({ type }) => type === "task.changed");
  const end = login.findIndex(({ type, origin }) => type === "tool.finished" && origin !== undefined);
  const own = login.slice(begin, end + 1).filter(({ type, origin }) => type === "task.changed" || origin);
  const copies = Array.from({ length: count }, (_, copy): Envelope[] =>
    JSON.parse(
      JSON.stringify(own)
        .replaceAll(/"agentId":"([^"]*)"/g, `"agentId":"$1-${copy}"`)
        .replaceAll(/"taskId":"([^"]*)"/g, `"taskId":"$1-${copy}"`),
    ),
  );
  return [...login.slice(0, begin), ...copies.flat()];
}

const options = [
  { id: "yes", label: "Allow once", verdict: "allow" as const },
  { id: "rule", label: "Allow ./src/** here", verdict: "allow" as const, rule: "Edit(./src/**)" },
  { id: "no", label: "Say no", verdict: "deny" as const, takesWords: true },
];
const diff: Ask = {
  id: "diff",
  kind: "permission",
  title: "Change a file?",
  tool: "Edit",
  body: {
    kind: "diff",
    path: "src/login.ts",
    hunks: [
      {
        oldStart: 1,
        oldLines: 150,
        newStart: 1,
        newLines: 150,
        lines: Array.from({ length: 300 }, (_, line) => `${line % 2 === 0 ? "-" : "+"}line ${line}`),
      },
    ],
  },
  options,
};
const words: Ask = {
  id: "words",
  kind: "permission",
  title: "Go on?",
  body: { kind: "text", text: Array.from({ length: 40 }, (_, line) => `line ${line} of it`).join("\n") },
  options,
};

const right = { kind: "key", name: "right", text: "" } as const;

describe.each([
  ["a change of 300 lines", diff],
  ["a question of 40 lines", words],
])("with ten agents at work, %s", (_, ask) => {
  test("is asked within 12 rows of 24, and every answer can be reached", () => {
    verifies("S4.72");
    let state = started([
      ...withAgents(10),
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
