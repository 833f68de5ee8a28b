// A model that does what its prompt says, line by line, so that one server serves every program: what a program makes of
// a prompt, and how many sessions it opens, is its own affair.
//
//   say: TEXT          the rest of the turn is this text
//   call: TOOL JSON    a call; the next line is for the reply after its result
//   wait: MS           the text of this turn begins, and its end is this far away: time to interrupt it
//   fail: STATUS       the request is refused
import { isObject, type Json, type JsonObject, parseJson } from "../../keel/src/kernel/json.ts";
import { httpError, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";

type Block = JsonObject & { readonly role: string };
type Line = { readonly verb: string; readonly rest: string };

const verbs = /^[ \t]*(say|call|wait|fail): (.*)$/gm;

/** The reply to a request. What no line is left for ends the turn. */
export function obey(request: JsonObject): Reply {
  const blocks = blocksIn(request);
  const asked = blocks.findLastIndex((block) => linesIn(block).length > 0);
  const line = linesIn(blocks[asked])[repliesIn(blocks.slice(asked + 1))];
  if (line === undefined) return reply(afterwards(blocks));
  if (line.verb === "fail") return httpError(Number(line.rest));
  if (line.verb === "wait")
    return replyWith({ betweenMs: Number(line.rest) }, "This takes a while, and then some more.");
  if (line.verb === "say") return reply(line.rest);
  const [, name = "", input = "{}"] = /^(\S+)\s*(.*)$/.exec(line.rest) ?? [];
  return reply(toolUse(name, parseJson(input) ?? {}));
}

/** What the model says when nothing is left to do: whether the last calls went well, and what came of them. */
function afterwards(blocks: readonly Block[]): string {
  const said = blocks.findLastIndex(({ role }) => role === "assistant");
  const results = blocks.slice(said + 1).filter(({ type }) => type === "tool_result");
  if (results.length === 0) return "Nothing to do.";
  const failed = results.some((result) => result["is_error"] === true);
  return `${failed ? "It failed" : "It worked"}: ${results.map((result) => textOf(result["content"])).join(" ")}`;
}

/** Every block of every message: whether what a person said twice is one message or two, harnesses decide for themselves. */
function blocksIn({ messages }: JsonObject): Block[] {
  return objectsIn(messages).flatMap(({ role, content, tool_calls: calls }) => {
    // On the wire of chat completions calls stand beside the content, and a result is a message of its own.
    if (role === "tool") return [{ type: "tool_result", content: content ?? "", role: "user" }];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content);
    const all = [...blocks, ...objectsIn(calls).map(() => ({ type: "tool_use" }))];
    return all.map((block) => ({ ...block, role: String(role) }));
  });
}

const objectsIn = (list: Json | undefined): JsonObject[] =>
  Array.isArray(list) ? list.flatMap((one) => (isObject(one) ? [one] : [])) : [];

/** Blocks of one reply stand together. */
const repliesIn = (blocks: readonly Block[]): number =>
  blocks.filter(({ role }, index) => role === "assistant" && blocks[index - 1]?.role !== "assistant").length;

function linesIn(block: Block | undefined): Line[] {
  if (block?.role !== "user" || block["type"] !== "text") return [];
  return [...String(block["text"]).matchAll(verbs)].map(([, verb = "", rest = ""]) => ({ verb, rest }));
}

function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map((block) => String(block["text"] ?? ""))
    .join("");
}
