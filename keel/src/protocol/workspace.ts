/**
 * A workspace is a folder that somebody works in, with its workers: agents, terminals and a diff, each driven by an
 * engine that is named. A server owns them, keeps them over its restarts and tells whoever watches what changes. On the
 * console wire a workspace is called a session, as its document does.
 */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";

const text = z.string();
const opt = z.optional;
const list = <T extends z.ZodMiniType>(of: T) => z.readonly(z.array(of));

export const workerKinds = ["agent", "terminal", "diff"] as const;
export const workerKindSchema = z.enum(workerKinds);
export type WorkerKind = z.infer<typeof workerKindSchema>;

/**
 * What a worker does right now. `unknown`: nothing is known yet, or its engine is. `ended`: its program has ended and
 * can be started anew. `failed`: it stopped on an error, which is told.
 */
export const workerActivitySchema = z.enum(["active", "idle", "asking", "failed", "ended", "unknown"]);
export type WorkerActivity = z.infer<typeof workerActivitySchema>;

/** What a new agent can be told by its engine's nature: a program to run, or options of a session. */
export const agentFields = ["command", "kind", "model", "mode"] as const;
export const engineEntrySchema = z.object({ name: text, fields: list(z.enum(agentFields)) });
export type EngineEntry = z.infer<typeof engineEntrySchema>;

export const workerEntrySchema = z.object({
  id: text,
  workspace: text,
  kind: workerKindSchema,
  /** `keel`, `sdk`, `acp` or `pty` of an agent, `shell` of a terminal, `git` of a diff; one that is not known is shown. */
  engine: text,
  name: text,
  createdAt: z.number(),
  activity: workerActivitySchema,
  /** Of an agent with structured messages: its session, by the engine's own id. */
  session: opt(text),
  /** Of a program in a terminal: what was started. */
  command: opt(list(text)),
  /** The end of the last thing that the agent said, as one line. */
  lastWords: opt(text),
  costUsd: opt(z.number()),
  /** How many questions wait for a person. */
  asks: opt(z.number()),
  model: opt(text),
  /** How its program ended, or what it failed with. */
  exit: opt(z.object({ code: z.number(), signal: z.nullable(text) })),
  failure: opt(text),
});
export type WorkerEntry = z.infer<typeof workerEntrySchema>;

export const workspaceEntrySchema = z.object({
  id: text,
  title: text,
  /** Where its workers work: the folder that was named, or the worktree that was made of it. */
  cwd: text,
  /** The folder that was named. */
  folder: text,
  createdAt: z.number(),
  changedAt: z.number(),
  archived: z.boolean(),
  worktree: opt(z.object({ path: text, branch: text })),
  /** Its folder is on another machine, behind a bridge; `connected` while that is there. */
  bridge: opt(z.object({ machine: text, connected: z.boolean() })),
  /** Of its repository, where there is one: the branch, and lines added and removed since its last commit. */
  branch: opt(text),
  added: opt(z.number()),
  removed: opt(z.number()),
  workers: list(workerEntrySchema),
});
export type WorkspaceEntry = z.infer<typeof workspaceEntrySchema>;

/** What a new worker is made of. Left out: an agent by `keel`, the person's shell, git. */
export const newWorkerSchema = z.object({
  kind: workerKindSchema,
  engine: opt(text),
  name: opt(text),
  /** Of a program in a terminal: it and its arguments, no shell between. */
  command: opt(list(text)),
  /** A session to go on with; a new one when left out. */
  session: opt(text),
  /** Options of the options table, as `open` takes them. */
  options: opt(z.record(text, jsonSchema)),
  /** What the agent is told first. */
  prompt: opt(text),
  columns: opt(z.number()),
  rows: opt(z.number()),
  /** Of a program in a terminal: it sees the keys in the server's environment too, which are withheld otherwise. */
  keys: opt(z.boolean()),
});
export type NewWorker = z.infer<typeof newWorkerSchema>;

