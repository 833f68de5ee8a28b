/** Keeps an output that is too long for the model in a file of its own, and never over another one. */
import path from "node:path";
import { codeOf, type FileLayer, makeDurableDirectory, type OpenFile, writeAll } from "./files.ts";
import { folderOf } from "./log-locations.ts";
import { plainName } from "./plain-name.ts";

const MAX_OF_ONE_NAME = 10_000;

export type SpillRequest = {
  readonly files: FileLayer;
  readonly log: string;
  readonly name: string;
  readonly text: string;
};

export async function spillText({
  files,
  log,
  name,
  text,
}: SpillRequest): Promise<{ path: string; bytes: number }> {
  const directory = path.join(folderOf(log), "output");
  await makeDurableDirectory(files, directory);
  const { file, place } = await createFree(files, path.join(directory, plainName(name)));
  const bytes = Buffer.from(text);
  try {
    await writeAll(file, bytes, 0);
    await file.datasync();
    await files.syncDirectory(directory);
  } catch (thrown) {
    await files.remove(place).catch(() => undefined);
    throw thrown;
  } finally {
    await file.close();
  }
  return { path: place, bytes: bytes.length };
}

async function createFree(files: FileLayer, wanted: string): Promise<{ file: OpenFile; place: string }> {
  const { dir, name, ext } = path.parse(wanted);
  for (let number = 1; number <= MAX_OF_ONE_NAME; number++) {
    const place = number === 1 ? wanted : path.join(dir, `${name}-${number}${ext}`);
    try {
      return { file: await files.open(place, "create"), place };
    } catch (thrown) {
      if (codeOf(thrown) !== "EEXIST") throw thrown;
    }
  }
  throw new Error(`there are ${MAX_OF_ONE_NAME} outputs of this name already`);
}
