// The screen as a reducer, driven by keys and events as a person and a session would, and looked at as rows.
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import type { Ask } from "../../../protocol/ask.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import type { CommandInfo, SessionFacts } from "../../../protocol/inquiry.ts";
import { fullSigns } from "../text/signs.ts";
import { textOfLine } from "../text/styled.ts";
import { modernWidths } from "../text/width.ts";
import type { Effect, Got } from "./effects.ts";
import { layout } from "./layout.ts";
import { usualSettings } from "./settings.ts";
import { initialState, type ScreenState } from "./state.ts";
import { createStore } from "./store.ts";
import { type ScreenMessage, update } from "./update.ts";

const command = (name: string, more: Partial<CommandInfo> = {}): CommandInfo => ({
  name,
  description: `Does ${name}.`,
  argumentHint: "",
  kind: "local",
  source: "built-in",
  aliases: [],
  hidden: false,
  immediate: false,
  ...more,
});

const facts: SessionFacts = {
  cwd: "/work",
  roots: ["/work"],
  model: "opus",
  provider: "anthropic",
  keySource: "none",
  permissionMode: "default",
  tools: [],
  agents: [],
  commands: [command("config"), command("context"), command("compact"), command("secret", { hidden: true })],
  skills: [],
  plugins: [],
  outputStyle: { name: "default", all: ["default"] },
  models: {},
  guard: "on",
  trust: { root: "/work", state: "trusted", leftOut: [] },
};

/** A screen that a test presses keys on. Nothing it has been may be changed in place. */
class Driven {
  state: ScreenState;
  effects: Effect[] = [];

  constructor(more: Partial<ScreenState["settings"]> = {}, budgetUsd?: number) {
    this.state = initialState({
      size: { columns: 80, rows: 30 },
      now: 1_000_000,
      look: {
        theme: { depth: "none", background: "dark", links: false },
        profile: modernWidths,
        signs: fullSigns,
        reflow: "all",
      },
      settings: { ...usualSettings, ...more },
      session: { id: "s", cwd: "/work", home: "/home/ada" },
      budgetUsd,
    });
    this.send({ type: "facts", facts });
    this.send({ type: "caught-up" });
  }

  send(message: ScreenMessage): void {
    const step = update(frozen(this.state), message);
    this.state = step.state;
    this.effects.push(...step.effects);
  }

  /** Each by its name; what is no name of a key is typed. */
  press(...keys: string[]): void {
    for (const name of keys)
      this.send({
        type: "input",
        input: { kind: "key", name, text: name.length === 1 ? name : "" },
        now: this.state.now + 1,
      });
  }

  type(text: string): void {
    this.press(...text);
  }

  got(got: Got): void {
    this.send({ type: "got", got });
  }

  later(ms: number): void {
    this.send({ type: "tick", now: this.state.now + ms });
  }

  rows(): string[] {
    return layout(this.state).lines.map(textOfLine);
  }

  text(): string {
    return this.rows().join("\n");
  }

  submitted() {
    return this.effects.flatMap((effect) => (effect.type === "submit" ? [effect.command] : []));
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map || value instanceof Set) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}

describe("the state", () => {
  test("is one value that is never changed in place; who watches a part of it is told when that part changes", () => {
    verifies("S4.51");
    const screen = new Driven();
    const before = screen.state;
    const store = createStore(before);
    const heard: string[] = [];
    const stop = store.subscribe(
      (state) => state.editor.text,
      (text) => heard.push(text),
    );
    screen.type("hi");
    store.setState(() => screen.state);
    store.setState((state) => ({ ...state, now: state.now + 1 }));
    stop();
    store.setState((state) => ({ ...state, editor: before.editor }));
    expect(heard).toEqual(["hi"]);
    expect(before.editor.text).toBe("");
    expect(store.getState().editor).toBe(before.editor);
  });
});

