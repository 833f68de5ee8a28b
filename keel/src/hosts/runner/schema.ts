/** `keel runner --schema`: the JSON Schema of every input and event, for hosts that generate or check their code. */
import type * as z from "zod/mini";
import type { JsonObject } from "../../kernel/json.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { eventSchemas } from "./events.ts";
import { inputSchemas } from "./inputs.ts";
import { startSchema } from "./start.ts";

export function runnerSchema(): JsonObject {
  const all: [string, z.ZodMiniType][] = Object.entries({ start: startSchema(), ...inputSchemas });
  const inputs = all.map(([name, schema]) => [name, schemaOf(schema).json]);
  const events = [...eventSchemas].map(([name, schema]) => [name, schemaOf(schema).json]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Lines of keel runner",
    inputs: Object.fromEntries(inputs),
    events: Object.fromEntries(events),
  };
}
