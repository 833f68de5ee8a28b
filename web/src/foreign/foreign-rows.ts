/** What a message of the Agent SDK says, as rows to read. What is of no kind that people read makes none. Pure. */
import type { JsonObject } from "keel/protocol";
import { readable, sayUsd } from "keel/view";

export type ForeignRow =
  | { readonly kind: "said" | "text"; readonly id: string; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly tool: string; readonly input: string }
  | { readonly kind: "result"; readonly id: string; readonly text: string; readonly failed: boolean }
  | { readonly kind: "end"; readonly id: string; readonly cost: string };

export function rowsOfMessage(message: JsonObject): readonly ForeignRow[] {
  const id = String(message["uuid"] ?? "");
  const { type } = message;
  if (type === "result") {
    const cost = message["total_cost_usd"];
    return [{ kind: "end", id, cost: typeof cost === "number" ? sayUsd(cost) : "" }];
  }
  if (type !== "assistant" && type !== "user") return [];
  const content = objectIn(message["message"])["content"];
  if (typeof content === "string")
    return [{ kind: type === "user" ? "said" : "text", id, text: readable(content) }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((given, index) => {
    const row = rowOfBlock(objectIn(given), `${id}:${index}`, type);
    return row ? [row] : [];
  });
}

function rowOfBlock(block: JsonObject, id: string, of: "assistant" | "user"): ForeignRow | undefined {
  switch (block["type"]) {
    case "text":
      return { kind: of === "user" ? "said" : "text", id, text: readable(String(block["text"] ?? "")) };
    case "tool_use":
      return {
        kind: "call",
        id,
        tool: String(block["name"] ?? ""),
        input: readable(JSON.stringify(block["input"] ?? {})),
      };
    case "tool_result":
      return { kind: "result", id, text: textIn(block["content"]), failed: block["is_error"] === true };
    default:
      return undefined;
  }
}

function textIn(content: unknown): string {
  if (typeof content === "string") return readable(content);
  if (!Array.isArray(content)) return "";
  return readable(content.map((part) => String(objectIn(part)["text"] ?? "")).join("\n"));
}

const objectIn = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
