// What the screens of commands show: each is opened over a session that has answers for them.
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { goalEvents, scheduleSamples, teamSample } from "../../web/src/gallery/work-samples.ts";
import type { GoldenScene } from "./fed.ts";

const down = "\u001b[B";
/** Without a picture: what it goes back to was seen before. */
const left = { say: "", type: "\u001b" };
const open = (name: string, ...more: GoldenScene["keys"] & object): NonNullable<GoldenScene["keys"]> => [
  { say: `/${name}`, type: `/${name}\r` },
  ...more,
  left,
];

const usage = { inputTokens: 12_400, outputTokens: 3_210, cacheReadTokens: 88_000, cacheWriteTokens: 9_100 };
const model = (id: string, name: string, input: number) => ({
  id,
  name,
  provider: "anthropic",
  windowTokens: 200_000,
  maxOutputTokens: 64_000,
  prices: {
    input,
    output: input * 5,
    cacheRead: input / 10,
    cacheWrite: input * 1.25,
    cacheWriteLong: input * 2,
    asOf: "2026-10-01",
  },
  abilities: { tools: true, images: true, thinking: "adaptive", cache: true },
});
const opus = model("claude-opus-5-5", "Claude Opus 5.5", 5);
const haiku = model("claude-haiku-4-5", "Claude Haiku 4.5", 1);

const command = (name: string, description: string, argumentHint = "") => ({
  name,
  description,
  argumentHint,
  kind: "local",
  source: "built-in",
  aliases: [],
  hidden: false,
  immediate: false,
});

/** When the recording ends. */
const ended = Date.UTC(2026, 10, 16, 9, 30);

export const panelAnswers = {
  facts: {
    cwd: "/home/ada/shop",
    model: opus.id,
    permissionMode: "default",
    models: { [opus.id]: opus },
    commands: [
      command(
        "compact",
        "Replaces the older part of the conversation by a summary.",
        "[what the summary should keep]",
      ),
      command("cost", "Shows what the session has used and cost."),
      command("mode", "Shows the permission mode, or changes it.", "[mode]"),
      command("model", "Shows the model, or asks another from now on.", "[model]"),
    ],
    agents: [
      { name: "reviewer", description: "Reads a change and says what is wrong with it" },
      { name: "explorer", description: "Finds out where something is done" },
    ],
    skills: [],
    tools: [],
    servers: [],
    plugins: [],
  },
  files: ["src/login.ts", "test/login.test.ts", "docs/how to log in.md"],
  rules: [
    { list: "deny", rule: "Read(./.env)", source: "user" },
    { list: "ask", rule: "Bash(git push:*)", source: "managed" },
    { list: "allow", rule: "Bash(npm test)", source: "session" },
  ],
  servers: [
    { name: "github", status: "connected", tools: [{ name: "search_issues" }, { name: "create_issue" }] },
    { name: "files", status: "failed", error: "it ended with 1 before it said anything" },
    { name: "linear", status: "needs-auth" },
    { name: "old", status: "disabled" },
  ],
  team: teamSample(ended),
  schedules: scheduleSamples(ended),
  context: {
    model: opus.id,
    windowTokens: 200_000,
    compactAtTokens: 160_000,
    totalTokens: 76_000,
    freeTokens: 124_000,
    tokens: { system: 3_200, tools: 14_800, mcp: 0, instructions: 2_000, skills: 0, messages: 56_000 },
  },
  usage: {
    costUsd: 0.3121,
    unpricedTokens: 0,
    unknownRequests: 0,
    apiMs: 74_200,
    usage,
    models: { [opus.id]: { usage, costUsd: 0.3 }, [haiku.id]: { usage, costUsd: 0.0121 } },
  },
  offeredModels: [
    { name: "default", model: opus, efforts: [] },
    { name: "opus", model: opus, efforts: [] },
    { name: "haiku", model: haiku, efforts: [] },
  ],
  settings: {
    effective: {},
    rows: [
      { name: "model", value: "opus", source: "user", state: "counts" },
      {
        name: "permissions.defaultMode",
        value: "plan",
        source: "project",
        state: "left-out",
        why: "waits for trust",
      },
    ],
  },
};

const doctor = [
  "ok   node: 24.21.0",
  "ok   git: 2.39.5",
  "note sandbox: off: commands run with your rights",
  "bad  home: /home/ada/.keel is not writable",
].join("\n");

