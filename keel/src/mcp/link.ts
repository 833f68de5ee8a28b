/**
 * The life of one server: connected in the background, lost and found again, closed once. Nothing that a server does
 * throws out of here: what went wrong is its state.
 */
import type { CallToolResult, Transport } from "@modelcontextprotocol/client";
import { over } from "../kernel/abort.ts";
import { delayMs } from "../kernel/backoff.ts";
import { fault, reasonOf } from "../kernel/fault.ts";
import { plainText, shorten } from "../kernel/text.ts";
import type { Clock } from "../ports/clock.ts";
import { type Connection, connect, type McpCallRequest, type ServerOffer } from "./connection.ts";
import { type McpLimits, reconnect } from "./limits.ts";
import type { CallHost, ServerRequestContext } from "./requests.ts";

export type LinkState =
  | { readonly status: "pending"; readonly error?: string }
  | { readonly status: "connected"; readonly connection: Connection; readonly offer: ServerOffer }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "needs-auth"; readonly error: string };

/** A way to the server, not yet begun. `lastWords`: what it said when it went, for the reason of a failure. */
export type ServerRoute = {
  readonly transport: Transport;
  lastWords(): string;
  /** The program at the other end is gone. */
  hasEnded?(): boolean;
};

export type LinkOptions = {
  readonly name: string;
  readonly version: string;
  readonly revision: "newest" | "legacy";
  readonly probeMs: number;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  draw(): number;
  readonly limits: McpLimits;
  readonly requestContext: Pick<ServerRequestContext, "roots" | "sampling">;
  open(): Promise<ServerRoute>;
  /** The server wants more rights than the last login gave. */
  wantScope?(scope: string): Promise<void>;
};

/** A connection that lived this long was a good one: the next loss is counted anew. */
const steadyMs = 60_000;

export class Link {
  readonly name: string;
  /** Settles when the first attempt is over, however it ended. Never rejects. */
  readonly settled: Promise<void>;
  readonly #wish: LinkOptions;
  readonly #life = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #hosts: CallHost[] = [];
  #state: LinkState = { status: "pending" };
  #working: Promise<void>;
  /** Told apart by number: what an old connection still says is not heard. */
  #attempt = 0;
  #tries = 0;
  #hunt = 0;
  #connectedAt = 0;

  constructor(options: LinkOptions) {
    this.name = options.name;
    this.#wish = options;
    this.settled = this.#try();
    this.#working = this.settled;
  }

