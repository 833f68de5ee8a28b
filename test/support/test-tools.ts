/** Two plain tools for tests of the loop: one that looks and one that changes. Both say what they did in a trace. */
import * as z from "zod/mini";
import { schemaOf } from "../../keel/src/kernel/schema.ts";
import { defineTool } from "../../keel/src/ports/define-tool.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import { text } from "../../keel/src/protocol/message.ts";

/** Takes whatever comes. */
export const anyInput = schemaOf(z.looseObject({ at: z.optional(z.string()) }));

/** `Look`: harmless, overlaps, may run again. Leaves a trace of when it starts and ends. */
export function lookTool(trace: string[]): Tool {
  return defineTool({
    name: "Look",
    description: "Looks.",
    input: anyInput,
    traits: { readOnly: true, concurrent: true, replay: "safe" },
    claims: async () => [{ action: "read", target: "/project/a" }],
    async *run(input) {
      trace.push(`look ${input.at} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      trace.push(`look ${input.at} ends`);
      return { content: [text(`saw ${input.at}`)], display: { kind: "text", text: "saw" } };
    },
  }) as Tool;
}

/** `Change`: has effects, runs alone, never again, and asks first. */
export function changeTool(trace: string[]): Tool {
  return defineTool({
    name: "Change",
    description: "Changes.",
    input: anyInput,
    async *run(input) {
      trace.push(`change ${input.at}`);
      return { content: [text(`changed ${input.at}`)], display: { kind: "text", text: "changed" } };
    },
  }) as Tool;
}
