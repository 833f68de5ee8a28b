/** How long it takes to load a module, inside of a process that does nothing else. */
import { runProgram } from "../program.ts";

await runProgram(async ({ entry }: { readonly entry: string }) => {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await import(entry);
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000 };
});
