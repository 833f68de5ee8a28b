/** Which agent something comes from, where it is not the session's own: on events that a host sees, and on asks. */
import * as z from "zod/mini";

export const originSchema = z.object({
  /** The task of the agent: what commands and other agents call it by. */
  agentId: z.string(),
  /** The call that started it, in the session above it. */
  parentCallId: z.string(),
  /** The kind of agent. */
  kind: z.string(),
  /** 1 for an agent of the session that the host opened. */
  depth: z.number(),
  /** What it was given to do, in a few words. */
  description: z.optional(z.string()),
});
export type Origin = z.infer<typeof originSchema>;
