/** What a model sees: a role and blocks. Near to the Messages wire, but no provider's type: each adapter encodes it. */
import * as z from "zod/mini";
import { isJson, type Json } from "../kernel/json.ts";

/** Checked and left as it is: a copy would lose a key called `__proto__`, and a resumed request must be the same bytes. */
export const jsonSchema: z.ZodMiniType<Json> = z.custom<Json>(isJson);

export const textSchema = z.object({ type: z.literal("text"), text: z.string() });

export const imageSchema = z.object({
  type: z.literal("image"),
  mediaType: z.string(),
  /** Base64. */
  data: z.string(),
});

export const documentSchema = z.object({
  type: z.literal("document"),
  mediaType: z.string(),
  /** Base64. */
  data: z.string(),
  name: z.optional(z.string()),
});

export const thinkingSchema = z.object({
  type: z.literal("thinking"),
  text: z.string(),
  /** The provider's proof that it wrote this; sent back unchanged. */
  signature: z.optional(z.string()),
  /** Thinking that the provider hides; sent back unchanged. */
  hidden: z.optional(z.string()),
  /** Who wrote it. The proof holds for that model only: sent to another, the whole request is refused. */
  model: z.optional(z.string()),
});

export const toolUseSchema = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  /** An object when the model's JSON was whole; otherwise see `broken`. */
  input: jsonSchema,
  /** The model's text, when it was not valid JSON. Such a call is answered with an error and never run. */
  broken: z.optional(z.string()),
  /** The model's text, when it was not quite JSON but could only mean `input`. */
  repaired: z.optional(z.string()),
});

export const resultPartSchema = z.discriminatedUnion("type", [textSchema, imageSchema, documentSchema]);

export const toolResultSchema = z.object({
  type: z.literal("tool_result"),
  callId: z.string(),
  content: z.array(resultPartSchema),
  failed: z.boolean(),
});

/** A block that only its own provider understands (server tools, citations …): kept and sent back as it came. */
export const foreignSchema = z.object({ type: z.literal("foreign"), provider: z.string(), data: jsonSchema });

export const inputBlockSchema = z.discriminatedUnion("type", [textSchema, imageSchema, documentSchema]);

export const blockSchema = z.discriminatedUnion("type", [
  textSchema,
  imageSchema,
  documentSchema,
  thinkingSchema,
  toolUseSchema,
  toolResultSchema,
  foreignSchema,
]);

export const messageSchema = z.object({ role: z.enum(["user", "assistant"]), content: z.array(blockSchema) });

export type Text = z.infer<typeof textSchema>;
export type Image = z.infer<typeof imageSchema>;
export type ToolUse = z.infer<typeof toolUseSchema>;
export type ToolResult = z.infer<typeof toolResultSchema>;
/** What a tool may give back to the model. */
export type ResultPart = z.infer<typeof resultPartSchema>;
/** What a person may send. */
export type InputBlock = z.infer<typeof inputBlockSchema>;
export type Block = z.infer<typeof blockSchema>;
export type Message = z.infer<typeof messageSchema>;

export const text = (value: string): Text => ({ type: "text", text: value });

export const toolUses = (blocks: readonly Block[]): ToolUse[] =>
  blocks.filter((block) => block.type === "tool_use");

/** What a reply came to: its last text. */
export const lastTextOf = (blocks: readonly Block[]): string =>
  blocks.findLast((block) => block.type === "text")?.text ?? "";

/** The plain text of blocks, joined. */
export const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");

/** Whether what is sent to an address leaves the session and its agents. */
export const isFarAddress = (to: string): boolean => /^(?:bridge|session|uds):/.test(to);
