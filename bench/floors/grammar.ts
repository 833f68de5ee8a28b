/** The grammar of bash alone: nobody who wants to know what a shell text runs can do less than to parse it. */
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";
import { timeEach } from "../decisions.ts";
import { runProgram } from "../program.ts";

await runProgram(async (given: { file: string }) => {
  const grammar = openGrammar();
  return timeEach(given, async (command) => {
    await grammar.parse(command);
  });
});
