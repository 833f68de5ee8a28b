/** What a host wants of a session. `submit` answers each command with a receipt once it is safe on disk. */
import * as z from "zod/mini";
import { answeredBySchema, answerSchema } from "./ask.ts";
import { inputFromSchema, inputSchema } from "./event/durable.ts";
import { inputBlockSchema } from "./message.ts";
import { settingsPatchSchema } from "./settings.ts";

export const commandSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("input"),
    /** A UUID; made by the session when absent. Sending the same id twice is accepted once. */
    id: z.optional(z.string()),
    content: z.array(inputBlockSchema),
    from: z.optional(inputFromSchema),
    when: z.optional(inputSchema.shape.when),
    /**
     * `as-is`: a slash at its start and an `@` in it mean nothing; for words that no person typed. `shell`: a command of
     * the person's own, whose output joins the conversation with their next words. `note`: something to remember.
     */
    words: z.optional(z.enum(["as-is", "shell", "note"])),
    allow: inputSchema.shape.allow,
    model: inputSchema.shape.model,
    trace: inputSchema.shape.trace,
  }),
  z.object({
    type: z.literal("answer"),
    askId: z.string(),
    answer: answerSchema,
    /** `no-host`: nobody was there who could be asked, and the host refused in their place. */
    by: z.optional(z.enum(["host", "no-host"])),
    /** At which client. A server says it of those that are attached to it, whatever they say themselves. */
    who: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("interrupt"),
    /** Also drop what waits. */
    dropQueued: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal("drop"), inputId: z.string() }),
  z.object({ type: z.literal("set"), patch: settingsPatchSchema }),
  z.object({ type: z.literal("compact"), instructions: z.optional(z.string()) }),
  /** The conversation starts anew; not while a turn runs. */
  z.object({ type: z.literal("clear") }),
  /** The conversation goes on from an earlier message; not while a turn runs. Files stay as they are. */
  z.object({
    type: z.literal("return"),
    /** The event that the message came from: the last that counts. */
    to: z.number(),
    /** Of a reply: the block that is the last to stay; all of them when left out. */
    block: z.optional(z.number()),
  }),
  z.object({
    type: z.literal("rewind"),
    /** The id of the input before which the files were as wanted, or the `undo` of an earlier rewind. */
    checkpoint: z.string(),
    /** Only say what would change. */
    preview: z.optional(z.boolean()),
  }),
  /** A running command goes on in the background and its call returns at once; all that can, when none is named. */
  z.object({ type: z.literal("background"), callId: z.optional(z.string()) }),
  /** Ends a task in the background. */
  z.object({ type: z.literal("stop"), taskId: z.string() }),
  z.object({ type: z.literal("close") }),
]);
export type Command = z.infer<typeof commandSchema>;
export type InputCommand = Extract<Command, { type: "input" }>;

const texts = z.array(z.string());

/** What became of a command. */
export const receiptSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("accepted"), inputId: z.string(), duplicate: z.boolean() }),
  /** The input was a command that needs no turn; what it says comes as `command.answered`. */
  z.object({ type: z.literal("ran"), command: z.string() }),
  z.object({ type: z.literal("answered"), askId: z.string() }),
  z.object({
    type: z.literal("late"),
    askId: z.string(),
    why: z.enum(["closed", "unknown"]),
    /** Who settled it before, as its `ask.closed` says. */
    by: z.optional(answeredBySchema),
    who: z.optional(z.string()),
  }),
  z.object({ type: z.literal("interrupted"), running: z.boolean(), stillQueued: texts, dropped: texts }),
  z.object({ type: z.literal("dropped"), inputId: z.string(), found: z.boolean() }),
  z.object({
    type: z.literal("rewound"),
    preview: z.boolean(),
    /** What changed, or would. */
    files: z.array(z.object({ path: z.string(), insertions: z.number(), deletions: z.number() })),
    skipped: z.array(z.object({ path: z.string(), why: z.string() })),
    /** Changed since, and cannot be restored. */
    lost: texts,
    /** The checkpoint that takes the rewind back. */
    undo: z.optional(z.string()),
  }),
  z.object({ type: z.literal("backgrounded"), callIds: texts }),
  z.object({ type: z.literal("stopped"), taskId: z.string(), found: z.boolean() }),
  z.object({ type: z.literal("done") }),
]);
export type Receipt = z.infer<typeof receiptSchema>;
