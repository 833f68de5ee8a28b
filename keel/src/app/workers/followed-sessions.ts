/**
 * Sessions that are followed where they are not: those of others that somebody follows here, and those of this worker that
 * somebody follows elsewhere.
 */
import { parseJson } from "../../kernel/json.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import type { Notice, PostgresHub } from "../../store/postgres/hub.ts";
import type { Home } from "../home.ts";
import type { OpenSession } from "../open-session.ts";
import { LiveEvents } from "./live-events.ts";
import { type PlacedEvent, RemoteSession } from "./remote-session.ts";

export type FollowedOptions = {
  readonly home: Home;
  readonly hub: PostgresHub;
  readonly closing: AbortSignal;
};

/** How often a follower says that it is there, and how long that counts; and the net under notices that are lost. */
const followMs = 1_000;
const followedMs = 3 * followMs;

export class FollowedSessions {
  readonly #options: FollowedOptions;
  readonly #live: LiveEvents;
  readonly #remotes = new Map<string, RemoteSession>();
  readonly #lengths = new Map<string, number>();
  /** Sessions here that somebody elsewhere follows, and until when that counts. */
  readonly #followed = new Map<string, number>();
  #saying: Promise<void> | undefined;

  constructor(options: FollowedOptions) {
    this.#options = options;
    const { hub, home } = options;
    this.#live = new LiveEvents((session, text) => hub.say("live", session, text), home.clock);
  }

  /** A write of a session here is in the database. */
  wrote(session: string): void {
    if (!this.#isFollowed(session)) return;
    this.#live.flush(session);
    this.#options.hub.say("grown", session);
  }

  /** What no log keeps of it is told to whoever follows it elsewhere. Returns how to stop that. */
  tell(session: OpenSession): () => void {
    return session.onEvent((event) => {
      const isLogged = isDurable(event) && !event.origin;
      if (!isLogged && this.#isFollowed(session.id))
        this.#live.add(session.id, { after: session.lastSeq(), event });
    });
  }

  /** One that another has, followed from now on until it is left. */
  remote(id: string): RemoteSession {
    const { home, hub } = this.#options;
    const known = this.#remotes.get(id);
    if (known) return known;
    const session = new RemoteSession({ id, read: (after) => home.sessions.read(id, undefined, after) });
    this.#remotes.set(id, session);
    hub.say("follow", id);
    this.#saying ??= this.#sayOn();
    return session;
  }

  current(id: string): RemoteSession | undefined {
    return this.#remotes.get(id);
  }

  leave(id: string): void {
    if (this.#remotes.get(id)?.isFollowed === false) this.#remotes.delete(id);
  }

  hear({ kind, of, body }: Notice): void {
    if (kind === "follow") this.#followed.set(of, this.#options.home.clock.monotonicMs() + followedMs);
    if (kind === "grown") this.#remotes.get(of)?.grown();
    if (kind === "live") this.#remotes.get(of)?.live(placedIn(body));
    if (kind === "over") this.#remotes.get(of)?.end();
  }

  /** Notices may have been lost. */
  lookAgain(): void {
    for (const session of this.#remotes.values()) session.grown();
  }

  close(): void {
    for (const session of this.#remotes.values()) session.end();
  }

  #isFollowed(session: string): boolean {
    return (this.#followed.get(session) ?? 0) > this.#options.home.clock.monotonicMs();
  }

  /** Says which are followed here, and looks which have grown. */
  async #sayOn(): Promise<void> {
    const { home, hub, closing } = this.#options;
    while (this.#remotes.size > 0 && !closing.aborted) {
      const ids = [...this.#remotes.keys()];
      for (const id of ids) hub.say("follow", id);
      const lengths = await hub.lengths(ids).catch(() => new Map<string, number>());
      for (const [id, bytes] of lengths) {
        if (this.#lengths.get(id) !== bytes) this.#remotes.get(id)?.grown();
        this.#lengths.set(id, bytes);
      }
      await home.clock.sleep(followMs, closing);
    }
    this.#saying = undefined;
  }
}

function placedIn(text: string): PlacedEvent[] {
  const parsed = parseJson(text);
  return Array.isArray(parsed) ? (parsed as unknown as PlacedEvent[]) : [];
}
