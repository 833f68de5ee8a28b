/** Tools as data: what a model is told, what a tool touches, and what a screen shows of its work. */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";

/** What the model is told about a tool. */
export const toolSpecSchema = z.object({
  name: z.string(),
  description: z.string(),
  input: z.record(z.string(), jsonSchema),
});
export type ToolSpec = z.infer<typeof toolSpecSchema>;

/** What a tool is for, where rules, counts or presets go by it; a tool of none of them has no family. */
export type ToolFamily = "reads" | "edits" | "shell" | "web" | "agents" | "person";

/** An action on a target: what policy decides about. */
export const claimSchema = z.object({
  action: z.enum(["read", "write", "execute", "fetch", "use", "delegate"]),
  target: z.string(),
  /** Of a command: it is to run outside of the sandbox that there is. */
  outside: z.optional(z.literal(true)),
});
export type Claim = z.infer<typeof claimSchema>;

export const diffHunkSchema = z.object({
  oldStart: z.number(),
  oldLines: z.number(),
  newStart: z.number(),
  newLines: z.number(),
  /** Each starts with a blank, `-` or `+`. */
  lines: z.array(z.string()),
});
export type DiffHunk = z.infer<typeof diffHunkSchema>;

/** What a screen shows: data, so that the engine knows no screen. */
export const displaySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string() }),
  z.object({ kind: z.literal("markdown"), text: z.string() }),
  z.object({ kind: z.literal("diff"), path: z.string(), hunks: z.array(diffHunkSchema) }),
  z.object({
    kind: z.literal("terminal"),
    command: z.string(),
    output: z.string(),
    exitCode: z.nullable(z.number()),
    /** The terminal of an editor that it ran in, by the editor's own id: known to that editor, and while it is there. */
    terminal: z.optional(z.string()),
  }),
  z.object({ kind: z.literal("files"), paths: z.array(z.string()), truncated: z.boolean() }),
  z.object({
    kind: z.literal("todo"),
    items: z.array(
      z.object({
        /** By which calls name it. */
        id: z.optional(z.string()),
        text: z.string(),
        status: z.enum(["pending", "in_progress", "completed"]),
      }),
    ),
  }),
  z.object({ kind: z.literal("agent"), name: z.string(), text: z.string() }),
  z.object({
    kind: z.literal("table"),
    columns: z.array(z.string()),
    /** Cells in the order of the columns; one that is not there is empty. */
    rows: z.array(z.array(z.string())),
  }),
]);
export type Display = z.infer<typeof displaySchema>;

/** One thing to do, on the list that the model keeps of its work. */
export const todoSchema = z.object({
  id: z.string(),
  text: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
  description: z.optional(z.string()),
  /** What a screen says while it is being done: "Running the tests". */
  activeForm: z.optional(z.string()),
  owner: z.optional(z.string()),
  /** The ids of what must be done before it. */
  blockedBy: z.optional(z.array(z.string())),
  metadata: z.optional(z.record(z.string(), jsonSchema)),
});
export type Todo = z.infer<typeof todoSchema>;

/** A file as a tool last saw it; edits of a file that changed since are refused. */
export const fileSeenSchema = z.object({ path: z.string(), stamp: z.string() });
export type FileSeen = z.infer<typeof fileSeenSchema>;