describe("what is typed", () => {
  test("steers a turn that runs, or waits for its end; the setting turns the keys around", () => {
    verifies("P8");
    for (const whileRunning of ["steer", "queue"] as const) {
      const screen = new Driven({ whileRunning });
      screen.type("a");
      screen.press("enter");
      screen.type("b");
      screen.press("alt+enter");
      const when = screen.submitted().map((one) => (one.type === "input" ? one.when : undefined));
      expect(when).toEqual(whileRunning === "steer" ? ["now", "after"] : ["after", "now"]);
    }
  });

  test("waits in a list from which it is had back; the output of a command of one's own is no part of it", () => {
    const screen = new Driven();
    const accepted = (seq: number, text: string): void =>
      screen.send({
        type: "event",
        event: {
          type: "input.accepted",
          input: {
            id: `i${seq}`,
            content: [{ type: "text", text }],
            when: "after",
            from: { kind: "person" },
          },
          at: 1,
          session: "s",
          seq,
        },
      });
    accepted(1, "and the clock");
    accepted(2, '<keel-own-command command="ls">\na.ts\n</keel-own-command>');
    expect(screen.text()).toContain("queued  and the clock");
    expect(screen.text()).not.toContain("keel-own-command");
    expect(screen.rows().at(-1)).toContain("1 queued");
    screen.press("up");
    expect(screen.state.editor.text).toBe("and the clock");
    expect(screen.submitted()).toEqual([{ type: "drop", inputId: "i1" }]);
  });

  test("may be a picture: its dropped path is read, and it is sent as what it is", () => {
    verifies("P50");
    const screen = new Driven();
    screen.send({ type: "input", input: { kind: "paste", text: "'/tmp/a b.png'" }, now: 1 });
    expect(screen.effects.at(-1)).toMatchObject({ type: "attach-path", path: "/tmp/a b.png" });
    screen.got({ what: "image", name: "a b.png", mediaType: "image/png", data: "AAAA" });
    screen.type("what is it?");
    screen.press("enter");
    expect(screen.submitted()[0]).toMatchObject({
      content: [{ type: "image", mediaType: "image/png", data: "AAAA" }, { type: "text" }],
    });
  });

  test("completes commands; a hidden one is left out and works", () => {
    verifies("S4.67");
    const screen = new Driven();
    screen.type("/co");
    expect(screen.state.completion?.items.map(({ insert }) => insert.trim())).toEqual(
      expect.arrayContaining(["/config", "/context", "/compact"]),
    );
    screen.press("ctrl+u");
    screen.type("/secret");
    expect(screen.state.completion?.items).toEqual([]);
    screen.press("enter");
    expect(screen.submitted()[0]).toMatchObject({ content: [{ type: "text", text: "/secret" }] });
  });
});

describe("the settings", () => {
  const schema = {
    properties: {
      model: { type: "string", description: "The model." },
      terminal: {
        properties: {
          editing: { enum: ["readline", "vi"], type: "string", description: "How it is edited." },
          title: { type: "boolean", description: "The title." },
          keys: { type: "object", additionalProperties: true },
        },
      },
    },
  };
  const rows = [{ name: "model", value: "opus", source: "user", state: "counts" as const }];
  const opened = (): Driven => {
    const screen = new Driven();
    screen.type("/config");
    screen.press("enter");
    expect(screen.effects.at(-1)).toEqual({ type: "settings-schema" });
    screen.got({ what: "schema", schema });
    screen.got({ what: "inquiry", name: "settings", tag: "config", answer: { effective: {}, rows } });
    return screen;
  };

  test("are a panel of their own: what is given stands first, and what else there is below", () => {
    verifies("S4.66");
    const screen = opened();
    expect(screen.text()).toMatch(/Settings\n[\s\S]*✓ model = "opus" +user/);
    expect(screen.text()).toContain("terminal.editing");
    expect(screen.text()).not.toContain("terminal.keys");
    screen.press("escape");
    expect(screen.state.panels).toEqual([]);
    expect(screen.submitted()).toEqual([]);
  });

  test("are changed by what they may be, or by words behind the name", () => {
    const screen = opened();
    screen.type("editing");
    screen.press("enter");
    expect(screen.text()).toContain("readline");
    screen.press("down", "enter");
    expect(screen.effects).toContainEqual({ type: "set-setting", name: "terminal.editing", text: "vi" });
    const settings = { ...usualSettings, editing: "vi" as const };
    screen.got({ what: "settings", settings, text: "Written: /home/ada/.keel/settings.json" });
    expect(screen.state.settings.editing).toBe("vi");
    expect(screen.text()).not.toContain("As usual");
    const other = opened();
    other.press("enter");
    expect(other.state.editor.text).toBe("/config model ");
    other.type("haiku");
    other.press("enter");
    expect(other.effects).toContainEqual({ type: "set-setting", name: "model", text: "haiku" });
  });
});

