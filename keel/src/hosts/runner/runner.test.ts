// What a runner says to a reader that lags: all of the text, in its order, in lines that a host can still read.
import { expect, test } from "vitest";
import { openHome } from "../../app/home.ts";
import { Runner } from "./runner.ts";
import { openOptionsOf } from "./start.ts";

/** A runner whose reader has not taken `waitingBytes` yet, and the events that went out. */
function runnerBehind() {
  const lines: Record<string, unknown>[] = [];
  const out = { waitingBytes: 8 * 1024 * 1024, line: (line: string) => void lines.push(JSON.parse(line)) };
  const options = openOptionsOf({}, { version: "0", env: {}, cwd: "/" });
  return { runner: new Runner({ start: {}, options, home: openHome(options), out }), out, lines };
}

const textIn = (lines: readonly Record<string, unknown>[]): string =>
  lines.flatMap(({ type, text }) => (type === "assistant_text" ? [text] : [])).join("");

test("text for a reader that lags goes out before whatever follows it, and before the text of another input", () => {
  const { runner, lines, out } = runnerBehind();
  runner.emit({ type: "assistant_text", inputId: "1", text: "a" });
  runner.emit({ type: "thinking_delta", inputId: "1", text: "never told" });
  runner.emit({ type: "assistant_text", inputId: "1", text: "b" });
  runner.emit({ type: "assistant_text", inputId: "2", text: "c" });
  runner.complain({ code: "failed", message: "no" });
  out.waitingBytes = 0;
  runner.emit({ type: "assistant_text", inputId: "2", text: "d" });
  expect(lines.map(({ type, text }) => text ?? type)).toEqual(["ab", "c", "error", "d"]);
});

test("however much text a reader has not taken, no line of it is without bound", () => {
  const { runner, lines } = runnerBehind();
  const paragraph = `${"x".repeat(4_000)}\n\n`;
  for (let count = 0; count < 1_000; count++) runner.emit({ type: "assistant_text", text: paragraph });
  runner.emit({ type: "complete" });
  expect(textIn(lines)).toBe(paragraph.repeat(1_000));
  expect(Math.max(...lines.map(({ text }) => String(text).length))).toBeLessThan(2 * 1024 * 1024);
});
