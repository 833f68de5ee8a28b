/** Tells a session step by step on standard output, for a person who sees one for the first time. */

import { isObject } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { textOf, toolUses } from "../../../protocol/message.ts";
import type { Display } from "../../../protocol/tool.ts";
import { displayText } from "../../../view/display-text.ts";
import type { NewPrinter } from "./printer.ts";

export const narrator: NewPrinter = async (_session, { out }) => {
  const inputs = new Map<string, unknown>();
  const say = (words: string, margin: string): void => {
    for (const line of visible(words).split("\n")) out.line(`${margin}${line}`.trimEnd());
  };
  return {
    event(event) {
      if (event.origin) return;
      if (event.type === "model.finished") {
        for (const use of toolUses(event.content)) inputs.set(use.id, use.input);
        const words = textOf(event.content).trim();
        if (words !== "") say(words, "");
      }
      if (event.type === "tool.started")
        say(`· ${event.tool}: ${target(event.input ?? inputs.get(event.callId))}`, "  ");
      if (event.type === "tool.finished") say(shown(event.display, event.failed), "    ");
    },
    finish: () => undefined,
  };
};

function target(input: unknown): string {
  const known = isObject(input) ? (input["command"] ?? input["file_path"]) : undefined;
  return typeof known === "string" ? known : "";
}

function shown(display: Display, failed: boolean): string {
  const { text } = displayText(display);
  if (display.kind === "terminal") return `${text.trim()}\n(exit code ${display.exitCode ?? "none"})`;
  return failed || !proseKinds.has(display.kind) ? text : firstLine(text);
}

/** Of words that went well, the first line is enough. */
const proseKinds: ReadonlySet<Display["kind"]> = new Set(["text", "markdown", "agent"]);

const firstLine = (words: string): string => words.split("\n")[0] ?? "";
