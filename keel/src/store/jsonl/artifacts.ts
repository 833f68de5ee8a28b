/** What a session keeps beside its log: files in a folder of its kind, in the session's own folder. */
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import type {
  ArtifactFile,
  ArtifactKind,
  ArtifactName,
  Artifacts,
  KeptArtifact,
} from "../../ports/artifacts.ts";
import { codeOf, type FileLayer, isMissing, makeDurableDirectory, type OpenFile, writeAll } from "./files.ts";
import { folderOf, type LogLocations } from "./log-locations.ts";
import { namesLike, plainName, sessionId } from "./names.ts";
import { unwritable } from "./reasons.ts";

const folders: Readonly<Record<ArtifactKind, string>> = { output: "output", plan: "plans" };

export class JsonlArtifacts implements Artifacts {
  readonly #files: FileLayer;
  readonly #places: LogLocations;
  /** One after the other: each begins where the one before it ended. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor(files: FileLayer, places: LogLocations) {
    this.#files = files;
    this.#places = places;
  }

  put(wanted: ArtifactName, text: string): Promise<KeptArtifact> {
    return this.#writing(wanted, async (directory) => {
      const { file, place } = await this.#createFree(directory, wanted.name);
      const bytes = Buffer.from(text);
      try {
        await writeAll(file, bytes, 0);
        await file.datasync();
        await this.#files.syncDirectory(directory);
      } catch (thrown) {
        await this.#files.remove(place).catch(() => undefined);
        throw thrown;
      } finally {
        await file.close();
      }
      return { name: path.basename(place), path: place, bytes: bytes.length };
    });
  }

  append(known: ArtifactName, text: string): Promise<void> {
    const appended = this.#appending.then(() => this.#append(known, text));
    this.#appending = appended.catch(() => undefined);
    return appended;
  }

  #append(known: ArtifactName, text: string): Promise<void> {
    return this.#writing(known, async (directory) => {
      const place = path.join(directory, plainName(known.name));
      const file = await this.#files
        .open(place, "write")
        .catch((thrown) => (isMissing(thrown) ? this.#files.open(place, "create") : Promise.reject(thrown)));
      try {
        await writeAll(file, Buffer.from(text), (await file.facts()).bytes);
      } finally {
        await file.close();
      }
    });
  }

  async get(known: ArtifactName): Promise<string | undefined> {
    const directory = await this.#directory(known);
    try {
      const file = await this.#files.open(path.join(directory, plainName(known.name)), "read");
      try {
        const buffer = Buffer.alloc((await file.facts()).bytes);
        return buffer.toString("utf8", 0, await file.read(buffer, 0));
      } finally {
        await file.close();
      }
    } catch (thrown) {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    }
  }

  async list(of: Omit<ArtifactName, "name">): Promise<string[]> {
    const directory = await this.#directory(of);
    return this.#files.existsNow(directory) ? (await this.#files.names(directory)).sort() : [];
  }

  file({ session, kind, name }: ArtifactName): ArtifactFile | undefined {
    const log = this.#places.findNow(sessionId(session));
    if (log === undefined) return undefined;
    const directory = path.join(folderOf(log), folders[kind]);
    return {
      path: path.join(directory, plainName(name)),
      ready: async () => void (await this.#files.makeDirectory(directory)),
    };
  }

  async #writing<T>(of: Omit<ArtifactName, "name">, work: (directory: string) => Promise<T>): Promise<T> {
    const directory = await this.#directory(of);
    try {
      await makeDurableDirectory(this.#files, directory);
      return await work(directory);
    } catch (thrown) {
      throw unwritable(path.dirname(directory), thrown);
    }
  }

  async #directory({ session, kind }: Omit<ArtifactName, "name">): Promise<string> {
    const log = await this.#places.find(sessionId(session));
    if (!log) throw fault("session_unknown", { session });
    return path.join(folderOf(log), folders[kind]);
  }

  async #createFree(directory: string, wanted: string): Promise<{ file: OpenFile; place: string }> {
    const names = namesLike(wanted);
    for (;;) {
      const place = path.join(directory, names.next().value);
      try {
        return { file: await this.#files.open(place, "create"), place };
      } catch (thrown) {
        if (codeOf(thrown) !== "EEXIST") throw thrown;
      }
    }
  }
}
