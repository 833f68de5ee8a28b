/** Facts that are shown while they happen and never stored. */
import * as z from "zod/mini";
import { blockSchema } from "../message.ts";
import { displaySchema } from "../tool.ts";
import { usageSchema } from "../usage.ts";
import { faultDataSchema } from "./durable.ts";

/** A piece of a reply: of which request, and of which of its blocks. */
const piece = { requestId: z.string(), index: z.number() };

/** Shown while it happens, gone afterwards. */
export const liveEventSchema = z.discriminatedUnion("type", [
  /** A reply begins to stream. */
  z.object({
    type: z.literal("reply.started"),
    requestId: z.string(),
    model: z.string(),
    providerId: z.optional(z.string()),
    usage: z.optional(usageSchema),
  }),
  /** A block of the reply begins. */
  z.object({ type: z.literal("block.started"), ...piece, block: blockSchema }),
  /** A piece of text. */
  z.object({ type: z.literal("text.delta"), ...piece, text: z.string() }),
  /** A piece of thinking. */
  z.object({ type: z.literal("thinking.delta"), ...piece, text: z.string() }),
  /** A piece of the proof that the provider wrote the thinking. */
  z.object({ type: z.literal("signature.delta"), ...piece, text: z.string() }),
  /** A piece of a call's input, as JSON that is not whole yet. */
  z.object({ type: z.literal("call.delta"), ...piece, json: z.string() }),
  /** A block of the reply is whole. */
  z.object({ type: z.literal("block.finished"), ...piece, block: blockSchema }),
  /** What was shown of a reply does not count: it failed. */
  z.object({ type: z.literal("reply.withdrawn"), requestId: z.string(), why: faultDataSchema }),
  /** A tool still runs: for how long, and what it shows; a silent one only the time, now and then. */
  z.object({
    type: z.literal("tool.progress"),
    callId: z.string(),
    tool: z.string(),
    elapsedMs: z.number(),
    display: z.optional(displaySchema),
  }),
  /** The next attempt comes after a pause. */
  z.object({
    type: z.literal("retry.waiting"),
    attempt: z.number(),
    mostAttempts: z.number(),
    delayMs: z.number(),
    fault: faultDataSchema,
  }),
  /** A command that needs no model was called, and what it says. */
  z.object({
    type: z.literal("command.answered"),
    name: z.string(),
    text: z.string(),
    /** What a screen shows in the place of the words. */
    display: z.optional(displaySchema),
  }),
  /** A hook that is a command or an address was called. */
  z.object({ type: z.literal("hook.started"), hookId: z.string(), name: z.string(), event: z.string() }),
  /** What such a hook has printed so far; told now and then while it runs. */
  z.object({
    type: z.literal("hook.progress"),
    hookId: z.string(),
    name: z.string(),
    event: z.string(),
    stdout: z.string(),
    stderr: z.string(),
  }),
  /** Such a hook has ended, and how; one that goes on by itself has ended for the session. */
  z.object({
    type: z.literal("hook.finished"),
    hookId: z.string(),
    name: z.string(),
    event: z.string(),
    outcome: z.enum(["success", "error", "cancelled"]),
    stdout: z.string(),
    stderr: z.string(),
    exitCode: z.optional(z.number()),
  }),
  /** Something that a person should know. */
  z.object({
    type: z.literal("notice.raised"),
    level: z.enum(["info", "warning"]),
    text: z.string(),
    code: z.optional(z.string()),
  }),
]);
export type LiveEvent = z.infer<typeof liveEventSchema>;

export const liveSchema = z.intersection(z.object({ at: z.number(), session: z.string() }), liveEventSchema);
export type Live = z.infer<typeof liveSchema>;

const replyEvents = [
  "reply.started",
  "block.started",
  "text.delta",
  "thinking.delta",
  "signature.delta",
  "call.delta",
  "block.finished",
  "reply.withdrawn",
] as const satisfies LiveEvent["type"][];

/** A reply while it is written. */
export type ReplyEvent = Extract<Live, { type: (typeof replyEvents)[number] }>;

const replyEventTypes: ReadonlySet<string> = new Set(replyEvents);
export const isReplyEvent = (event: { readonly type: string }): event is ReplyEvent =>
  replyEventTypes.has(event.type);
