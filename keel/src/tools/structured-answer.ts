/** Structured answers: a tool whose input is the answer. A valid call ends the turn. */
import { answerToolName } from "../core/model-text.ts";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { failed, ok } from "../kernel/result.ts";
import type { Schema, SchemaIssue } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";

/** Checks a value against a JSON Schema; the adapter that knows how is handed in. */
export type CheckJson = (value: unknown) => SchemaIssue[];

export function answerTool({ schema, check }: { schema: JsonObject; check: CheckJson }): Tool<JsonObject> {
  const input: Schema<JsonObject> = {
    json: schema,
    parse(value) {
      if (!isObject(value)) return failed([{ path: "", message: "the answer must be an object" }]);
      const issues = check(value);
      return issues.length > 0 ? failed(issues) : ok(value as JsonObject);
    },
  };
  return defineTool<JsonObject>({
    name: answerToolName,
    description:
      "Returns your final answer in the requested format. Call it exactly once, when the work is done; it ends your turn.",
    input,
    traits: { readOnly: true, concurrent: false, replay: "safe" },
    claims: async () => [],
    async *run(value) {
      return {
        content: [text("The answer was taken.")],
        display: { kind: "text", text: JSON.stringify(value) },
        data: value as Json,
      };
    },
  });
}