  get state(): LinkState {
    return this.#state;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Gives up what is there and tries once more. Resolves when that has ended, one way or the other. */
  reconnect(): Promise<void> {
    this.#tries = 0;
    this.#working = this.#drop().then(() => this.#try());
    return this.#working;
  }

  /** Runs one of its tools. Rejects with a sentence for the model. */
  call(request: McpCallRequest & { readonly host: CallHost }, signal: AbortSignal): Promise<CallToolResult> {
    return this.use(async (connection) => {
      this.#hosts.push(request.host);
      try {
        return await connection.call(request, signal);
      } finally {
        this.#hosts.splice(this.#hosts.indexOf(request.host), 1);
      }
    }, signal);
  }

  /** The connection, for what is only read. Rejects like `call`. */
  async use<T>(read: (connection: Connection) => Promise<T>, signal: AbortSignal): Promise<T> {
    const connection = await this.#connected(signal);
    try {
      return await read(connection);
    } catch (thrown) {
      throw fault("mcp_unanswered", { reason: await this.#explain(thrown, connection) });
    }
  }

  async close(): Promise<void> {
    this.#life.abort(over);
    await this.#drop();
    await this.#working.catch(() => undefined);
    await this.#drop();
    this.#listeners.clear();
  }

  /** Someone who is being found again is waited for, but not for long. */
  async #connected(signal: AbortSignal): Promise<Connection> {
    if (this.#state.status === "pending")
      await settledWithin(this.#working, { clock: this.#wish.clock, ms: this.#wish.limits.startMs }, signal);
    const state = this.#state;
    if (state.status === "connected") return state.connection;
    const why = "error" in state && state.error ? `: ${state.error}` : "";
    throw fault("mcp_unanswered", { reason: `The server ${this.name} is ${sayStatus[state.status]}${why}` });
  }

  async #try(): Promise<void> {
    const attempt = ++this.#attempt;
    const isOld = (): boolean => attempt !== this.#attempt || this.#life.signal.aborted;
    let way: ServerRoute | undefined;
    try {
      way = await this.#wish.open();
      if (isOld()) return;
      const connection = await this.#connect(way, { isOld, revision: this.#wish.revision }).catch(
        async (thrown: unknown) => {
          // Some older programs end at a question that they do not know: they get another life, without it.
          if (this.#wish.revision === "legacy" || !way?.hasEnded?.() || isOld()) throw thrown;
          way = await this.#wish.open();
          return this.#connect(way, { isOld, revision: "legacy" });
        },
      );
      const offer = await connection.offer().catch(async (thrown: unknown) => {
        await connection.close();
        throw thrown;
      });
      if (isOld()) return await connection.close();
      this.#connectedAt = this.#wish.clock.monotonicMs();
      this.#set({ status: "connected", connection, offer });
    } catch (thrown) {
      if (isOld()) return;
      const error = sayFailure(thrown, way?.lastWords() ?? "");
      const isAuth = await needsAuth(thrown);
      if (!isOld()) this.#set(isAuth ? { status: "needs-auth", error } : { status: "failed", error });
    }
  }

  #connect(
    { transport }: ServerRoute,
    { isOld, revision }: { isOld: () => boolean; revision: LinkOptions["revision"] },
  ): Promise<Connection> {
    const { name, version, probeMs, limits, requestContext: world } = this.#wish;
    return connect(
      {
        transport,
        version,
        revision,
        probeMs,
        connectMs: limits.connectMs,
        requestContext: { ...world, server: name, host: () => this.#hosts.at(-1) },
        changed: () => {
          if (!isOld()) void this.#listAgain();
        },
        closed: () => {
          if (!isOld() && this.#state.status === "connected") this.#find("The server went away.");
        },
      },
      this.#life.signal,
    );
  }

  async #listAgain(): Promise<void> {
    const state = this.#state;
    if (state.status !== "connected") return;
    const offer = await state.connection.offer().catch(() => undefined);
    if (offer && this.#state === state) this.#set({ ...state, offer });
  }

  /** Lost: looked for in the background, with pauses that grow, until it is found or given up. */
  #find(error: string): void {
    const { clock } = this.#wish;
    const livedMs = clock.monotonicMs() - this.#connectedAt;
    if (livedMs > steadyMs) this.#tries = 0;
    this.#set({ status: "pending", error });
    this.#working = this.#search(error, clock.monotonicMs());
  }

  async #search(error: string, sinceMs: number): Promise<void> {
    const { clock, draw } = this.#wish;
    const hunt = ++this.#hunt;
    const isOver = (): boolean => hunt !== this.#hunt || this.#life.signal.aborted;
    for (;;) {
      this.#tries += 1;
      const tooLong = clock.monotonicMs() - sinceMs > reconnect.giveUpMs;
      if (this.#tries > reconnect.tries || tooLong)
        return this.#set({ status: "failed", error: `${error} It was looked for ${this.#tries - 1} times.` });
      await clock.sleep(delayMs(reconnect, this.#tries, draw()), this.#life.signal);
      if (isOver()) return;
      await this.#try();
      if (isOver() || this.state.status !== "failed") return;
      this.#set({ status: "pending", error });
    }
  }

  async #drop(): Promise<void> {
    this.#attempt += 1;
    this.#hunt += 1;
    const state = this.#state;
    if (state.status !== "connected") return;
    this.#set({ status: "pending" });
    await state.connection.close().catch(() => undefined);
  }

  /** A call that failed because the way is broken starts the search, or the question for leave. */
  async #explain(thrown: unknown, connection: Connection): Promise<string> {
    const state = this.#state;
    const words = sayFailure(thrown, "");
    if (state.status !== "connected" || state.connection !== connection) return words;
    if (await needsAuth(thrown)) {
      const scope = thrown instanceof Error && "requiredScope" in thrown ? thrown.requiredScope : undefined;
      if (typeof scope === "string") await this.#wish.wantScope?.(scope).catch(() => undefined);
      this.#set({ status: "needs-auth", error: words });
      await connection.close().catch(() => undefined);
    } else if (isBroken(thrown)) {
      this.#attempt += 1;
      await connection.close().catch(() => undefined);
      this.#find(words);
    }
    return words;
  }

  #set(state: LinkState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** Resolves when the work has settled, its time is up, or the signal fires. */
export async function settledWithin(
  work: Promise<unknown>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, clock.sleep(ms, AbortSignal.any([signal, done.signal]))]);
  done.abort(over);
}

const sayStatus = {
  pending: "not connected yet",
  connected: "connected",
  failed: "not connected",
  "needs-auth": "not connected, because somebody has to log in first (`keel mcp login`)",
} as const;

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";

const statusOf = (thrown: unknown): number =>
  thrown instanceof Error && "status" in thrown ? Number(thrown.status) : 0;

async function needsAuth(thrown: unknown): Promise<boolean> {
  if (codeOf(thrown) === "CLIENT_HTTP_AUTHENTICATION" || statusOf(thrown) === 401) return true;
  const { InsufficientScopeError, OAuthClientFlowError, UnauthorizedError } = await import(
    "@modelcontextprotocol/client"
  );
  return [UnauthorizedError, InsufficientScopeError, OAuthClientFlowError].some(
    (kind) => thrown instanceof kind,
  );
}

/** Not an answer, not a refusal, not a limit of ours: nothing comes back this way any more. */
function isBroken(thrown: unknown): boolean {
  // A session that the server has forgotten is answered with 404.
  if (statusOf(thrown) === 404) return true;
  return thrown instanceof TypeError || ["SEND_FAILED", "NOT_CONNECTED"].includes(codeOf(thrown));
}

const maxReason = 500;

function sayFailure(thrown: unknown, lastWords: string): string {
  const said = reasonOf(thrown);
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? ` (${thrown.cause.message})` : "";
  const words = plainText(lastWords).trim();
  return shorten(
    plainText(`${said}${cause}${words ? `\nIts last words: ${words.slice(-maxReason)}` : ""}`),
    2 * maxReason,
  );
}
