/** `permissionPromptToolName`: a tool of the program that answers what would be asked, as a permission callback. */
import { isObject } from "../../kernel/json.ts";
import type { CanUseTool, PermissionResult } from "../options/callbacks.ts";
import type { Options } from "../options/options.ts";
import { callTool } from "./call-tool.ts";
import { definitionNamed } from "./mcp-server.ts";

/** Who answers asks: the callback, the tool, or nobody. */
export function answererOf(options: Options): CanUseTool | undefined {
  if (options.permissionPrompts === "none") return undefined;
  return options.canUseTool ?? promptTool(options);
}

function promptTool({ permissionPromptToolName: name, mcpServers }: Options): CanUseTool | undefined {
  const definition = name === undefined ? undefined : definitionNamed(mcpServers, name);
  if (!definition) return undefined;
  return async (toolName, input, { signal, toolUseID }) => {
    const { content, failed } = await callTool(
      definition,
      { tool_name: toolName, input, tool_use_id: toolUseID },
      { callId: toolUseID, signal, progress: () => undefined },
    );
    const words = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    if (failed) throw new Error(words);
    return readAnswer(words);
  };
}

function readAnswer(words: string): PermissionResult {
  const answer: unknown = JSON.parse(words);
  if (!isObject(answer)) throw new Error("its answer is no object.");
  if (answer["behavior"] === "deny")
    return { behavior: "deny", message: String(answer["message"] ?? "Refused.") };
  if (answer["behavior"] !== "allow") throw new Error("its answer is neither allow nor deny.");
  const { updatedInput } = answer;
  return { behavior: "allow", ...(isObject(updatedInput) ? { updatedInput } : {}) };
}
