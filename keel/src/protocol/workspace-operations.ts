/** What may be asked of a server about workspaces and workers (rows of the table of operations), and watched of them. */
import * as z from "zod/mini";
import {
  agentUpdateSchema,
  diffSummarySchema,
  engineEntrySchema,
  fileDiffSchema,
  newWorkerSchema,
  terminalUpdateSchema,
  workerEntrySchema,
  workspaceEntrySchema,
  workspaceUpdateSchema,
} from "./workspace.ts";

const text = z.string();
const opt = z.optional;
const list = <T extends z.ZodMiniType>(of: T) => z.readonly(z.array(of));
const nothing = z.object({});

/** Of a file in the folder, from there: what leads out of it is no question at all. */
const filePath = z.string().check(
  z.refine((path) => !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes(".."), {
    error: "not a path inside of the folder",
  }),
);

/** Of a screen, in one direction. */
const cells = z.int().check(z.minimum(1), z.maximum(1_000));

const ofWorkspace = { workspace: text };
const ofWorker = { worker: text };

export const workspaceOperations = {
  workspaces: {
    says: "The workspaces with their workers, newest change first; archived ones where asked for",
    method: "GET",
    path: "/api/workspaces",
    access: "watch",
    question: z.object({ archived: opt(z.boolean()) }),
    answer: list(workspaceEntrySchema),
  },
  choices: {
    says: "What a new agent can be made of: the engines, and for a folder the kinds of agents and the models there",
    method: "GET",
    path: "/api/workspaces/choices",
    access: "work",
    question: z.object({ cwd: opt(text) }),
    answer: z.object({
      engines: list(engineEntrySchema),
      /** As a session in the folder would have them; none where no folder is named. */
      agents: list(z.object({ name: text, description: text })),
      models: list(z.object({ id: text, name: text })),
    }),
  },
  createWorkspace: {
    says: "A workspace in a folder, or in a worktree that is made of it",
    method: "POST",
    path: "/api/workspaces",
    access: "work",
    question: z.object({
      cwd: text,
      title: opt(text),
      /** A worktree is held by one workspace at a time. */
      worktree: opt(z.object({ name: opt(text) })),
      workers: opt(list(newWorkerSchema)),
    }),
    answer: workspaceEntrySchema,
  },
  changeWorkspace: {
    says: "Renames a workspace, archives it or takes it back; archived, its programs end and its sessions rest",
    method: "PATCH",
    path: "/api/workspaces/{workspace}",
    access: "work",
    question: z.object({ ...ofWorkspace, title: opt(text), archived: opt(z.boolean()) }),
    answer: workspaceEntrySchema,
  },
  deleteWorkspace: {
    says: "Ends the workers of a workspace and forgets it. Sessions stay; a worktree stays where it holds changes",
    method: "DELETE",
    path: "/api/workspaces/{workspace}",
    access: "work",
    question: z.object(ofWorkspace),
    answer: z.object({ keptWorktree: opt(text) }),
  },
  createWorker: {
    says: "A worker in a workspace",
    method: "POST",
    path: "/api/workspaces/{workspace}/workers",
    access: "work",
    question: z.object({ ...ofWorkspace, worker: newWorkerSchema }),
    answer: workerEntrySchema,
  },
  changeWorker: {
    says: "Renames a worker",
    method: "PATCH",
    path: "/api/workers/{worker}",
    access: "work",
    question: z.object({ ...ofWorker, name: text }),
    answer: workerEntrySchema,
  },
  restartWorker: {
    says: "Starts the program of a worker anew; of an agent, the engine: its session goes on",
    method: "POST",
    path: "/api/workers/{worker}/restart",
    access: "work",
    question: z.object(ofWorker),
    answer: workerEntrySchema,
  },
  deleteWorker: {
    says: "Ends a worker and forgets it; a session stays",
    method: "DELETE",
    path: "/api/workers/{worker}",
    access: "work",
    question: z.object(ofWorker),
    answer: nothing,
  },
  tellWorker: {
    says: "Words for an agent, whatever drives it; one that is at work hears them afterwards",
    method: "POST",
    path: "/api/workers/{worker}/messages",
    access: "work",
    question: z.object({
      ...ofWorker,
      content: text,
      /** A UUID: the same one twice is said once. */
      id: opt(text),
    }),
    answer: nothing,
  },
  interruptWorker: {
    says: "Stops what an agent does now; it can be told to go on",
    method: "POST",
    path: "/api/workers/{worker}/interrupt",
    access: "work",
    question: z.object(ofWorker),
    answer: nothing,
  },
  answerWorker: {
    says: "Answers what an agent of another engine asks; one of ours is answered in its session",
    method: "POST",
    path: "/api/workers/{worker}/answers",
    access: "answer",
    question: z.object({
      ...ofWorker,
      ask: text,
      verdict: z.enum(["allow", "deny"]),
      words: opt(text),
      /** Which of its options, where the question has any. */
      option: opt(text),
    }),
    answer: z.object({ late: z.boolean() }),
  },
  typeInTerminal: {
    says: "Keys for the program in a terminal",
    method: "POST",
    path: "/api/workers/{worker}/keys",
    access: "work",
    question: z.object({ ...ofWorker, keys: text }),
    answer: nothing,
  },
  resizeTerminal: {
    says: "The size of a terminal, for all who look at it",
    method: "POST",
    path: "/api/workers/{worker}/size",
    access: "work",
    question: z.object({ ...ofWorker, columns: cells, rows: cells }),
    answer: nothing,
  },
  diff: {
    says: "What has changed in the folder of a diff worker: files and counts, no contents",
    method: "GET",
    path: "/api/workers/{worker}/diff",
    access: "watch",
    question: z.object(ofWorker),
    answer: diffSummarySchema,
  },
  fileDiff: {
    says: "The hunks of one changed file",
    method: "GET",
    path: "/api/workers/{worker}/diff/file",
    access: "watch",
    question: z.object({ ...ofWorker, path: filePath }),
    answer: fileDiffSchema,
  },
  changeDiff: {
    says: "Stages, unstages or reverts a file or a hunk; what a revert takes away can be put back with its `undo`",
    method: "POST",
    path: "/api/workers/{worker}/diff",
    access: "work",
    question: z.object({
      ...ofWorker,
      action: z.enum(["stage", "unstage", "revert", "undo"]),
      path: opt(filePath),
      hunk: opt(text),
      undo: opt(text),
    }),
    answer: z.object({ undo: opt(text) }),
  },
} as const;