test("the status line has the model and the cost, exact where it is small, beside what it may cost", () => {
  verifies("S4.81");
  const screen = new Driven({}, 2);
  expect(screen.rows().at(-1)).toBe("opus · default · $0 of $2");
  const totals = { ...screen.state.totals, costUsd: 0.12345 };
  const spent = layout({ ...screen.state, totals }).lines.map(textOfLine);
  expect(spent.at(-1)).toBe("opus · default · $0.1235 of $2");
});

test("the context is a bar by kind, with what each of them takes", () => {
  verifies("P38");
  const screen = new Driven();
  screen.type("/context");
  screen.press("enter");
  screen.got({
    what: "inquiry",
    name: "context",
    tag: "context",
    answer: {
      model: "opus",
      windowTokens: 1_000,
      totalTokens: 500,
      freeTokens: 500,
      compactAtTokens: 900,
      tokens: { system: 100, tools: 200, mcp: 0, instructions: 0, skills: 0, messages: 200 },
    } as never,
  });
  const bar = screen.rows().find((row) => /^ {3}s+t+m+/.test(row)) ?? "";
  const count = (sign: string): number => bar.split(sign).length - 1;
  expect([count("s"), count("t"), count("m")]).toEqual([6, 12, 12]);
  expect(screen.text()).toMatch(/tools +200 +20\.0 %/);
  expect(screen.text()).toContain("at 900 tokens");
});

describe("a plan", () => {
  const ask: Ask = {
    id: "p",
    kind: "plan",
    title: "Carry out this plan?",
    body: { kind: "markdown", text: "1. First\n2. Then" },
    input: { plan: "1. First\n2. Then" },
    options: [
      { id: "ask", label: "Yes, and ask before each change", verdict: "allow" },
      { id: "free", label: "Yes, and edit files without asking", verdict: "allow" },
      { id: "no", label: "No, keep planning", verdict: "deny", takesWords: true },
    ],
  };
  const opening: Envelope = { type: "ask.opened", ask, at: 1, session: "s", seq: 2 };
  const asking = (): Driven => {
    const screen = new Driven();
    screen.send({ type: "event", event: opening });
    screen.later(2_000);
    return screen;
  };

  test("is read, taken, or sent back with words", () => {
    verifies("P23");
    const screen = asking();
    expect(screen.text()).toContain("Carry out this plan?");
    expect(screen.text()).toContain("2. Then");
    screen.press("n");
    screen.type("tests first");
    screen.press("enter");
    expect(screen.submitted().at(-1)).toMatchObject({
      type: "answer",
      answer: { verdict: "deny", option: "no", reason: "The user said no: tests first" },
    });
  });

  test("can be changed before it is taken, and a key that came too early answers nothing", () => {
    const screen = asking();
    screen.press("e");
    screen.type("!");
    screen.press("enter");
    expect(screen.submitted().at(-1)).toMatchObject({
      answer: { verdict: "allow", input: { plan: "1. First\n2. Then!" } },
    });
    const early = new Driven();
    early.send({ type: "event", event: opening });
    early.press("enter");
    expect(early.submitted()).toEqual([]);
  });
});

