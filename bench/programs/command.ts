/** Runs one command several times through the guarded shell. */
import { openWorkspace } from "../call-tool.ts";
import { runProgram } from "../program.ts";

type Options = {
  readonly command: string;
  readonly cwd: string;
  readonly path: string;
  readonly times: number;
};

await runProgram(async ({ command, cwd, path, times }: Options) => {
  const place = openWorkspace({ cwd, path });
  const { shell } = place.workspace;
  const ms: number[] = [];
  // The first command starts the guard: once in a session.
  for (let done = -1; done < times; done++) {
    const startedAt = performance.now();
    const running = shell.run(
      { text: command, cwd, timeoutMs: 10_000, maxBytes: 10_000 },
      new AbortController().signal,
    );
    for (let next = await running.next(); !next.done; next = await running.next());
    if (done >= 0) ms.push(performance.now() - startedAt);
  }
  await place.close();
  return { ms };
});
