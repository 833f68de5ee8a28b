/** `--output-format text`: the final text and nothing else; with a schema, the answer as a line of JSON. */
import { toLine } from "../../kernel/json.ts";
import { textOf } from "../../protocol/message.ts";
import { endsWell } from "./outcome.ts";
import type { NewPrinter } from "./printer.ts";

export const textPrinter: NewPrinter = async (_session, { out }) => {
  let reply = "";
  let result: string | undefined;
  return {
    event(envelope) {
      if (envelope.type === "turn.started") {
        reply = "";
        result = undefined;
      }
      if (envelope.type === "model.finished") reply = textOf(envelope.content);
      if (envelope.type !== "turn.finished" || !endsWell(envelope.reason)) return;
      result = envelope.answer === undefined ? reply : toLine(envelope.answer);
    },
    finish() {
      if (result) out.line(result.replace(/\n$/, ""));
    },
  };
};