test("of a command that is asked about, the words that matter are explained by what the policy found", () => {
  const ask: Ask = {
    id: "c",
    kind: "permission",
    title: "Bash",
    tool: "Bash",
    body: { kind: "terminal", command: "cp a.ts /etc/b", output: "", exitCode: null },
    input: { command: "cp a.ts /etc/b" },
    claims: [{ action: "execute", target: "cp a.ts /etc/b" }],
    options: [{ id: "once", label: "Yes", verdict: "allow" }],
  };
  const screen = new Driven();
  screen.send({ type: "event", event: { type: "ask.opened", ask, at: 1, session: "s", seq: 2 } });
  expect(screen.effects.at(-1)).toMatchObject({ type: "inquire", name: "explain" });
  const flags = { readOnly: false, writesOutsideCwd: true, network: false, destructive: false };
  const words = [
    { text: "cp", role: "program" as const },
    { text: "a.ts", role: "reads" as const },
    { text: "/etc/b", role: "writes" as const, outside: true },
  ];
  const command = { words, readOnly: false, network: false, destructive: false, writesOutside: true };
  screen.got({
    what: "inquiry",
    name: "explain",
    tag: "explain:c",
    answer: {
      verdict: "ask",
      because: "",
      programs: ["cp"],
      wrapped: [],
      flags,
      commands: [{ ...command, runs: [], hides: false, pipedFrom: [] }],
    },
  });
  expect(screen.text()).toContain("runs cp · writes outside the folder");
  expect(screen.text()).toContain("/etc/b: where it writes, outside of the workspace");
  expect(screen.text()).not.toContain("a.ts:");
});

test("going back shows what would be undone, line by line, whichever way is marked", () => {
  const screen = new Driven();
  screen.state = { ...screen.state, past: [{ id: "i", seq: 4, text: "Mend it", at: 1 }] };
  screen.type("/rewind");
  screen.press("enter");
  screen.press("enter");
  expect(screen.effects).toContainEqual({ type: "read-changes", since: 4 });
  const receipt = {
    type: "rewound" as const,
    preview: true,
    files: [{ path: "a.ts", insertions: 1, deletions: 2 }],
    skipped: [],
    lost: [],
  };
  screen.got({ what: "changes", lines: [{ spans: [{ text: "7 - create();" }], wrap: "cut" }] });
  screen.got({ what: "receipt", tag: "rewind-preview:i", receipt });
  screen.press("down");
  expect(screen.text()).toMatch(/a\.ts {2}\+1 −2\n +7 - create\(\);/);
});

describe("what can be mentioned", () => {
  test("are sessions too, asked for once, by their words", () => {
    const screen = new Driven();
    screen.type("@ki");
    const asked = screen.effects.filter(({ type }) => type === "list-sessions");
    expect(asked).toEqual([{ type: "list-sessions", for: "mention" }]);
    const items = [
      { id: "0198f3c2-0000-7000-8000-000000000002", label: "Mend the kitchen clock", note: "2 h ago" },
      { id: "0198f3c2-0000-7000-8000-000000000003", label: "Another thing", note: "3 h ago" },
    ];
    screen.got({ what: "other-sessions", items });
    screen.got({ what: "inquiry", tag: "files:ki", name: "files", answer: ["src/kitchen.ts"] });
    expect(screen.text()).toContain("Mend the kitchen clock");
    expect(screen.text()).not.toContain("Another thing");
    screen.press("down", "tab");
    expect(screen.state.editor.text).toBe("@session-0198f3c2-0000-7000-8000-000000000002 ");
  });

  test("is never what was found for less and no longer fits", () => {
    const screen = new Driven();
    screen.type("@k");
    screen.got({ what: "inquiry", tag: "files:k", name: "files", answer: ["src/fork.ts", "src/kettle.ts"] });
    screen.type("ettle");
    expect(screen.state.completion?.items.map(({ label }) => label)).toEqual(["src/kettle.ts"]);
    screen.press("tab");
    expect(screen.state.editor.text).toBe("@src/kettle.ts ");
  });
});

