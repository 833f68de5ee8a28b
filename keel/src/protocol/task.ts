/** Work beside the conversation: a command or an agent that goes on while the session does something else. */
import * as z from "zod/mini";
import { fingerprint } from "../kernel/text.ts";
import { todoSchema } from "./tool.ts";
import { billSchema } from "./usage.ts";

export const taskStatusSchema = z.enum(["running", "completed", "failed", "stopped"]);
/** `completed` ended well by itself; `failed` did not, or was killed by somebody; `stopped` was ended by this session. */
export type TaskStatus = z.infer<typeof taskStatusSchema>;

/** The name of a command as a task, should its call be moved to the background: hosts are told of it before. */
export const taskIdOfCall = (callId: string): string => `b${fingerprint(`task/${callId}`).slice(0, 8)}`;

/** A folder with a copy of a repository's files, on a branch of its own; `from` is the folder of the repository. */
export const worktreeSchema = z.object({ path: z.string(), branch: z.string(), from: z.string() });
export type Worktree = z.infer<typeof worktreeSchema>;

/** One try of a goal; `words` say what came of it. */
export const goalTryFields = {
  goal: z.string(),
  try: z.number(),
  held: z.boolean(),
  words: z.string(),
};

/** What became of a team. */
export const teamChangeFields = {
  team: z.string(),
  change: z.enum(["formed", "listed", "left", "ended"]),
  description: z.optional(z.string()),
  /** The list as it is from now on, who changed it, and by which call of whose session: one call changes it once. */
  todos: z.optional(z.array(todoSchema)),
  by: z.optional(z.string()),
  call: z.optional(z.string()),
  /** Who left, and why. */
  member: z.optional(z.string()),
  why: z.optional(z.string()),
};

export const taskDataSchema = z.object({
  kind: z.optional(z.enum(["shell", "agent"])),
  /** Asked for as such, moved there while it ran, left running by a command that ended, or waited for by its call. */
  origin: z.optional(z.enum(["asked", "moved", "left", "waited"])),
  callId: z.optional(z.string()),
  description: z.optional(z.string()),
  command: z.optional(z.string()),
  /** The kind of agent, the session that it is, and how far below the session of the host it stands. */
  agent: z.optional(z.string()),
  session: z.optional(z.string()),
  depth: z.optional(z.number()),
  /** The last event of its own log when it was told to go on: what stands before belongs to earlier work. */
  since: z.optional(z.number()),
  /** By which other agents may call it. */
  name: z.optional(z.string()),
  prompt: z.optional(z.string()),
  /** The team that it is a member of; the input by which it was woken last; whether its plan is still to be approved. */
  team: z.optional(z.string()),
  message: z.optional(z.string()),
  plans: z.optional(z.boolean()),
  /** The folder of its own that it works in. */
  worktree: z.optional(worktreeSchema),
  /** What an agent reported at its end, what it cost, and how many tools it used. */
  report: z.optional(z.string()),
  bill: z.optional(billSchema),
  toolUses: z.optional(z.number()),
  /** Where its output stands, if it stands in a file. */
  outputFile: z.optional(z.string()),
  /** Null when a signal ended it; left out where nobody knows. */
  exitCode: z.optional(z.nullable(z.number())),
  signal: z.optional(z.string()),
  /** How it ended, in a sentence. */
  summary: z.optional(z.string()),
  /** What went wrong beside it, such as an output that could not be written. */
  error: z.optional(z.string()),
  /** Who ended it; `lost`: the process that ran it is gone. */
  by: z.optional(z.enum(["itself", "model", "host", "shutdown", "lost", "budget"])),
  /** An agent's own log could not be brought to its end, as on a full disk: the next opening of this session does that. */
  unsettled: z.optional(z.boolean()),
  /** The model learns of the end by the result of a call. */
  told: z.optional(z.boolean()),
});
export type TaskData = z.infer<typeof taskDataSchema>;
