/** What a host wants of a session. `submit` answers each command with a receipt once it is safe on disk. */
import * as z from "zod/mini";
import { answerSchema } from "./ask.ts";
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
    /** `as-is`: a slash at its start and an `@` in it mean nothing. For words that no person typed. */
    words: z.optional(z.literal("as-is")),
    allow: inputSchema.shape.allow,
    model: inputSchema.shape.model,
  }),
  z.object({
    type: z.literal("answer"),
    askId: z.string(),
    answer: answerSchema,
    /** `no-host`: nobody was there who could be asked, and the host refused in their place. */
    by: z.optional(z.enum(["host", "no-host"])),
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

/** What became of a command. */
export type Receipt =
  | { type: "accepted"; inputId: string; duplicate: boolean }
  /** The input was a command that needs no turn; what it says comes as `command.answered`. */
  | { type: "ran"; command: string }
  | { type: "answered"; askId: string }
  | { type: "late"; askId: string; why: "closed" | "unknown" }
  | { type: "interrupted"; running: boolean; stillQueued: string[]; dropped: string[] }
  | { type: "dropped"; inputId: string; found: boolean }
  | {
      type: "rewound";
      preview: boolean;
      /** What changed, or would. */
      files: { path: string; insertions: number; deletions: number }[];
      skipped: { path: string; why: string }[];
      /** Changed since, and cannot be restored. */
      lost: string[];
      /** The checkpoint that takes the rewind back. */
      undo?: string | undefined;
    }
  | { type: "backgrounded"; callIds: string[] }
  | { type: "stopped"; taskId: string; found: boolean }
  | { type: "done" };
