/**
 * What the tools of a server were when a person first used it. A tool whose definition is another one now is not what
 * was approved: it keeps its old description for the model, and a call asks first. One private file for each server.
 */
import { createHash } from "node:crypto";
import path from "node:path";
import * as z from "zod/mini";
import { canonicalJson, type JsonObject } from "../kernel/json.ts";
import { jsonSchema } from "../protocol/message.ts";
import { readPrivate, writePrivate } from "./auth-file.ts";

/** What the model is told of a tool, bounded. */
export type Definition = {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
};

const bookSchema = z.object({
  version: z.literal(1),
  server: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      /** Of the definition as the server sent it, not as it was cut. */
      mark: z.string(),
      description: z.string(),
      schema: z.record(z.string(), jsonSchema),
    }),
  ),
});
type Book = z.infer<typeof bookSchema>;
export type Pinned = Book["tools"][number];

/** A mark that a forger cannot make for another definition. */
export const markOf = (definition: unknown): string =>
  createHash("sha256").update(canonicalJson(definition)).digest("hex");

export class Pins {
  readonly #file: string | undefined;
  readonly #server: string;
  #tools: Map<string, Pinned> | undefined;

  /** Without a folder pins last as long as the process. */
  constructor({
    folder,
    server,
    identity,
  }: { folder: string | undefined; server: string; identity: string }) {
    this.#file = folder === undefined ? undefined : path.join(folder, `${identity}.json`);
    this.#server = server;
  }

  /**
   * What is known of each of these tools. A new tool of a server that has no pins yet is taken as it is, since using
   * the server at all was approved; so is a tool that it adds later, which asks like any other when it is called.
   */
  async compare(found: readonly (Definition & { readonly mark: string })[]): Promise<Map<string, Pinned>> {
    const known = await this.#read();
    const fresh = found.filter(({ name }) => !known.has(name));
    for (const tool of fresh) known.set(tool.name, { ...tool });
    if (fresh.length > 0) await this.#write();
    return new Map(known);
  }

  /** From now on this is what was approved. */
  async approve(tool: Definition & { readonly mark: string }): Promise<void> {
    (await this.#read()).set(tool.name, { ...tool });
    await this.#write();
  }

  async #read(): Promise<Map<string, Pinned>> {
    this.#tools ??= new Map((await readBook(this.#file)).map((tool) => [tool.name, tool]));
    return this.#tools;
  }

  /** A file that cannot be written leaves the pins of this process; the next one then starts from what it finds. */
  async #write(): Promise<void> {
    if (this.#file === undefined) return;
    const book: Book = { version: 1, server: this.#server, tools: [...(this.#tools ?? new Map()).values()] };
    await writePrivate(this.#file, book).catch(() => undefined); // Said above.
  }
}

/** A damaged file pins nothing: better than a server that can never be used again. */
async function readBook(file: string | undefined): Promise<Pinned[]> {
  const parsed = bookSchema.safeParse(file === undefined ? undefined : await readPrivate(file));
  return parsed.success ? parsed.data.tools : [];
}