describe("rules", () => {
  const opened = (): Driven => {
    const screen = new Driven();
    screen.type("/permissions");
    screen.press("enter");
    screen.got({
      what: "inquiry",
      tag: "permissions",
      name: "rules",
      answer: [
        { list: "deny", rule: "Read(a:b)", source: "user" },
        { list: "allow", rule: "Bash(ls)", source: "managed" },
      ],
    });
    return screen;
  };

  test("are looked at, and one of the person's own is taken away only after a second word", () => {
    const screen = opened();
    screen.press("delete");
    expect(screen.text()).toContain("What it names is refused");
    expect(screen.effects.filter(({ type }) => type === "drop-rule")).toEqual([]);
    screen.press("enter");
    expect(screen.effects.at(-1)).toEqual({
      type: "drop-rule",
      list: "deny",
      rule: "Read(a:b)",
      source: "user",
    });
    screen.got({ what: "rules-changed", text: "Taken away." });
    expect(screen.effects.at(-1)).toMatchObject({ type: "inquire", name: "rules" });
  });

  test("of the machine's owner stay", () => {
    const screen = opened();
    screen.press("down", "enter");
    expect(screen.text()).toContain("the managed settings cannot be changed here");
    screen.press("enter");
    expect(screen.effects.filter(({ type }) => type === "drop-rule")).toEqual([]);
  });
});

describe("servers of tools", () => {
  test.each([
    ["connected", ["down"], "/mcp reconnect my files"],
    ["connected", ["down", "down"], "/mcp disable my files"],
    ["disabled", [], "/mcp enable my files"],
    ["failed", [], "/mcp reconnect my files"],
  ])("that are %s can be acted on", (status, keys, said) => {
    const screen = new Driven();
    screen.type("/mcp");
    screen.press("enter");
    screen.got({ what: "inquiry", tag: "mcp", name: "servers", answer: [{ name: "my files", status }] });
    screen.press("enter", ...keys, "enter");
    expect(screen.submitted()).toContainEqual({ type: "input", content: [{ type: "text", text: said }] });
    screen.got({ what: "receipt", tag: "servers", receipt: { type: "ran", command: "mcp" } });
    expect(screen.effects.at(-1)).toMatchObject({ type: "inquire", name: "servers" });
  });
});

describe("memory", () => {
  const item = {
    id: "piece:7",
    label: "Port 5433 is for staging.",
    note: "person, 1 h ago",
    whole: "Port 5433",
  };
  const searched = (screen: Driven) => screen.effects.filter(({ type }) => type === "search-memory");

  test("is asked again by what is typed and where is looked; an answer to earlier words is not taken", () => {
    const screen = new Driven();
    screen.type("/memory");
    screen.press("enter");
    screen.type("port");
    screen.got({ what: "memory", words: "por", scope: "project", items: [{ ...item, label: "of before" }] });
    expect(screen.text()).not.toContain("of before");
    screen.got({ what: "memory", words: "port", scope: "project", items: [item] });
    expect(screen.text()).toContain("› Port 5433 is for staging.");
    screen.press("down", "up", "tab");
    expect(searched(screen).slice(-2)).toEqual([
      { type: "search-memory", words: "port", scope: "project" },
      { type: "search-memory", words: "port", scope: "session" },
    ]);
    screen.got({ what: "memory", words: "port", scope: "session", items: [] });
    expect(screen.text()).toContain("Nothing of this session says that.");
  });

  test("forgets only what was found, after a second word, and says what came of it beside the list", () => {
    const screen = new Driven();
    screen.type("/memory");
    screen.press("enter");
    screen.got({ what: "memory", words: "", scope: "project", items: [{ ...item, id: "told:0" }] });
    screen.press("delete");
    expect(screen.text()).not.toContain("Forget it");
    screen.type("port");
    screen.got({ what: "memory", words: "port", scope: "project", items: [item] });
    screen.press("delete");
    expect(screen.effects.filter(({ type }) => type === "forget-memory")).toEqual([]);
    screen.press("enter");
    expect(screen.effects.at(-1)).toEqual({ type: "forget-memory", piece: 7 });
    screen.got({ what: "forgotten", text: "Its session is open elsewhere: nothing was forgotten." });
    expect(screen.text()).toContain("open elsewhere");
    expect(searched(screen).at(-1)).toEqual({ type: "search-memory", words: "port", scope: "project" });
  });
});
