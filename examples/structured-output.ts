// An answer as data: the turn ends with an object that fits a schema.
import assert from "node:assert/strict";
import { query } from "keel";
import { reply, toolUse } from "keel/testing";
import { stage } from "./scripted.ts";

await using _ = await stage({
  replies: [reply(toolUse("StructuredOutput", { people: [{ name: "Ada", born: 1815 }] }))],
});

// #region structured-output
const schema = {
  type: "object",
  required: ["people"],
  properties: {
    people: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "born"],
        properties: { name: { type: "string" }, born: { type: "integer" } },
      },
    },
  },
};

let answer: unknown;
for await (const message of query({
  prompt: "Who wrote the first program?",
  options: { outputFormat: { type: "json_schema", schema } },
})) {
  if (message.type === "result" && message.subtype === "success") answer = message.structured_output;
}
// #endregion

assert.deepEqual(answer, { people: [{ name: "Ada", born: 1815 }] });
