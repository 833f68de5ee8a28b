/**
 * Who may come in: each program or browser has a secret of its own, of which only a sum is kept, with a name and how far
 * it may go. The first one is the person's, in a file that only they can read.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { type Access, accessSchema } from "../../protocol/operation.ts";

const deviceSchema = z.object({
  id: z.string(),
  name: z.string(),
  access: accessSchema,
  sum: z.string(),
  createdAt: z.number(),
});
export type Device = Readonly<z.infer<typeof deviceSchema>>;

const fileSchema = z.object({ devices: z.array(deviceSchema) });

/** More than a person has; what is beyond takes the place of the oldest. */
const maxDevices = 100;
const secretBytes = 32;
/** A link that opens the door once is used at once, or not at all. */
const linkMs = 10 * 60_000;

export class Devices {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #links = new Map<string, { readonly access: Access; readonly until: number }>();
  readonly #removed = new Set<(id: string) => void>();
  readonly #seen = new Map<string, number>();
  #devices: Device[] = [];

  private constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Makes the folder, and the person's own secret where there is none. */
  static async open(folder: string, now: () => number): Promise<Devices> {
    const devices = new Devices(folder, now);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await devices.#load();
    await devices.#ownSecret();
    return devices;
  }

  /** The person's own, for programs that run as them. */
  secretFile(): string {
    return path.join(this.#folder, "secret");
  }

  list(): readonly Device[] {
    return this.#devices;
  }

  /** In the same time for every secret. */
  find(secret: string): Device | undefined {
    const sum = sumOf(secret);
    let found: Device | undefined;
    for (const device of this.#devices) if (isSame(device.sum, sum)) found = device;
    if (found) this.#seen.set(found.id, this.#now());
    return found;
  }

  /** When it last showed its secret to this process. */
  seenAt(id: string): number | undefined {
    return this.#seen.get(id);
  }

  /** Returns the secret, which is told once. */
  async add(name: string, access: Access): Promise<{ device: Device; secret: string }> {
    const secret = randomBytes(secretBytes).toString("base64url");
    const device: Device = {
      id: randomBytes(6).toString("hex"),
      name: name.slice(0, 80),
      access,
      sum: sumOf(secret),
      createdAt: this.#now(),
    };
    this.#devices = [...this.#devices, device];
    while (this.#devices.length > maxDevices) {
      const oldest = this.#devices.find(({ id }) => id !== ownId);
      if (!oldest) break;
      this.#forget(oldest.id);
    }
    await this.#save();
    return { device, secret };
  }

  /** Whoever is connected as it is cut off. */
  async remove(id: string): Promise<boolean> {
    if (id === ownId || !this.#devices.some((device) => device.id === id)) return false;
    this.#forget(id);
    await this.#save();
    return true;
  }

  onRemoved(listener: (id: string) => void): () => void {
    this.#removed.add(listener);
    return () => void this.#removed.delete(listener);
  }

  /** A code that is good for one exchange. */
  link(access: Access): string {
    const code = randomBytes(secretBytes).toString("base64url");
    for (const [sum, { until }] of this.#links) if (until < this.#now()) this.#links.delete(sum);
    this.#links.set(sumOf(code), { access, until: this.#now() + linkMs });
    return code;
  }

  /** Undefined for a code that is wrong, old or used. */
  async exchange(code: string, name: string): Promise<{ device: Device; secret: string } | undefined> {
    const sum = sumOf(code);
    const link = this.#links.get(sum);
    this.#links.delete(sum);
    return link && link.until >= this.#now() ? this.add(name, link.access) : undefined;
  }

  #forget(id: string): void {
    this.#devices = this.#devices.filter((device) => device.id !== id);
    this.#seen.delete(id);
    for (const tell of this.#removed) tell(id);
  }

  async #load(): Promise<void> {
    const file = path.join(this.#folder, "devices.json");
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) return;
    try {
      this.#devices = fileSchema.parse(JSON.parse(text)).devices;
    } catch (thrown) {
      // To begin anew would let nobody in who was let in, and to guess would let in anybody.
      throw fault("settings_invalid", { path: file, reason: reasonOf(thrown) });
    }
  }

  async #ownSecret(): Promise<void> {
    const file = this.secretFile();
    const stored = (await readFile(file, "utf8").catch(() => "")).trim();
    if (stored !== "" && this.#devices.some(({ id, sum }) => id === ownId && sum === sumOf(stored))) return;
    const secret = randomBytes(secretBytes).toString("base64url");
    await write(file, `${secret}\n`);
    const own: Device = {
      id: ownId,
      name: "this machine",
      access: "work",
      sum: sumOf(secret),
      createdAt: this.#now(),
    };
    this.#devices = [own, ...this.#devices.filter(({ id }) => id !== ownId)];
    await this.#save();
  }

  #save(): Promise<void> {
    const text = JSON.stringify({ devices: this.#devices }, null, 2);
    return write(path.join(this.#folder, "devices.json"), `${text}\n`);
  }
}

export const ownId = "own";

export const sumOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** In the same time wherever they differ. */
export const isSame = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

async function write(file: string, text: string): Promise<void> {
  const fresh = `${file}.${process.pid}.new`;
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  await rename(fresh, file);
}
