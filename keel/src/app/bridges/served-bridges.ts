/** The bridges of a server beside the sessions that are its own: by its id each is found, whoever has it. */
import { asObject } from "../../kernel/json.ts";
import type { SessionPeers } from "../../ports/agents.ts";
import type { BridgeOperation } from "../../protocol/bridge.ts";
import type { Command } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type {
  AnswerTo,
  Caller,
  OperationName,
  OperationQuestion,
  SessionEntry,
} from "../../protocol/operation.ts";
import type { Home } from "../home.ts";
import type { ServedWorkspaces } from "../workspaces/served-workspaces.ts";
import type { FollowableSession } from "../workspaces/worker.ts";
import { Bridges } from "./bridges.ts";
import { callBridged } from "./call-bridged.ts";

export type ServedBridgesOptions = {
  readonly folder: string;
  readonly home: Home;
  /** A bridge is shown as one of them. */
  workspaces(): Pick<ServedWorkspaces, "offer" | "withdraw" | "show">;
  opened(session: FollowableSession): void;
};

type BridgeHandlers = {
  readonly [Name in BridgeOperation]: (
    question: OperationQuestion<Name>,
    caller: Caller,
  ) => Promise<AnswerTo<Name>>;
};

export class ServedBridges {
  readonly bridges: Bridges;
  readonly #options: ServedBridgesOptions;

  constructor(options: ServedBridgesOptions) {
    this.#options = options;
    const { clock, ids } = options.home;
    const { workspaces, folder } = options;
    this.bridges = new Bridges({
      folder,
      clock,
      ids,
      // Each of them has 74 bits that nobody can guess.
      newSecret: () => `${ids.uuid()}-${ids.uuid()}`,
      changed: (bridge) =>
        void workspaces()
          .offer(bridge)
          .catch(() => undefined),
      removed: (bridge) =>
        void workspaces()
          .withdraw(bridge)
          .catch(() => undefined),
      opened: (session) => options.opened({ id: session.id, attach: (...how) => session.follow(...how) }),
    });
  }

  readonly handlers: BridgeHandlers = {
    bridges: () => this.bridges.entries(),
    giveWork: async (work, { name }) => {
      const session = await this.bridges.give(work, name);
      await this.#options.workspaces().show(work.bridge, session, work.title);
      return { session };
    },
    removeBridge: async ({ bridge }) => {
      await this.bridges.remove(bridge);
      return {};
    },
  };

  /** Words of a session here for one behind a bridge. */
  readonly peers: SessionPeers = {
    send: (from, to, words) => this.bridges.send(to.replace(/^bridge:/, ""), words, from),
  };

  /** Undefined for a question that is about no session behind a bridge. */
  async find(
    question: unknown,
  ): Promise<{ call(name: OperationName, question: unknown, caller: Caller): Promise<unknown> } | undefined> {
    const { session: id } = asObject(question);
    const session = typeof id === "string" ? await this.bridges.find(id) : undefined;
    const { bridges } = this;
    const newId = (): string => this.#options.home.ids.uuid();
    return (
      session && {
        call: (name, asked, caller) => callBridged(name, asked, { session, bridges, caller, newId }),
      }
    );
  }

  /** False for one that is behind no bridge. */
  async tell(session: string, command: Command): Promise<boolean> {
    const bridged = await this.bridges.find(session);
    if (!bridged) return false;
    const question = { session, commandId: this.#options.home.ids.uuid(), command };
    await bridged.call("submit", question, "the console");
    return true;
  }

  async *storedOr(
    id: string,
    after: number,
    own: () => AsyncIterable<Durable>,
  ): AsyncGenerator<Durable, void> {
    const bridged = await this.bridges.find(id);
    yield* bridged ? bridged.history(after) : own();
  }

  /** With those of other machines, newest change first; they are in no folder of this one. */
  async listedWith(
    own: readonly SessionEntry[],
    { cwd, limit }: { readonly cwd?: string | undefined; readonly limit?: number | undefined },
  ): Promise<SessionEntry[]> {
    const all = cwd === undefined ? await this.bridges.list() : [];
    if (all.length === 0) return [...own];
    const behind = all.map(
      ({ bytes: _, parent: __, forkedFrom: ___, isOpen, ...entry }): SessionEntry => ({
        ...entry,
        owner: isOpen ? "open" : "stored",
      }),
    );
    return [...own, ...behind].sort((one, other) => other.changedAt - one.changedAt).slice(0, limit);
  }
}
