/** Something the engine needs from a host, and the reply. The engine supplies the options; a host shows and picks. */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";
import { claimSchema, displaySchema } from "./tool.ts";
import { verdictFactsSchema } from "./verdict-facts.ts";

/** Which agent something comes from, where it is not the session's own: on events that a host sees, and on asks. */
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

export const askOptionSchema = z.object({
  id: z.string(),
  label: z.string(),
  verdict: z.enum(["allow", "deny"]),
  /** A rule that picking this option adds, as it would stand in the settings. */
  rule: z.optional(z.string()),
  /** What else that rule would let through, for a person. */
  preview: z.optional(z.string()),
  /** The person is to say something with it: the answer's `reason`, which the model is told. */
  takesWords: z.optional(z.boolean()),
});
export type AskOption = z.infer<typeof askOptionSchema>;

export const askSchema = z.object({
  id: z.string(),
  kind: z.enum(["permission", "question", "plan", "hook", "host-tool", "elicitation"]),
  title: z.string(),
  body: displaySchema,
  options: z.array(askOptionSchema),
  callId: z.optional(z.string()),
  tool: z.optional(z.string()),
  /** The exact input that would run; an approval holds for these bytes only. */
  input: z.optional(jsonSchema),
  claims: z.optional(z.array(claimSchema)),
  reason: z.optional(z.string()),
  /** The agent that needs it, where it is not the session itself. */
  origin: z.optional(originSchema),
  /** What the verdict that asks rested on. */
  facts: z.optional(verdictFactsSchema),
  /** JSON Schema of the data that an answer carries, where it carries any. */
  schema: z.optional(z.record(z.string(), jsonSchema)),
});
export type Ask = z.infer<typeof askSchema>;

export const answerSchema = z.object({
  verdict: z.enum(["allow", "deny"]),
  /** Which option was picked. */
  option: z.optional(z.string()),
  /** Rules that the host adds for the rest of the session, as they would stand in the settings. */
  rules: z.optional(z.array(z.string())),
  /** Words for the model. */
  reason: z.optional(z.string()),
  /** A changed input; it is decided again. */
  input: z.optional(jsonSchema),
  /** The data of a question, a plan or an elicitation. */
  data: z.optional(jsonSchema),
  /** Denied, and the turn ends. */
  interrupt: z.optional(z.boolean()),
});
export type Answer = z.infer<typeof answerSchema>;

/** Who closed an ask. */
export const answeredBySchema = z.enum([
  "host",
  "rule",
  "timeout",
  "interrupt",
  "shutdown",
  "no-host",
  "hook",
]);
export type AnsweredBy = z.infer<typeof answeredBySchema>;
