/** One of the workspace's own tools, from its schema and what it does. */
import type * as z from "zod/mini";
import { type OwnTool, ownTool } from "../../../app/compose/own-tools.ts";
import type { Json, JsonObject } from "../../../kernel/json.ts";
import { schemaOf } from "../../../kernel/schema.ts";
import { text } from "../../../protocol/message.ts";

export const workspaceServer = "workspace";

export type WorkspaceToolReply =
  | { readonly says: string; readonly data?: Json | undefined }
  | { readonly failed: string };

export function workspaceTool<I extends JsonObject | object>({
  name,
  description,
  input,
  changes = "nothing",
  run,
}: {
  name: string;
  description: string;
  input: z.ZodMiniType<I>;
  changes?: "nothing" | "something";
  run(input: I, signal: AbortSignal): Promise<WorkspaceToolReply>;
}): OwnTool {
  const schema = schemaOf(input);
  return ownTool({
    name: `mcp__${workspaceServer}__${name}`,
    description,
    json: schema.json,
    parse: (given) => schema.parse(given),
    readOnly: changes === "nothing",
    timeoutMs: 60_000,
    async run(given, { signal }) {
      const parsed = schema.parse(given as Json);
      if (!parsed.ok) return { content: [text("The input does not fit.")], failed: true };
      const reply = await run(parsed.value, signal);
      if ("failed" in reply) return { content: [text(reply.failed)], failed: true };
      return {
        content: [text(reply.says)],
        failed: false,
        ...(reply.data === undefined ? {} : { data: reply.data }),
      };
    },
  });
}
