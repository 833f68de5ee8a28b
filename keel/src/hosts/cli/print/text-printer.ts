/** `--output-format text`: the final text and nothing else; with a schema, the answer as a line of JSON. */
import { toLine } from "../../../kernel/json.ts";
import { textOf } from "../../../protocol/message.ts";
import { readable } from "../../../view/readable.ts";
import { endsWell } from "./outcome.ts";
import type { NewPrinter } from "./printer.ts";

export const textPrinter: NewPrinter = async (_session, { out }) => {
  let reply = "";
  let result: string | undefined;
  return {
    event(envelope) {
      if (envelope.origin) return;
      if (envelope.type === "turn.started") {
        reply = "";
        result = undefined;
      }
      if (envelope.type === "command.answered") result = envelope.text;
      if (envelope.type === "model.finished") reply = textOf(envelope.content);
      if (envelope.type !== "turn.finished" || !endsWell(envelope.reason)) return;
      result = envelope.answer === undefined ? reply : toLine(envelope.answer);
    },
    finish() {
      // On a screen the model's words must not act as commands to it; a program gets them byte for byte.
      if (result) out.line((out.isTerminal ? readable(result) : result).replace(/\n$/, ""));
    },
  };
};
