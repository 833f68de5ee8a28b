/**
 * Sessions that come to a server from another machine, by the table of operations. What was sent is kept until the move is
 * settled; who was cut off goes on where it was.
 */
import { open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import * as z from "zod/mini";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import type { MoveOperation } from "../../protocol/move-operations.ts";
import type { AnswerTo, OperationQuestion } from "../../protocol/operation.ts";
import type { Home } from "../home.ts";
import { allSecrets } from "../maintenance/keys.ts";
import type { OpenSession } from "../open-session.ts";
import { isTaken, settleIn, unpack } from "./arrive.ts";
import { type MovePorts, movesOf } from "./move-ports.ts";
import { maxParcelBytes } from "./parcel.ts";

type Handlers = {
  readonly [Name in MoveOperation]: (question: OperationQuestion<Name>) => Promise<AnswerTo<Name>>;
};

const offerSchema = z.object({ session: z.string(), bytes: z.number(), folder: z.optional(z.string()) });

/** Moves that are under way at once; the oldest makes room, and is sent again. */
const maxOpen = 16;

export type ServedMovesOptions = {
  readonly home: Home;
  readonly env: EnvironmentVariables;
  readonly reached?: MovePorts["step"];
  /** Undefined for one that is not open here. */
  opened(session: string): Promise<OpenSession | undefined>;
  /** Told when a session is here that was not. */
  arrived(session: string): Promise<void>;
};

export class ServedMoves {
  readonly #options: ServedMovesOptions;

  constructor(options: ServedMovesOptions) {
    this.#options = options;
  }

  readonly handlers: Handlers = {
    offerMove: ({ move, ...offer }) =>
      this.#alone(move, async (ports) => {
        const moves = movesOf(ports);
        const home = await moves.id();
        if (offer.bytes > maxParcelBytes)
          throw fault("not_moved", { session: offer.session, reason: "it is too big." });
        const state = await this.#state(move, offer.session, ports);
        if (state !== "open") return { home, have: 0, state };
        const folder = await moves.folder("in", move);
        await makeRoom(path.dirname(folder), move);
        await writeFile(path.join(folder, "offer.json"), JSON.stringify(offer), { mode: 0o600, flush: true });
        return { home, have: await sizeOf(path.join(folder, "body")), state };
      }),
    sendMove: ({ move, at, data }) =>
      this.#alone(move, async (ports) => {
        const { body, offer } = await offered(move, ports);
        const have = await sizeOf(body);
        if (at !== have) return { have };
        const bytes = Buffer.from(data, "base64");
        if (have + bytes.length > offer.bytes)
          throw fault("not_moved", { session: offer.session, reason: "more was sent than was offered." });
        await append(body, have, bytes);
        await ports.step?.("piece");
        return { have: have + bytes.length };
      }),
    checkMove: ({ move }) =>
      this.#alone(move, async (ports) => {
        const { cwd } = await this.#unpack(move, ports);
        await ports.step?.("checked");
        return { cwd };
      }),
    takeMove: ({ move, tombstone }) =>
      this.#alone(move, async (ports) => {
        const offer = await offered(move, ports).catch(() => undefined);
        const settled = await movesOf(ports).settled(move);
        if (settled === "void")
          throw fault("not_moved", {
            session: offer?.offer.session ?? move,
            reason: "the move was given up.",
          });
        if (!offer) throw fault("session_unknown", { session: move });
        const { session } = offer.offer;
        if (!(await isTaken(move, session, ports))) {
          const { cwd, notices } = await settleIn(await this.#unpack(move, ports), tombstone, ports);
          await this.#options.arrived(session);
          return { session, cwd, notices };
        }
        await movesOf(ports).settle(move, "taken");
        await movesOf(ports).forget("in", move);
        const [info] = await ports.home.store.list({ only: session });
        return { session, cwd: info?.cwd ?? "", notices: [] };
      }),
    release: async ({ session }) => {
      const open = await this.#options.opened(session);
      if (open && !(await open.leave()))
        throw fault("not_moved", { session, reason: "it is at work. Wait for it, or interrupt it." });
      return {};
    },
    voidMove: ({ move, session }) =>
      this.#alone(move, async (ports) => {
        const state = await this.#state(move, session, ports);
        if (state !== "open") return { state };
        const settled = await movesOf(ports).settle(move, "void");
        await ports.step?.("void");
        await movesOf(ports).forget("in", move);
        return { state: settled };
      }),
  };

  async #state(move: string, session: string, ports: MovePorts): Promise<"open" | "taken" | "void"> {
    if (await isTaken(move, session, ports)) return "taken";
    return (await movesOf(ports).settled(move)) ?? "open";
  }

  async #unpack(move: string, ports: MovePorts) {
    const { body, offer } = await offered(move, ports);
    const { session, bytes, folder } = offer;
    const refuse = (reason: string) => fault("not_moved", { session, reason });
    if ((await sizeOf(body)) !== bytes) throw refuse("it was not sent as a whole.");
    const unpacked = await unpack({ file: body, folder }, ports);
    if (unpacked.head.move !== move || unpacked.head.session !== session)
      throw refuse("it is not what was offered.");
    return unpacked;
  }

  /** One at a time, over all processes of the home. */
  async #alone<T>(move: string, work: (ports: MovePorts) => Promise<T>): Promise<T> {
    const { home, env, reached } = this.#options;
    const secrets = allSecrets({ env, cwd: home.path, home: home.path });
    const ports = home.movePorts({ env, host: hostname(), secrets, step: reached });
    const lease = await ports.home.store.leases.take(`move-${move}`);
    try {
      return await work(ports);
    } finally {
      await lease.release();
    }
  }
}

/** Throws `session_unknown` for what nobody offered. */
async function offered(move: string, ports: MovePorts) {
  const folder = await movesOf(ports).folder("in", move);
  const said = await readFile(path.join(folder, "offer.json"), "utf8").catch(() => "");
  const offer = offerSchema.safeParse(parseJson(said));
  if (offer.success) return { body: path.join(folder, "body"), offer: offer.data };
  await movesOf(ports).forget("in", move);
  throw fault("session_unknown", { session: move });
}

async function append(file: string, at: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, at === 0 ? "w" : "r+", 0o600);
  try {
    await handle.write(bytes, 0, bytes.length, at);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => undefined))?.size ?? 0;

async function makeRoom(folder: string, except: string): Promise<void> {
  const others = (await readdir(folder)).filter((name) => name !== except);
  if (others.length < maxOpen) return;
  const ages = await Promise.all(
    others.map(async (name) => ({ name, at: (await stat(path.join(folder, name))).mtimeMs })),
  );
  ages.sort((one, other) => one.at - other.at);
  for (const { name } of ages.slice(0, others.length - maxOpen + 1))
    await rm(path.join(folder, name), { recursive: true, force: true });
}
