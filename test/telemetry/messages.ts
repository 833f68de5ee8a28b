// What the conventions say of messages, instructions and tools in spans, as schemas: by their published definitions, of 1.41
// and of the newer text, which agree on all that is written here.
import * as z from "zod/mini";

const modality = z.string();
const blob = z.looseObject({ type: z.literal("blob"), modality, content: z.string() });
const toolCall = z.looseObject({
  type: z.literal("tool_call"),
  id: z.optional(z.nullable(z.string())),
  name: z.string(),
});
/** Whatever it holds, it must be there. */
const answer = z.custom((value) => value !== undefined);
const toolCallResponse = z.looseObject({
  type: z.literal("tool_call_response"),
  id: z.optional(z.nullable(z.string())),
  response: answer,
});
const text = z.looseObject({ type: z.literal("text"), content: z.string() });
const reasoning = z.looseObject({ type: z.literal("reasoning"), content: z.string() });
const generic = z.looseObject({ type: z.literal("generic"), generic_type: z.string() });

/** Stricter than the definitions, which let parts of any type pass: Keel writes none but these. */
const part = z.discriminatedUnion("type", [text, reasoning, toolCall, toolCallResponse, blob, generic]);
const role = z.enum(["system", "user", "assistant", "tool"]);

export const inputMessages = z.array(z.looseObject({ role, parts: z.array(part) }));
export const outputMessages = z.array(
  z.looseObject({ role, parts: z.array(part), finish_reason: z.string() }),
);
export const systemInstructions = z.array(z.discriminatedUnion("type", [text, generic]));
export const toolDefinitions = z.array(z.looseObject({ type: z.string(), name: z.string() }));
export const toolObject = z.record(z.string(), z.unknown());

/** Which attribute is of which. */
export const contentSchemas: Readonly<Record<string, z.ZodMiniType>> = {
  "gen_ai.system_instructions": systemInstructions,
  "gen_ai.tool.definitions": toolDefinitions,
  "gen_ai.input.messages": inputMessages,
  "gen_ai.output.messages": outputMessages,
  "gen_ai.tool.call.arguments": toolObject,
  "gen_ai.tool.call.result": toolObject,
};
