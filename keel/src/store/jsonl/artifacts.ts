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
import { createWhole, type FileLayer, makeDurableDirectory, writeAll } from "./files.ts";
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
      const bytes = Buffer.from(text);
      const names = namesLike(wanted.name).map((name) => path.join(directory, name));
      const place = await createWhole(this.#files, names, async (file) => {
        await writeAll(file, bytes, 0);
        await file.datasync();
        await this.#files.syncDirectory(directory);
      });
      return { name: path.basename(place), path: place, bytes: bytes.length };
    });
  }

  append(known: ArtifactName, text: string): Promise<void> {
    const append = async (directory: string): Promise<void> => {
      const place = path.join(directory, plainName(known.name));
      await using file = await this.#files.open(place, this.#files.existsNow(place) ? "write" : "create");
      await writeAll(file, Buffer.from(text), (await file.facts()).bytes);
    };
    const appended = this.#appending.then(() => this.#writing(known, append));
    this.#appending = appended.catch(() => undefined);
    return appended;
  }

  async get(known: ArtifactName): Promise<string | undefined> {
    const place = path.join(await this.#directory(known), plainName(known.name));
    if (!this.#files.existsNow(place)) return undefined;
    await using file = await this.#files.open(place, "read");
    const buffer = Buffer.alloc((await file.facts()).bytes);
    return buffer.toString("utf8", 0, await file.read(buffer, 0));
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
}