export type WorkspaceOperation = keyof typeof workspaceOperations;

/**
 * What is told until somebody has heard enough: over a wire by a frame `watch-` and the name of the row, over HTTP as
 * server-sent events of a path.
 */
export const watches = {
  workspaces: {
    says: "All workspaces once, then what changes of them and their workers",
    path: "/api/workspaces/events",
    question: nothing,
    update: workspaceUpdateSchema,
  },
  terminal: {
    says: "What a terminal shows: what comes after a position of an epoch that is still kept, else its screen",
    path: "/api/workers/{worker}/output",
    question: z.object({ ...ofWorker, epoch: opt(text), after: opt(z.number()) }),
    update: terminalUpdateSchema,
  },
  messages: {
    says: "What an agent of another engine says: all after the message with a uuid, then as it comes",
    path: "/api/workers/{worker}/messages/events",
    question: z.object({ ...ofWorker, since: opt(text) }),
    update: agentUpdateSchema,
  },
  diff: {
    says: "What has changed in the folder of a diff worker, whenever it is another one",
    path: "/api/workers/{worker}/diff/events",
    question: z.object(ofWorker),
    update: diffSummarySchema,
  },
} as const;
export type WatchName = keyof typeof watches;
export type WatchQuestion<Name extends WatchName> = z.infer<(typeof watches)[Name]["question"]>;
export type WatchUpdate<Name extends WatchName> = z.infer<(typeof watches)[Name]["update"]>;
export const watchNames = Object.keys(watches) as readonly WatchName[];
