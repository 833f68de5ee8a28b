/** Work beside the conversation: a command or an agent that goes on while the session does something else. */
import * as z from "zod/mini";

export const taskStatusSchema = z.enum(["running", "completed", "failed", "stopped"]);
/** `completed` ended well by itself; `failed` did not, or was killed by somebody; `stopped` was ended by this session. */
export type TaskStatus = z.infer<typeof taskStatusSchema>;

export const taskDataSchema = z.object({
  kind: z.optional(z.enum(["shell", "agent"])),
  /** Asked for as such, moved there while it ran, or left running by a command that ended. */
  origin: z.optional(z.enum(["asked", "moved", "left"])),
  callId: z.optional(z.string()),
  description: z.optional(z.string()),
  command: z.optional(z.string()),
  agent: z.optional(z.string()),
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
  by: z.optional(z.enum(["itself", "model", "host", "shutdown", "lost"])),
  /** The model learns of the end by the result of a call. */
  told: z.optional(z.boolean()),
});
export type TaskData = z.infer<typeof taskDataSchema>;
