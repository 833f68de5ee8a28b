/** How a tool of the desktop is made: under the name of its server, with a result that is text which holds JSON. */
import type * as z from "zod/mini";
import type { JsonObject } from "../../kernel/json.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { defineTool, type ToolDefinition } from "../../ports/define-tool.ts";
import type { DesktopRefusal } from "../../ports/desktop.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../ports/tool.ts";
import { type ResultPart, text } from "../../protocol/message.ts";
import { failure } from "../built-in.ts";

/** The server that the tools of the desktop belong to. */
export const desktopServer = "desktop-assistant-tools";

export function desktopTool<I>({
  name,
  input,
  ...definition
}: Omit<ToolDefinition<I>, "input"> & { readonly input: z.ZodMiniType<I> }): Tool {
  const tool = defineTool({ ...definition, name: `mcp__${desktopServer}__${name}`, input: schemaOf(input) });
  return tool as Tool;
}

/** Changes nothing, and may run again. */
export const reading = { readOnly: true, concurrent: true, replay: "safe" } as const;

export const jsonOutcome = (
  data: JsonObject,
  { shows, more = [], ...rest }: { shows: string; more?: readonly ResultPart[] } & Pick<ToolOutcome, "seen">,
): ToolOutcome => ({
  content: [text(JSON.stringify(data, null, 2)), ...more],
  display: { kind: "text", text: shows },
  data,
  ...rest,
});

/** What the desktop could not do, with its kind for programs. */
export const refusedOutcome = ({ kind, why }: DesktopRefusal): ToolOutcome => ({
  ...failure(why),
  data: { error: kind, message: why },
});

/** The tools stay in the allowed folders whatever rules and modes say: what lies outside is refused, and never asked about. */
export async function whyOutside(context: ToolContext, path: string): Promise<string | undefined> {
  const { problem, root } = await context.workspace.files.describe(path);
  if (problem !== undefined) return problem;
  if (root !== undefined) return undefined;
  return `${path} lies outside of the allowed folders: ${context.workspace.roots.join(", ")}.`;
}
