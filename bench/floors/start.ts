/** Node, started for nothing: what any program of it costs before its first line. */
import { runProgram } from "../program.ts";

await runProgram(async () => ({}));