/** Changes of workspaces and workers, for whoever shows them all: the whole once, then what changes. */
export const workspaceUpdateSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("all"), workspaces: list(workspaceEntrySchema) }),
  z.object({ kind: z.literal("workspace"), workspace: workspaceEntrySchema }),
  z.object({ kind: z.literal("worker"), worker: workerEntrySchema }),
  z.object({ kind: z.literal("worker-gone"), workspace: text, worker: text }),
  z.object({ kind: z.literal("workspace-gone"), workspace: text }),
]);
export type WorkspaceUpdate = z.infer<typeof workspaceUpdateSchema>;

/**
 * What a terminal shows. Positions count the UTF-8 bytes of all output since the program's start, whose `epoch` it is,
 * and are never counted anew. Who comes with a position that is still kept gets what follows it, anyone else a screen.
 */
export const terminalUpdateSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("screen"),
    epoch: text,
    at: z.number(),
    columns: z.number(),
    rows: z.number(),
    /** What makes an empty terminal of this size look the same. */
    paint: text,
  }),
  z.object({ kind: z.literal("output"), at: z.number(), text }),
  z.object({ kind: z.literal("size"), columns: z.number(), rows: z.number() }),
  z.object({ kind: z.literal("exit"), code: z.number(), signal: z.nullable(text) }),
]);
export type TerminalUpdate = z.infer<typeof terminalUpdateSchema>;

export const diffFileSchema = z.object({
  path: text,
  /** Where a renamed or copied file was. */
  from: opt(text),
  change: z.enum(["added", "modified", "deleted", "renamed", "copied", "untracked", "conflicted"]),
  staged: z.enum(["staged", "unstaged", "partly", "committed"]),
  added: z.number(),
  removed: z.number(),
  binary: opt(z.boolean()),
  /** Another one whenever the contents are others. */
  stamp: text,
});
export type DiffFile = z.infer<typeof diffFileSchema>;

/** Counts first; the contents of a file come when it is opened. */
export const diffSummarySchema = z.object({
  /** Undefined where the folder is no repository; `problem` says so. */
  base: opt(text),
  branch: opt(text),
  files: list(diffFileSchema),
  added: z.number(),
  removed: z.number(),
  /** More files than are listed. */
  more: z.number(),
  /** The files are known and their lines are still counted: every count is 0, and an update follows. */
  counting: opt(z.boolean()),
  problem: opt(text),
});
export type DiffSummary = z.infer<typeof diffSummarySchema>;

export const diffLineSchema = z.object({
  kind: z.enum(["same", "added", "removed"]),
  before: opt(z.number()),
  after: opt(z.number()),
  text,
});
export const diffHunkSchema = z.object({
  /** Names the hunk by its contents: one that has changed since it was shown is refused. */
  id: text,
  staged: z.boolean(),
  /** It is in a commit since the base already, and can only be looked at. */
  committed: opt(z.boolean()),
  head: text,
  lines: list(diffLineSchema),
});
export const fileDiffSchema = z.object({
  path: text,
  stamp: text,
  hunks: list(diffHunkSchema),
  binary: opt(z.boolean()),
  /** What was left out because the file is too large. */
  omitted: opt(text),
});
export type FileDiff = z.infer<typeof fileDiffSchema>;

/**
 * What an agent of another engine says, in that engine's own messages, for those who show it: each has a uuid, by which
 * a reader comes back. Pieces of a message that is being written are told as they come and not kept.
 */
export const agentUpdateSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("message"), message: z.record(text, jsonSchema) }),
  /** Of an agent whose engine tells it in events of our own, as a session does. One that is not kept has no uuid. */
  z.object({ kind: z.literal("event"), uuid: opt(text), event: z.record(text, jsonSchema) }),
  /** It waits for a person: whether a tool may be used, or an answer to a question. */
  z.object({
    kind: z.literal("ask"),
    ask: z.object({ id: text, tool: text, input: z.record(text, jsonSchema) }),
  }),
  z.object({ kind: z.literal("answered"), ask: text, verdict: opt(z.enum(["allow", "deny"])) }),
]);
export type AgentUpdate = z.infer<typeof agentUpdateSchema>;
