/** Places to run programs in, each for one confinement, made at the first program and anew when its files have changed. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { fault, reasonOf, toFault } from "../../kernel/fault.ts";
import type { BubblewrapFacts, Confinement, Sandbox, SandboxFacts } from "../../ports/sandbox.ts";
import { systemPath } from "../processes/system-programs.ts";
import { ConfinedPlace, HeldNames, type PlaceContext } from "./place.ts";

/** Nothing may be written, and nothing is hidden: enough to see whether it can be done. */
const trial: Confinement = {
  writable: [],
  unwritable: [],
  unreadable: [],
  readable: [],
  scratch: [],
  unixSockets: [],
  nested: "refused",
};

export class LocalSandbox implements Sandbox {
  readonly #context: PlaceContext;
  /** Shared by its places: one takes over from another what holds a missing name. */
  readonly #held = new HeldNames();
  readonly #places = new Map<string, Promise<ConfinedPlace>>();
  #facts: Promise<SandboxFacts> | undefined;

  constructor(context: PlaceContext) {
    this.#context = context;
  }

  describe(): Promise<SandboxFacts> {
    this.#facts ??= this.#try();
    return this.#facts;
  }

  async open(confinement: Confinement): Promise<ConfinedPlace> {
    const key = keyOf(confinement);
    const found = this.#places.get(key);
    const before = await found?.catch(() => undefined);
    // Somebody else may have made a new one meanwhile.
    const now = this.#places.get(key);
    if (now && now !== found) return await now;
    if (before?.isUsable()) return before;
    const opening = ConfinedPlace.open(confinement, this.#context, this.#held);
    this.#places.set(key, opening);
    try {
      return await opening;
    } catch (thrown) {
      if (this.#places.get(key) === opening) this.#places.delete(key);
      throw unavailable(thrown);
    } finally {
      // What still runs in the old one goes on there.
      before?.retire();
    }
  }

  async close(): Promise<void> {
    const all = [...this.#places.values()];
    this.#places.clear();
    await Promise.all(all.map(async (place) => (await place.catch(() => undefined))?.close()));
  }

  async #try(): Promise<SandboxFacts> {
    const { env, search } = this.#context;
    const bubblewrap = await bubblewrapFacts(env["TMPDIR"] || "/tmp", search).catch(() => undefined);
    return { ...(await this.#tryPlace()), ...(bubblewrap ? { bubblewrap } : {}) };
  }

  async #tryPlace(): Promise<SandboxFacts> {
    if (process.platform !== "linux")
      return { layer: "none", why: `${process.platform} has no namespaces`, weaknesses: [] };
    try {
      const place = await ConfinedPlace.open(trial, this.#context, this.#held);
      await place.close();
      return { layer: "namespaces", weaknesses: place.weaknesses };
    } catch (thrown) {
      return { layer: "none", why: String(unavailable(thrown).detail["reason"]), weaknesses: [] };
    }
  }
}

function unavailable(thrown: unknown) {
  const found = toFault(thrown);
  return found.code === "sandbox_unavailable"
    ? found
    : fault("sandbox_unavailable", { reason: reasonOf(thrown), cause: thrown });
}

const keyOf = ({ egress, ...rest }: Confinement): string =>
  JSON.stringify([rest, egress?.httpSocket, egress?.socksSocket]);

/**
 * Which bubblewrap is installed, and whether it has the hole of CVE-2026-87766. Keel confines without it; other programs
 * of this machine may not. A version tells little, since distributions mend old ones: it is tried, in a folder of our own.
 */
const maxMs = 5_000;

async function bubblewrapFacts(
  folder: string,
  search: string = systemPath,
): Promise<BubblewrapFacts | undefined> {
  const run = (args: readonly string[]) =>
    promisify(execFile)("bwrap", [...args], { env: { PATH: search }, timeout: maxMs, cwd: "/" });
  const said = await run(["--version"]).catch(() => undefined);
  const version = /\d+(?:\.\d+)+/.exec(said?.stdout ?? "")?.[0];
  if (version === undefined) return undefined;
  const place = mkdtempSync(path.join(folder, "keel-bwrap-"));
  try {
    const [real, link] = [path.join(place, "real"), path.join(place, "link")];
    mkdirSync(real);
    symlinkSync("real", link);
    // What it makes for a mount behind a link stands on the disk afterwards, where it has the hole.
    await run(["--bind", "/", "/", "--tmpfs", path.join(link, "made"), "true"]).catch(() => undefined);
    return { version, hole: existsSync(path.join(real, "made")) ? "open" : "fixed" };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
