/** What a person or the model said in an event, as a transcript shows it. */
import type { Durable } from "../../protocol/event/durable.ts";
import { isShownBlock } from "../../view/shown.ts";

type SaidWords = { readonly row: string; readonly by: "person" | "agent"; readonly text: string };

/** With the ids that rows of a transcript have. */
export function saidIn(event: Durable): SaidWords[] {
  if (event.type === "input.accepted" && event.input.from.kind === "person") {
    const text = event.input.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    return [{ row: event.input.id, by: "person", text }];
  }
  if (event.type !== "model.finished") return [];
  return event.content.flatMap((block, index): SaidWords[] =>
    block.type === "text" && isShownBlock(block, event.stop)
      ? [{ row: `${event.requestId}:${index}`, by: "agent", text: block.text }]
      : [],
  );
}
