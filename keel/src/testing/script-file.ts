/** Scripts as they stand in a JSON file: what may be written shorter there, and `{{names}}` that are filled in. */
import * as z from "zod/mini";
import { mapTexts } from "../kernel/json.ts";
import type { Result } from "../kernel/result.ts";
import { parseWith, type SchemaIssue } from "../kernel/schema.ts";
import { faultNames, faultReply } from "./fault-replies.ts";
import { conditionSchema, type Reply, replySchema, type Script } from "./script.ts";

/** Reads a script; a misspelt property is an issue, not something to pass over. */
export function parseScript(written: unknown): Result<Script, SchemaIssue[]> {
  return parseWith(scriptSchema, written);
}

/** Puts `values` in place of `{{name}}` in every text of a script; what is not among them stays as it is. */
export function fillPlaceholders<T>(script: T, values: Readonly<Record<string, string>>): T {
  const filled = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (mark, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? mark) : mark,
    );
  // The shape stays the same, only texts change: the type does, too.
  return mapTexts(script, filled) as T;
}

/** In a file a reply may also be a plain text, or the name of a fault. */
const writtenReplySchema = z.pipe(
  z.union([z.string(), z.strictObject({ named: z.enum(faultNames) }), replySchema]),
  z.transform((written): Reply => {
    if (typeof written === "string") return { blocks: [{ type: "text", text: written }] };
    return "named" in written ? faultReply(written.named) : written;
  }),
);

const scriptSchema = z.strictObject({
  replies: z._default(z.array(writtenReplySchema), []),
  rules: z.optional(
    z.array(
      z.strictObject({
        when: conditionSchema,
        reply: writtenReplySchema,
        times: z.optional(z.int().check(z.gte(1))),
      }),
    ),
  ),
  otherwise: z.optional(writtenReplySchema),
  models: z.optional(z.array(z.string())),
});
