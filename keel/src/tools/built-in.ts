/** How a built-in tool is made, and the outcomes that most of them have. */
import * as z from "zod/mini";
import type { JsonObject } from "../kernel/json.ts";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool, type ToolDefinition } from "../ports/define-tool.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { toolHeads } from "./heads.ts";

/** Its schema in JSON is that of its head, which was written from here: making it would keep a first request waiting. */
export function builtInTool<I>({
  input,
  ...definition
}: Omit<ToolDefinition<I>, "input"> & { readonly input: z.ZodMiniType<I> }): Tool<I> {
  const heads: Readonly<Record<string, { readonly input: JsonObject }>> = toolHeads;
  return defineTool({ ...definition, input: schemaOf(input, heads[definition.name]?.input) });
}

/** Fields of an input, each with what the model is told of it. Flags and numbers may be left out. */
export const textField = (says: string, ...checks: z.core.$ZodCheck<string>[]): z.ZodMiniString =>
  z.string().check(...checks, z.describe(says));
export const flagField = (says: string): z.ZodMiniOptional<z.ZodMiniBoolean> =>
  z.optional(z.boolean().check(z.describe(says)));
export const numberField = (
  says: string,
  ...checks: z.core.$ZodCheck<number>[]
): z.ZodMiniOptional<z.ZodMiniNumberFormat> => z.optional(z.int().check(...checks, z.describe(says)));
export const pathField: z.ZodMiniString = textField(
  "Path of the file, absolute or relative to the working directory.",
);

/** The same words for the model and for a screen. */
export const said = (words: string): ToolOutcome => ({
  content: [text(words)],
  display: { kind: "text", text: words },
});

/** A tool that could not do its work: a value with a sentence. */
export const failure = (why: string): ToolOutcome => ({ ...said(why), failed: true });

/** The person said no: what they said or did not say, and what the model is to do then. */
export function declined(
  { reason, by }: Awaited<ReturnType<ToolContext["ask"]>>,
  { unsaid, then }: { unsaid: string; then: string },
): ToolOutcome {
  const words = reason ?? unsaid;
  return { ...failure(words), content: [text(`${words}\n${then}`)], denied: { by, reason: words } };
}
