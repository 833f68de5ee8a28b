/** What the agent in a box tells its host: JSON between two lines. Whatever else stands on its output is nothing. */
import * as z from "zod/mini";
import { parseJson } from "../kernel/json.ts";

export const outputStart = "---KEEL_OUTPUT_START---";
export const outputEnd = "---KEEL_OUTPUT_END---";

const text = z.string();

const outputSchema = z.object({
  status: z.enum(["success", "error"]),
  /** Null where the session has changed and there is nothing to say. */
  result: z.nullable(text),
  newSessionId: z.optional(text),
  /** Why it failed. */
  error: z.optional(text),
  /** The input that it is about. */
  input: text,
  /** Which result of that it is. */
  at: z.number(),
  /** `taken`: it is the agent's now. `ended`: nothing more comes of it. */
  step: z.enum(["taken", "result", "ended"]),
});
export type BoxOutput = z.infer<typeof outputSchema>;

export const writeOutput = (output: BoxOutput): string =>
  `${outputStart}\n${JSON.stringify(output)}\n${outputEnd}\n`;

/** More than any answer has. */
const maxBody = 8 * 1024 * 1024;
const maxLine = 4_096;

/** Reads them out of a stream, however it is cut. Markers count only as lines of their own. */
export class MarkerReader {
  #rest = "";
  #body: string | undefined;

  push(piece: string): BoxOutput[] {
    const found: BoxOutput[] = [];
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === outputStart) this.#body = "";
      else if (this.#body === undefined) continue;
      else if (line === outputEnd) {
        const parsed = outputSchema.safeParse(parseJson(this.#body));
        if (parsed.success) found.push(parsed.data);
        this.#body = undefined;
      } else this.#body = this.#body.length + line.length > maxBody ? undefined : this.#body + line;
    }
    // A line without an end that nobody waits for is not kept.
    if (this.#body === undefined && this.#rest.length > maxLine) this.#rest = this.#rest.slice(-maxLine);
    else if (this.#rest.length > maxBody) this.#rest = "";
    return found;
  }
}
