/** One place: its namespaces, the folder that both sides see, and what was made on the disk for its sake. */
import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmdirSync } from "node:fs";
import path from "node:path";
import type { ConfinedRun, Confinement, Egress, SandboxPlace, SandboxProgram } from "../../ports/sandbox.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import { type Caretaker, startCaretaker } from "./caretaker.ts";
import { type MountPlan, planMounts, stampOf } from "./mount-plan.ts";
import { type Box, openBox } from "./namespaces.ts";
import { violationsIn } from "./violations.ts";

export type PlaceContext = {
  readonly env: ProcessEnvironment;
  readonly guard: ProcessGuard;
  /** Where programs of the system are found; the usual folders if left out. */
  readonly search?: string | undefined;
};

const maxTries = 10;

/** A place that nobody uses any more is given up. */
const maxIdleMs = 60_000;

type PlaceParts = {
  readonly confinement: Confinement;
  readonly exchange: string;
  readonly plan: MountPlan;
  readonly held: HeldNames;
  readonly made: readonly string[];
  readonly box: Box;
  readonly caretaker: Caretaker;
};

export class ConfinedPlace implements SandboxPlace {
  readonly exchange: string;
  readonly weaknesses: readonly string[];
  readonly onEnded: Box["onEnded"];
  readonly #parts: PlaceParts;
  #isGone = false;
  #isRetired = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: PlaceParts) {
    this.#parts = parts;
    this.exchange = parts.exchange;
    this.onEnded = parts.box.onEnded;
    this.weaknesses = [
      ...parts.box.weaknesses,
      ...parts.plan.unguarded.map((link) => `${link} is a link: it can be replaced inside`),
    ];
    void parts.box.gone.then(() => {
      this.#isGone = true;
    });
    this.#startIdling();
  }

  static async open(
    confinement: Confinement,
    context: PlaceContext,
    held: HeldNames,
  ): Promise<ConfinedPlace> {
    for (let tries = 1; ; tries++) {
      const sockets = listeningSockets();
      try {
        return await ConfinedPlace.#openWith(sockets, confinement, context, held);
      } catch (thrown) {
        // What was to be covered may be gone by then: sockets of other programs come and go.
        const isSame = JSON.stringify(listeningSockets()) === JSON.stringify(sockets);
        if (isSame || tries === maxTries) throw thrown;
      }
    }
  }

  static async #openWith(
    sockets: readonly string[],
    confinement: Confinement,
    { env, guard, search }: PlaceContext,
    held: HeldNames,
  ): Promise<ConfinedPlace> {
    // Its caretaker is there before it is: an end in between would leave it behind.
    const name = `keel-box-${randomBytes(12).toString("hex")}`;
    const base = path.join(realpathSync.native(env["TMPDIR"] || "/tmp"), name);
    const caretaker = startCaretaker(base);
    let made: readonly string[] = [];
    try {
      const [root, exchange] = [path.join(base, "root"), path.join(base, "exchange")];
      for (const folder of [base, root, exchange]) mkdirSync(folder, { mode: 0o700 });
      const first = planMounts(confinement, { exchange, sockets, made: held.stamps });
      made = first.missing.filter((folder) => held.take(folder, caretaker));
      const plan = planMounts(confinement, { exchange, sockets, made: held.stamps });
      const box = await openBox(
        {
          plan,
          base: root,
          made,
          nested: confinement.nested,
          beside: bridgesTo(confinement.egress),
        },
        { guard, search },
      );
      return new ConfinedPlace({ confinement, exchange, plan, held, made, box, caretaker });
    } catch (thrown) {
      held.give(made);
      await caretaker.close();
      throw thrown;
    }
  }

  /** Whether it still stands, for files that are what they were. */
  isUsable(): boolean {
    const { confinement, exchange, held, plan } = this.#parts;
    if (this.#isGone || this.#isRetired) return false;
    const now = planMounts(confinement, { exchange, made: held.stamps, sockets: listeningSockets() });
    if (JSON.stringify(now) !== JSON.stringify(plan)) return false;
    this.#startIdling();
    return true;
  }

  confine(program: SandboxProgram): { readonly program: SandboxProgram; readonly run: ConfinedRun } {
    const { confinement } = this.#parts;
    const pass = confinement.egress?.admit(bridgePorts);
    const env = { ...program.env, TMPDIR: "/tmp", ...pass?.env };
    return {
      program: this.#parts.box.enter({ ...program, env }),
      run: {
        violations: (output) => [
          ...violationsIn(output, { ...confinement, cwd: program.cwd }),
          ...(pass?.refused() ?? []),
        ],
        close: () => pass?.close(),
      },
    };
  }

  /** No other program is started in it; it ends when the last one has. */
  retire(): void {
    this.#isRetired = true;
    this.#closeUnused();
    this.onEnded(() => this.#closeUnused());
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#isGone = true;
    await this.#parts.box.close();
    this.#parts.held.give(this.#parts.made);
    await this.#parts.caretaker.close();
  }

  #startIdling(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#isRetired = true;
      this.retire();
    }, maxIdleMs).unref();
  }

  #closeUnused(): void {
    if (!this.#isGone && !this.#parts.box.isUsed()) void this.close();
  }
}

