/**
 * A session of a server as one of those who are attached to it has it: what it says is said in its name, it can do no
 * more than it may, and to close it is to let go. Others, and the session itself, go on.
 */
import { fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { type Access, accessOfCommand, type Caller, mayDo } from "../../protocol/operation.ts";
import type { OwnTool } from "../compose/own-tools.ts";
import type { OpenSession } from "../open-session.ts";

/** Who said it is the server's to say: a client cannot speak in another's name. */
export function saidBy({ name }: Caller, command: Command): Command {
  if (command.type === "answer") return { ...command, who: name };
  if (command.type !== "input" || (command.from?.kind ?? "person") !== "person") return command;
  return { ...command, from: { kind: "person", name } };
}

/** Words of whoever may work, as a command. */
export const inputOf = (words: string, id: string | undefined): Command => ({
  type: "input",
  ...present({ id }),
  content: [{ type: "text", text: words }],
});

/** Of commands with an id, so that one that is sent again is not done again. */
export class Receipts {
  readonly #known = new Map<string, Promise<Receipt>>();

  once(name: string, work: () => Promise<Receipt>): Promise<Receipt> {
    const before = this.#known.get(name);
    if (before) return before;
    const receipt = work();
    this.#known.set(name, receipt);
    // The oldest first: whoever sends again does so soon.
    for (const old of this.#known.keys()) {
      if (this.#known.size <= maxReceipts) break;
      this.#known.delete(old);
    }
    return receipt;
  }
}

/** Over all sessions of a server. */
const maxReceipts = 10_000;

/** The tools that clients of a session brought, by client: each has its own, and takes only its own away. */
export type BroughtTools = Map<object, readonly OwnTool[]>;

export function lendSession(session: OpenSession, caller: Caller, brought: BroughtTools): OpenSession {
  const me = {};
  const letGo: (() => void)[] = [];
  const gone = Promise.withResolvers<void>();
  let hasServers = false;
  let unheard: Durable[] | undefined;
  const must = (needed: Access): void => {
    if (!mayDo(caller.access, needed)) throw fault("access_refused", { needed });
  };
  const working =
    <Given extends unknown[], Answer>(act: (...given: Given) => Answer) =>
    (...given: Given): Answer => {
      must("work");
      return act(...given);
    };
  const bring = (tools: readonly OwnTool[]): void => {
    if (tools.length > 0) brought.set(me, tools);
    else if (!brought.delete(me)) return;
    session.setOwnTools([...brought.values()].flat());
  };
  const detach = (): void => {
    for (const stop of letGo.splice(0)) stop();
    bring([]);
    gone.resolve();
  };
  void session.closed.then(detach, detach);
  const { mcp } = session;
  return {
    ...session,
    async submit(command) {
      must(accessOfCommand(command.type));
      if (command.type !== "close") return session.submit(saidBy(caller, command));
      await session.close("ended");
      return { type: "done" };
    },
    onEvent(listener) {
      const missed = unheard ?? [];
      unheard = undefined;
      for (const event of missed) listener(event);
      const stop = session.onEvent(listener);
      letGo.push(stop);
      return stop;
    },
    fold(wanted) {
      // Who reads the log before it listens must not miss what comes meanwhile.
      const missed: Durable[] = [];
      unheard ??= missed;
      if (unheard === missed)
        letGo.push(
          session.onEvent((event) => {
            if (unheard === missed && isDurable(event) && !event.origin) missed.push(event);
          }),
        );
      return session.fold(wanted);
    },
    keepRule: working(session.keepRule),
    updateSettings: working((...given: Parameters<OpenSession["updateSettings"]>) =>
      session.updateSettings(...given),
    ),
    readFile: working(session.readFile),
    seedRead: working(session.seedRead),
    callTool: working(session.callTool),
    reload: working(session.reload),
    changePermissions: working(session.changePermissions),
    setOwnTools: working(bring),
    mcp: {
      ...mcp,
      onChange(listener) {
        const stop = mcp.onChange(listener);
        letGo.push(stop);
        return stop;
      },
      set: working(async (servers) => {
        // Who has named none takes none away.
        if (Object.keys(servers).length === 0 && !hasServers) return { added: [], removed: [], errors: {} };
        hasServers = true;
        return mcp.set(servers);
      }),
      toggle: working(mcp.toggle),
      reconnect: working(mcp.reconnect),
    },
    async close(reason) {
      // Who clears a conversation wants it anew, for everybody who is in it.
      if (reason === "cleared") await this.submit({ type: "clear" });
      detach();
    },
    closed: Promise.race([session.closed, gone.promise]),
  };
}
