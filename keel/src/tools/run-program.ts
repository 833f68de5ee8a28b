/** RunProgram: a small program over the other tools, in place of many calls whose results nobody needs to read. */
import * as z from "zod/mini";
import type { Programs } from "../ports/programs.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, textField } from "./built-in.ts";

const input = z.object({
  code: textField("The body of an async JavaScript function.", z.minLength(1), z.maxLength(100_000)),
});

export const runProgramTool = (programs: Programs) =>
  builtInTool({
    name: "RunProgram",
    description:
      'Runs a small JavaScript program that calls your other tools: `await tools.Read({ file_path: "a.txt" })` gives the text of the result, and throws where the call fails or is refused. Use it where many calls follow each other and only what comes of them matters. `return` what you want to know; `console.log` prints. It has no files, network, modules or processes of its own. Each call is asked about and recorded as if you had made it alone, one after the other.',
    input,
    // By itself it changes nothing: each of its calls is decided alone.
    traits: { readOnly: true, concurrent: false, replay: "never" },
    runsPrograms: true,
    claims: async () => [],
    run: async function* ({ code }, { calls }, signal) {
      if (!calls) return failure("No tool can be called here.");
      const { failed, words, printed } = await programs.run(
        { code, call: (name, given) => calls(name, given, signal) },
        signal,
      );
      const said = [printed.trimEnd(), words].filter((part) => part !== "").join("\n") || "(no output)";
      return { content: [text(said)], display: { kind: "text", text: said }, failed };
    },
  });
