// A model for groups that does what it is told in so many words, and then says what came of it.
import { asList, isObject, type Json, type JsonObject } from "../../keel/src/kernel/json.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { openServeStage, ServeStage } from "./serve-stage.ts";

/** Words by which `obey` makes a call. */
export const order = (tool: string, input: Json): string =>
  `order:${Buffer.from(JSON.stringify([tool, input])).toString("base64url")}`;

const contentOf = (message: unknown): unknown[] => {
  if (!isObject(message)) return [];
  const { content } = message;
  return typeof content === "string" ? [{ type: "text", text: content }] : asList(content as Json);
};

const textsIn = (blocks: readonly unknown[]): string =>
  blocks
    .flatMap((block) => (isObject(block) && typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");

/** The words of the result that came last, where one did. */
export function lastResult(request: JsonObject): string | undefined {
  const last = asList(request["messages"]).at(-1);
  const results = contentOf(last).filter((block) => isObject(block) && block["type"] === "tool_result");
  if (results.length === 0) return undefined;
  return results
    .map((block) => {
      const content = isObject(block) ? block["content"] : undefined;
      return typeof content === "string" ? content : textsIn(asList(content as Json));
    })
    .join("\n");
}

/** Does the order in what it heard last; says what a call gave; else repeats what it heard. */
export const obey: Parameters<typeof openServeStage>[0] = (request: JsonObject) => {
  const result = lastResult(request);
  if (result !== undefined) return reply(`Came of it: ${result.slice(0, 3_000)}`);
  const heard = textsIn(contentOf(asList(request["messages"]).at(-1)));
  const [, coded] = /order:([\w-]+)/.exec(heard) ?? [];
  if (coded === undefined)
    return reply(
      `Heard: ${heard
        .replace(/<[^>]*>/g, "")
        .trim()
        .slice(-600)}`,
    );
  const [tool, input] = JSON.parse(Buffer.from(coded, "base64url").toString());
  return reply(toolUse(tool, input));
};

type Line = { readonly from?: string; readonly text: string; readonly isSent: boolean };

/** What the agent of a group has said and the channel has taken. */
export async function answersOf(stage: ServeStage, id: string): Promise<string[]> {
  const { stdout } = await stage.run(["groups", "log", id, "--json", "--last", "1000"]);
  const lines: Line[] = JSON.parse(stdout);
  return lines.flatMap(({ from, text, isSent }) => (from === undefined && isSent ? [text] : []));
}
