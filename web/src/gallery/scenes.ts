/** What the gallery shows: recorded sessions, and workspaces around them. */
import type { Envelope, WorkerEntry, WorkspaceEntry } from "keel/protocol";
import edit from "./recorded/edit.json" with { type: "json" };
import failed from "./recorded/failed.json" with { type: "json" };
import image from "./recorded/image.json" with { type: "json" };
import interrupted from "./recorded/interrupted.json" with { type: "json" };
import login from "./recorded/login.json" with { type: "json" };
import plan from "./recorded/plan.json" with { type: "json" };
import question from "./recorded/question.json" with { type: "json" };
import shortened from "./recorded/shortened.json" with { type: "json" };
import streaming from "./recorded/streaming.json" with { type: "json" };
import type { Recording } from "./recorded-client.ts";
import { choices, devices, explain, foreignMessages, groupLines, groups, memory } from "./told.ts";
import { scheduleSamples, teamEvents, teamSample } from "./work-samples.ts";
import { diff, fileDiffs, terminal } from "./worker-samples.ts";

const asEvents = (recorded: unknown): readonly Envelope[] => recorded as readonly Envelope[];

export const recorded = {
  login: asEvents(login),
  question: asEvents(question),
  plan: asEvents(plan),
  edit: asEvents(edit),
  image: asEvents(image),
  failed: asEvents(failed),
  shortened: asEvents(shortened),
  streaming: asEvents(streaming),
  interrupted: asEvents(interrupted),
} as const;
export type RecordedName = keyof typeof recorded;

const at = Date.UTC(2026, 10, 16, 9, 40);

const worker = (workspace: string, given: Partial<WorkerEntry>): WorkerEntry => ({
  id: `${workspace}-${given.kind ?? "agent"}`,
  workspace,
  kind: "agent",
  engine: "keel",
  name: "Agent",
  createdAt: at,
  activity: "idle",
  ...given,
});

const workspace = (id: string, given: Partial<WorkspaceEntry>): WorkspaceEntry => ({
  id,
  title: id,
  cwd: "/home/ada/shop",
  folder: "/home/ada/shop",
  createdAt: at,
  changedAt: at,
  archived: false,
  workers: [],
  ...given,
});

export const workspaces: readonly WorkspaceEntry[] = [
  workspace("login-fix", {
    title: "Mend the login",
    cwd: "/home/ada/shop/.keel/worktrees/login-fix",
    worktree: { path: "/home/ada/shop/.keel/worktrees/login-fix", branch: "login-fix" },
    branch: "login-fix",
    added: 42,
    removed: 7,
    workers: [
      worker("login-fix", { session: "login", activity: "asking", asks: 1, costUsd: 0.31 }),
      worker("login-fix", { kind: "terminal", engine: "shell", name: "Terminal", activity: "idle" }),
      worker("login-fix", { kind: "diff", engine: "git", name: "Diff" }),
    ],
  }),
  workspace("database", {
    title: "Choose a database",
    branch: "main",
    createdAt: at - 1_000,
    workers: [worker("database", { session: "question", activity: "asking", asks: 1, costUsd: 0.02 })],
  }),
  workspace("api", {
    title: "Prices over the API",
    branch: "api-prices",
    createdAt: at - 2_000,
    added: 310,
    removed: 84,
    workers: [
      worker("api", {
        session: "shortened",
        activity: "active",
        lastWords: "The routes are there. Now their tests.",
        costUsd: 1.2,
      }),
    ],
  }),
  workspace("docs", {
    title: "Write the guide",
    branch: "main",
    createdAt: at - 3_000,
    workers: [
      worker("docs", {
        session: "image",
        activity: "idle",
        lastWords: "The guide has a page for each tool.",
        costUsd: 0.4,
      }),
    ],
  }),
  workspace("routes", {
    title: "Routes, by another agent",
    branch: "main",
    createdAt: at - 3_500,
    workers: [
      worker("routes", {
        engine: "sdk",
        name: "Agent SDK",
        session: "elsewhere",
        lastWords: "There is one.",
      }),
    ],
  }),
  workspace("plan", {
    title: "A login that lasts",
    cwd: "/home/ada/blog",
    folder: "/home/ada/blog",
    createdAt: at - 3_800,
    archived: true,
    workers: [worker("plan", { session: "plan", activity: "idle" })],
  }),
  workspace("prices", {
    title: "Prices in cents",
    createdAt: at - 3_900,
    archived: true,
    workers: [worker("prices", { session: "streaming", activity: "active" })],
  }),
  workspace("speed", {
    title: "How fast is the shop?",
    createdAt: at - 3_950,
    archived: true,
    workers: [worker("speed", { session: "interrupted" })],
  }),
  workspace("checkout", {
    title: "Prices in cents, by a team",
    createdAt: at - 3_955,
    archived: true,
    workers: [worker("checkout", { session: "team", activity: "active" })],
  }),
  workspace("bare", { title: "Nobody works here", createdAt: at - 3_960, archived: true }),
  workspace("new", {
    title: "Just begun",
    createdAt: at - 3_970,
    archived: true,
    workers: [worker("new", { session: "empty" })],
  }),
  workspace("drafts", {
    title: "Drafts",
    cwd: "/home/ada/blog",
    folder: "/home/ada/blog",
    createdAt: at - 4_000,
    workers: [worker("drafts", { session: "failed", activity: "failed", failure: "The key was refused." })],
  }),
];

export const scene: Recording = {
  workspaces,
  sessions: { ...recorded, team: teamEvents(recorded.shortened) },
  schedules: scheduleSamples(at),
  diff,
  fileDiffs,
  terminal,
  messages: foreignMessages,
  devices,
  memory,
  groups,
  groupLines,
  choices,
  inquiries: {
    explain,
    team: teamSample(at),
    context: {
      model: "claude-opus-5-5",
      windowTokens: 200_000,
      compactAtTokens: 160_000,
      totalTokens: 76_400,
      freeTokens: 123_600,
      tokens: {
        system: 4_200,
        tools: 9_800,
        mcp: 14_100,
        instructions: 2_300,
        skills: 1_900,
        messages: 44_100,
      },
    },
    offeredModels: [
      {
        name: "opus",
        efforts: ["low", "medium", "high"],
        model: { id: "claude-opus-5-5", name: "Claude Opus 5.5" },
      },
      {
        name: "sonnet",
        efforts: ["low", "medium", "high"],
        model: { id: "claude-sonnet-5-5", name: "Claude Sonnet 5.5" },
      },
    ],
    rules: [
      { list: "allow", rule: "Bash(npm test:*)", source: "project" },
      { list: "allow", rule: "Edit(./src/**)", source: "session" },
      { list: "ask", rule: "Bash(git push:*)", source: "user" },
      { list: "deny", rule: "Read(./.env)", source: "project" },
    ],
    servers: [
      { name: "github", status: "connected", tools: 24 },
      { name: "figma", status: "failed", error: "It ended before it said what it can do." },
    ],
    models: [
      {
        id: "claude-opus-5-5",
        name: "Claude Opus 5.5",
        provider: "anthropic",
        windowTokens: 1_000_000,
        maxOutputTokens: 128_000,
        prices: {
          input: 4,
          output: 20,
          cacheRead: 0.2,
          cacheWrite: 5,
          cacheWriteLong: 8,
          asOf: "2026-10-07",
        },
      },
      {
        id: "llama-local",
        name: "Llama (local)",
        provider: "openai",
        windowTokens: 128_000,
        maxOutputTokens: 8_000,
        prices: null,
      },
    ],
  },
};