const told = (events: readonly Envelope[]): readonly Envelope[] => {
  const last = events.at(-1);
  const passage = "The staging database listens on port 5433, since 5432 is taken by the old one.";
  const content = [
    { type: "text", text: "What earlier conversations said:" },
    {
      type: "text",
      text: `<keel-recalled session="s1" date="2026-11-03" by="person">\n${passage}\n</keel-recalled>`,
    },
  ];
  const seq = 1 + Math.max(0, ...events.map((event) => ("seq" in event ? event.seq : 0)));
  return [
    ...events,
    {
      type: "context.added",
      why: "recall",
      content,
      seq,
      at: last?.at ?? 0,
      session: last?.session ?? "s",
    } as Envelope,
  ];
};

/** With a goal that was tried twice. */
const tried = (events: readonly Envelope[]): readonly Envelope[] => {
  const { at = 0, session = "s" } = events.at(-1) ?? {};
  const seq = 1 + Math.max(0, ...events.map((event) => ("seq" in event ? event.seq : 0)));
  return [...events, ...goalEvents({ at, session, seq })];
};

/** What memory has: one piece fits a row, the other does not. */
const passages = (at: number) => [
  {
    id: 812,
    at: at - 3_600_000,
    text: "Port 5433 is the one for staging.",
    passage: "Which port does staging use?\nPort 5433 is the one for staging.\nThank you.",
    who: "person",
  },
  {
    id: 813,
    at: at - 86_400_000 * 3,
    text: "The port of production is 5432, and nobody but the deploy key may reach it from outside of the network.",
    passage:
      "The port of production is 5432, and nobody but the deploy key may reach it from outside of the network.",
    who: "agent",
  },
];

/** The same session for all of them, so that a picture differs by its screen alone. */
export function panelScenes(events: readonly Envelope[]): readonly GoldenScene[] {
  const scene = (name: string, ...keys: (GoldenScene["keys"] & object)[]): GoldenScene => ({
    name,
    events,
    answers: panelAnswers,
    says: { "/doctor": doctor },
    history: ["Please mend the login test", "What does the shop have?"],
    sessions: [
      { id: "0198f3c2-0000-7000-8000-000000000002", label: "Move the clock into a port", note: "2 h ago" },
      {
        id: "0198f3c2-0000-7000-8000-000000000003",
        label: "Login with a key",
        note: "3 days ago",
        mark: "running",
      },
    ],
    keys: keys.flat(),
  });
  return [
    scene(
      "what can be completed",
      [
        { say: "commands", type: "/co" },
        { say: "", type: "\u0015" },
        { say: "files, agents and sessions", type: "@lo" },
        { say: "the third of them", type: down + down },
        { say: "taken", type: "\t" },
        { say: "", type: "\u0015" },
      ],
      open("help"),
    ),
    scene("sessions, and what was typed", open("resume", { say: "found by words", type: "key" }, left), [
      { say: "history", type: "\u0012" },
      left,
    ]),
    scene(
      "rules",
      open(
        "permissions",
        { say: "a rule of one's own", type: "\r" },
        left,
        { say: "a rule of others", type: `${down}\r` },
        left,
      ),
    ),
    scene(
      "servers",
      open(
        "mcp",
        { say: "one that is connected", type: "\r" },
        left,
        { say: "one that failed", type: `${down}\r` },
        left,
        { say: "one that wants a login", type: `${down}\r` },
        left,
        { say: "one that is switched off", type: `${down}\r` },
        left,
      ),
    ),
    scene("settings and models", open("config"), open("model"), open("mode")),
    scene("agents, tasks and ways out", open("agents"), open("tasks"), open("export")),
    scene("context and cost", open("context"), open("cost"), open("doctor")),
    {
      ...scene(
        "memory",
        open(
          "memory",
          { say: "words to look for", type: "ort" },
          { say: "the second of them", type: down },
          { say: "read whole", type: "\r" },
          left,
          { say: "to be forgotten", type: "\u001b[3~" },
          { say: "forgotten", type: "\r" },
          { say: "nothing of this session", type: "\t" },
          left,
        ),
      ),
      events: told(events),
      memory: passages(events.at(-1)?.at ?? 0),
    },
    scene(
      "team and schedules",
      open(
        "team",
        { say: "who waits", type: down + down + down },
        { say: "what it was told", type: "\r" },
        left,
      ),
      open("schedules", { say: "the second of them", type: down }),
    ),
    { ...scene("a goal and its tries", open("goal")), events: tried(events) },
    scene("going back", open("rewind", { say: "what to restore", type: "\r" }, left)),
    scene("the whole transcript", [
      { say: "opened", type: "\u000f" },
      { say: "to its start", type: "g" },
      { say: "words to find", type: "/shop" },
      { say: "found", type: "\r" },
      { say: "the next", type: "n" },
      left,
      left,
    ]),
  ];
}
