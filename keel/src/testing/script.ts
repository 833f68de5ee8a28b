/** The script of a model that only pretends: which reply it gives to which request, and how the reply goes wrong. */
import * as z from "zod/mini";
import { jsonSchema } from "../protocol/message.ts";
import { stopSchema } from "../protocol/reasons.ts";
import { usageSchema } from "../protocol/usage.ts";

const count = z.int().check(z.gte(0));

/** What a reply is made of. Ids of calls are made up where they are left out. */
export const scriptBlockSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("thinking"),
    text: z.string(),
    signature: z.optional(z.string()),
    /** Thinking that the provider hides: sent in place of the text. */
    hidden: z.optional(z.string()),
  }),
  z.strictObject({
    type: z.literal("tool_use"),
    name: z.string(),
    input: z.optional(jsonSchema),
    id: z.optional(z.string()),
    /** Sent as it is instead of `input`: the way to write arguments that are not JSON. */
    rawInput: z.optional(z.string()),
  }),
  /** A block that only its provider understands, sent as it is. */
  z.strictObject({ type: z.literal("foreign"), data: z.record(z.string(), jsonSchema) }),
]);
export type ScriptBlock = z.infer<typeof scriptBlockSchema>;

const providerErrorSchema = z.strictObject({ type: z.string(), message: z.string() });

/**
 * How a reply goes wrong. Events are counted without keep-alives: 1 is the start of the message, then come the start,
 * the pieces and the end of each block. A break never lets the last event through.
 */
export const replyFaultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("http"),
    status: z.int().check(z.gte(400), z.lte(599)),
    type: z.string(),
    message: z.string(),
    headers: z.optional(z.record(z.string(), z.string())),
  }),
  /** The stream breaks off: the connection closes, or the provider says why and then closes it. */
  z.strictObject({ kind: z.literal("cut"), afterEvents: count, error: z.optional(providerErrorSchema) }),
  /** The connection stays open and nothing useful comes any more. */
  z.strictObject({
    kind: z.literal("stall"),
    afterEvents: count,
    with: z.enum(["silence", "pings"]),
    pingEveryMs: z.optional(z.int().check(z.gte(1))),
  }),
  /** The connection is reset without an answer. */
  z.strictObject({ kind: z.literal("reset") }),
  z.strictObject({
    kind: z.literal("malformed"),
    how: z.enum([
      "two-message-starts",
      "delta-before-start",
      "call-after-end",
      "wrong-content-type",
      "gzip-cut",
      "negative-usage",
      "missing-usage",
      "garbage",
    ]),
  }),
]);
export type ReplyFault = z.infer<typeof replyFaultSchema>;

export const replySchema = z.strictObject({
  blocks: z._default(z.array(scriptBlockSchema), []),
  /** `tool_use` when the reply has calls, otherwise `end`, unless it is given here. */
  stop: z.optional(stopSchema),
  usage: z.optional(z.partial(usageSchema)),
  /** Characters in one delta. */
  chunkChars: z.optional(z.int().check(z.gte(1))),
  /** Before the first byte. */
  delayMs: z.optional(count),
  /** Between two events. */
  betweenMs: z.optional(count),
  fault: z.optional(replyFaultSchema),
});
export type Reply = z.infer<typeof replySchema>;

/** All that is given must hold. Texts are looked for in the newest message of the user. */
export const conditionSchema = z.strictObject({
  systemContains: z.optional(z.string()),
  lastUserContains: z.optional(z.string()),
  modelContains: z.optional(z.string()),
  toolResultContains: z.optional(z.string()),
});
export type Condition = z.infer<typeof conditionSchema>;

export type Script = {
  /** Given in this order, one for each request that no rule takes. */
  readonly replies: readonly Reply[];
  /** Tried first, in this order; `times` bounds how often a rule is used. */
  readonly rules?: readonly Rule[] | undefined;
  /** Given when nothing else is left. Without it such a request is refused, so that a test notices. */
  readonly otherwise?: Reply | undefined;
  /** The models that the server lists; others are then unknown to it. */
  readonly models?: readonly string[] | undefined;
};

export type Rule = {
  readonly when: Condition;
  readonly reply: Reply;
  readonly times?: number | undefined;
};
