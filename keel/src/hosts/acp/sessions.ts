/** The sessions of one editor: begun, taken up, listed, copied, closed and deleted. */
import path from "node:path";
import type { ListSessionsResponse, SessionInfo } from "@agentclientprotocol/sdk";
import type { Home } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import { isoTime } from "../../view/say.ts";
import { buffersOf, type LentTerminals } from "./editor-ports.ts";
import { EditorSession, type SessionSource } from "./editor-session.ts";
import type { readPage, WantedSession } from "./params.ts";
import type { EditorWire } from "./wire.ts";
import type { Wording } from "./wording.ts";

export type SessionsOptions = {
  readonly home: Home;
  /** What holds for each session; the editor names the folder and the servers. */
  readonly options: Omit<OpenOptions, "cwd" | "home">;
  readonly wire: EditorWire;
  readonly wording: Wording;
  /** Where the editor offers them. */
  readonly terminals?: LentTerminals | undefined;
};

const pageSize = 100;

export class EditorSessions {
  readonly #given: SessionsOptions;
  readonly #open = new Map<string, EditorSession>();
  readonly #opening = new Map<string, Promise<EditorSession>>();

  constructor(given: SessionsOptions) {
    this.#given = given;
  }

  async begin(wanted: WantedSession): Promise<EditorSession> {
    const { home } = this.#given;
    const id = home.ids.uuid();
    return this.#enter(await home.open({ ...this.#options(id, wanted), which: { kind: "new", id } }));
  }

  async fork(id: string, wanted: WantedSession): Promise<EditorSession> {
    await this.#mustExist(id);
    const { home } = this.#given;
    const copy = home.ids.uuid();
    const which = { kind: "fork", from: { session: id }, id: copy } as const;
    const session = this.#enter(
      await home.open({ ...this.#options(copy, wanted), which, unfinished: "lost" }),
    );
    await session.takeUp();
    return session;
  }

  /** One that is open here already stays as it is, and one that is on its way is not opened twice. */
  async takeUp(id: string, wanted: WantedSession): Promise<EditorSession> {
    const open = this.#open.get(id) ?? this.#opening.get(id);
    if (open) return open;
    const opening = this.#takeUp(id, wanted).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  async #takeUp(id: string, wanted: WantedSession): Promise<EditorSession> {
    await this.#mustExist(id);
    const unfinished = (await this.#hasOpenAsks(id)) ? "continue" : "lost";
    const which = { kind: "resume", from: { session: id } } as const;
    return this.#enter(await this.#openOrJoin({ ...this.#options(id, wanted), which, unfinished }));
  }

  find(id: string): EditorSession | undefined {
    return this.#open.get(id);
  }

  /** Throws where no such session is open here. */
  get(id: string): EditorSession {
    const session = this.find(id);
    if (!session) throw fault("session_unknown", { session: id });
    return session;
  }

  async list({ cwd, cursor }: ReturnType<typeof readPage>): Promise<ListSessionsResponse> {
    const behind = cursor === undefined ? undefined : placeOf(cursor);
    const limit = pageSize + 1;
    const found = await this.#given.home.sessions.list({ cwd, behind, limit });
    const page = found.slice(0, pageSize);
    const sessions = page
      .filter(({ parent }) => parent === undefined)
      .map(
        ({ id, cwd: folder, title, firstInput, changedAt }): SessionInfo => ({
          sessionId: id,
          cwd: folder,
          title: title ?? firstInput ?? null,
          updatedAt: isoTime(changedAt) ?? null,
        }),
      );
    const last = found.length > pageSize ? page.at(-1) : undefined;
    return { sessions, ...(last ? { nextCursor: `${last.changedAt}/${last.id}` } : {}) };
  }

  async close(id: string): Promise<void> {
    const session = this.#open.get(id);
    if (!session) return this.#mustExist(id);
    this.#open.delete(id);
    session.cancel();
    await this.#end(session);
  }

  /** One that is not there is as good as deleted. */
  async delete(id: string): Promise<void> {
    if (this.#open.has(id)) await this.close(id);
    const { home } = this.#given;
    if (!(await this.#isKept(id))) return;
    await home.sessions.delete(id);
  }

  /** What nobody has answered stays open in the log, as after a kill: it comes again when the session is taken up. */
  async closeAll(): Promise<void> {
    const ending = [...this.#open.values()].filter(({ isAsking }) => !isAsking);
    this.#open.clear();
    await Promise.allSettled(ending.map((session) => this.#end(session)));
  }

  async #end(session: EditorSession): Promise<void> {
    const { source } = session;
    await ("handle" in source ? source.close() : source.close("ended"));
    session.end();
  }

  #enter(session: SessionSource): EditorSession {
    const { wire, wording, options, home } = this.#given;
    const entered = new EditorSession({
      session,
      wire,
      wording,
      bypass: options.bypass ?? "refused",
      clock: home.clock,
      newId: () => home.ids.uuid(),
    });
    this.#open.set(session.id, entered);
    return entered;
  }

  #options(id: string, { cwd, additionalDirectories, mcpServers }: WantedSession): Omit<OpenOptions, "home"> {
    const { options, wire, home, terminals } = this.#given;
    const folders = [cwd, ...additionalDirectories];
    const relative = folders.find((folder) => !path.isAbsolute(folder));
    if (relative !== undefined) throw fault("usage", { reason: `${relative} is not an absolute path.` });
    return {
      ...options,
      cwd,
      addDirs: additionalDirectories,
      mcpServers,
      // What they load would stand before the answer that the editor waits for.
      mcpStart: "asked",
      buffers: buffersOf(wire, { clock: home.clock, sessionId: id }),
      terminals: terminals?.of(id),
    };
  }

  async #openOrJoin(options: Omit<OpenOptions, "home">): Promise<SessionSource> {
    const { home } = this.#given;
    try {
      return await home.open(options);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== "session_served") throw thrown;
      const id = String(thrown.detail["session"]);
      return home.join({ id, name: "keel acp", follows: "running", settings: {} });
    }
  }

  async #isKept(id: string): Promise<boolean> {
    return (await this.#given.home.sessions.find(id).catch(() => undefined)) !== undefined;
  }

  async #mustExist(id: string): Promise<void> {
    if (!(await this.#isKept(id))) throw fault("session_unknown", { session: id });
  }

  /** Such a turn waits for somebody; any other that a process left is not begun again unasked. */
  async #hasOpenAsks(id: string): Promise<boolean> {
    const asked = new Set<string>();
    for await (const event of this.#given.home.sessions.read(id)) {
      if (event.type === "ask.opened") asked.add(event.ask.id);
      if (event.type === "ask.closed") asked.delete(event.askId);
      if (event.type === "turn.finished") asked.clear();
    }
    return asked.size > 0;
  }
}

/** The last session of the page before, as it was then. */
function placeOf(cursor: string): { changedAt: number; id: string } {
  const [, changedAt, id] = /^(\d{1,16}(?:\.\d{1,20})?)\/([0-9a-f-]{36})$/.exec(cursor) ?? [];
  if (changedAt === undefined || id === undefined) throw fault("usage", { reason: "No such page." });
  return { changedAt: Number(changedAt), id };
}
