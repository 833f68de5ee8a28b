/** What may be asked of a server about its chat groups: rows of the table of operations. */
import * as z from "zod/mini";
import { groupBoxes, groupChannels, groupIdSchema } from "./group.ts";

const text = z.string();
const opt = z.optional;
const count = z.number();

export const groupEntrySchema = z.object({
  id: text,
  name: text,
  channel: z.enum(groupChannels),
  chat: text,
  trigger: text,
  always: z.boolean(),
  main: z.boolean(),
  box: z.enum(groupBoxes),
  folder: text,
  /** Where its agent works on what is said; one in a container has it there. */
  session: text,
  createdAt: z.number(),
  /** `queued`: as many agents work as may. */
  state: z.enum(["working", "queued", "resting"]),
  /** Messages that wait for one that is meant for it. */
  waiting: count,
  /** What its agent was told and has not answered, and the most tries that one of those has had. */
  open: count,
  tries: count,
  /** Answers that the channel has not taken. */
  unsent: count,
  lastAt: opt(z.number()),
  /** Folders that it asks for and is not given, each with the reason. */
  refusedMounts: z.readonly(z.array(text)),
});
export type GroupEntry = z.infer<typeof groupEntrySchema>;

const groupLineSchema = z.object({
  at: z.number(),
  /** Left out for the agent. */
  from: opt(text),
  text,
  /** Of the agent's: whether the channel has taken it. */
  isSent: z.boolean(),
});

export const groupOperations = {
  groups: {
    says: "The chat groups and where each stands; `atOnce` is how many of their agents may work at once",
    method: "GET",
    path: "/api/groups",
    access: "watch",
    question: z.object({}),
    answer: z.object({ groups: z.readonly(z.array(groupEntrySchema)), atOnce: count }),
  },
  groupLog: {
    says: "The last of what was said in a group, the newest last; 50 lines when left out",
    method: "GET",
    path: "/api/groups/{group}/log",
    access: "watch",
    question: z.object({ group: groupIdSchema, last: opt(z.number()) }),
    answer: z.object({ lines: z.readonly(z.array(groupLineSchema)) }),
  },
  groupSay: {
    says: "Says something in a group of the local channel, as one of its people. The same id twice is said once",
    method: "POST",
    path: "/api/groups/{group}/messages",
    access: "work",
    question: z.object({
      group: groupIdSchema,
      text: text.check(z.minLength(1)),
      from: opt(text.check(z.minLength(1), z.maxLength(100))),
      id: opt(text.check(z.minLength(1), z.maxLength(100))),
    }),
    answer: z.object({}),
  },
} as const;

export type GroupOperation = keyof typeof groupOperations;
