/** The least that reading a file as text costs, and replacing a word in one so that a crash leaves it whole. */
import { open, readFile, rename, writeFile } from "node:fs/promises";
import { runProgram } from "../program.ts";

type Options = {
  readonly file: string;
  readonly times: number;
  readonly replace?: { readonly from: string; readonly to: string };
};

await runProgram(async ({ file, times, replace }: Options) => {
  const original = await readFile(file);
  const ms: number[] = [];
  for (let done = -1; done < times; done++) {
    if (replace) await writeFile(file, original);
    const startedAt = performance.now();
    const text = await readFile(file, "utf8");
    if (replace) await put(file, text.replace(replace.from, replace.to));
    if (done >= 0) ms.push(performance.now() - startedAt);
  }
  if (replace) await writeFile(file, original);
  return { ms };
});

async function put(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await open(temporary, "w");
  await handle.writeFile(text);
  await handle.sync();
  await handle.close();
  await rename(temporary, file);
}
