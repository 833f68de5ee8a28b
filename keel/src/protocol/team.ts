/** A team as somebody who looks at it sees it. */
import * as z from "zod/mini";

const text = z.string();
const opt = z.optional;
const list = <T extends z.ZodMiniType>(of: T) => z.readonly(z.array(of));

export const teamMemberStates = ["working", "asking", "resting", "failed", "left"] as const;

const teamWaitSchema = z.object({
  /** A task of the list that has to be done before, an answer, a word on a plan, or a report. */
  for: z.enum(["task", "answer", "plan", "report"]),
  /** Of whom: a member, or `main`; left out for the person. */
  of: opt(text),
  /** The task, or what is asked. */
  about: opt(text),
});
export type TeamWait = z.infer<typeof teamWaitSchema>;

const teamMemberSchema = z.object({
  /** `main` is the leader. */
  name: text,
  kind: opt(text),
  /** The task that it is for its leader, and its own session. */
  taskId: opt(text),
  session: text,
  state: z.enum(teamMemberStates),
  /** When it came to rest, failed or left, as far as that is known. */
  since: opt(z.number()),
  /** What it has taken from the list and not done yet. */
  tasks: list(text),
  waits: list(teamWaitSchema),
});
export type TeamMemberEntry = z.infer<typeof teamMemberSchema>;

export const teamReportSchema = z.object({
  name: text,
  description: opt(text),
  /** The leader first. */
  members: list(teamMemberSchema),
  /** The last of what they told each other, the newest last. */
  messages: list(z.object({ from: text, to: text, text, at: z.number() })),
});
export type TeamReport = z.infer<typeof teamReportSchema>;