/** Empty folders where a protected name is missing, each for as long as a place needs it. */
export class HeldNames {
  /** Which object each of them is. */
  readonly stamps = new Map<string, string>();
  readonly #users = new Map<string, number>();

  /** Says whether it is there: made here, or by an earlier place. The caretaker removes it if Keel cannot. */
  take(folder: string, caretaker: Caretaker): boolean {
    const known = this.stamps.get(folder);
    const isOurs = known !== undefined && known === stampAt(folder);
    if (folder.includes("\n") || !(isOurs || this.#make(folder))) return false;
    caretaker.mind(folder);
    this.#users.set(folder, (this.#users.get(folder) ?? 0) + 1);
    return true;
  }

  /** Who was last removes them; what somebody has put something into stays. */
  give(folders: readonly string[]): void {
    for (const folder of folders) {
      const users = (this.#users.get(folder) ?? 1) - 1;
      this.#users.set(folder, users);
      if (users > 0) continue;
      if (this.stamps.get(folder) === stampAt(folder)) removeEmpty(folder);
      this.stamps.delete(folder);
    }
  }

  #make(folder: string): boolean {
    try {
      mkdirSync(folder, { mode: 0o755 });
    } catch {
      return false; // Somebody was faster, or nobody may: what is there is looked at again.
    }
    this.stamps.set(folder, stampAt(folder) ?? "");
    return true;
  }
}

function stampAt(folder: string): string | undefined {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found && stampOf(found);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody uses it by now.
  }
}

/** Sockets with a name in the file system, as the kernel lists them. */
function listeningSockets(): string[] {
  try {
    const names = readFileSync("/proc/net/unix", "utf8")
      .split("\n")
      .flatMap((line) => /^\S+ \S+ \S+ \S+ \S+ \S+ +\S+ (\/.*)$/.exec(line)?.[1] ?? []);
    return [...new Set(names)].toSorted();
  } catch {
    return [];
  }
}

/** The way from inside to a proxy outside: ports of the inner loopback that lead to sockets in the file system. */
// Inside there is nobody else who could have them.
const bridgePorts = { http: 3128, socks: 1080 } as const;

/** Node is there wherever Keel is; a program for it would be one more that may be missing. */
const bridgeWords = `const net = require("node:net");
const ways = JSON.parse(process.argv[1]);
let open = 0;
for (const [port, path] of ways)
  net.createServer({ allowHalfOpen: true }, (from) => {
    const to = net.connect({ path, allowHalfOpen: true });
    for (const end of [from, to]) end.on("error", () => { from.destroy(); to.destroy(); });
    from.pipe(to);
    to.pipe(from);
  }).listen(port, "127.0.0.1", () => ++open === ways.length && console.log());`;

/** Programs that stand beside what is confined. */
function bridgesTo(egress: Egress | undefined): readonly (readonly string[])[] {
  if (!egress) return [];
  const ways = [
    [bridgePorts.http, egress.httpSocket],
    [bridgePorts.socks, egress.socksSocket],
  ];
  return [[process.execPath, "-e", bridgeWords, JSON.stringify(ways)]];
}
