/**
 * One session as the page follows it: first what the browser kept, then what the server tells after it. Rows that fill a
 * screen are folded before the rest, so that a long session paints as soon as a short one; the whole is folded in slices
 * behind it and takes its place. Whoever looks is told once a frame, however much happens.
 */
import type { Durable, Envelope, FaultData } from "keel/protocol";
import type { KeptEvents } from "./kept-events.ts";
import { lightened } from "./lighten.ts";
import { Cell, type Observable } from "./observable.ts";
import { foldView, noView, type SessionView } from "./session-view.ts";

/**
 * `reading`: from the browser's own store. `catching-up`: the server is asked. `live`: it tells what happens.
 * `failed`: it does not have the session, or may not show it.
 */
export type FeedPhase = "reading" | "catching-up" | "live" | "failed" | "ended";

export type SessionState = {
  readonly view: SessionView;
  readonly phase: FeedPhase;
  /** Whether the view is of the whole log, or only of its end. */
  readonly isWhole: boolean;
  readonly problem?: FaultData | undefined;
};

export type FeedPorts = {
  /** The events after a seq and then those that happen; comes back by itself after a cut. */
  events(session: string, after: number, signal: AbortSignal): AsyncIterable<Envelope>;
  readonly kept: KeptEvents;
  /** Calls back once the page can be painted anew. */
  nextPaint(then: () => void): void;
  /** Lets others have the thread. */
  pause(): Promise<void>;
  now(): number;
  faultOf(thrown: unknown): FaultData;
};

/** What is folded at once for the first paint: some screens of it. */
const tailEvents = 240;
const sliceEvents = 400;
const sliceMs = 8;
/** After so much silence of a server that answered, what it has was told. */
const quietMs = 150;

export class SessionFeed implements Observable<SessionState> {
  readonly id: string;
  readonly #ports: FeedPorts;
  readonly #cell: Cell<SessionState> = new Cell<SessionState>({
    view: noView,
    phase: "reading",
    isWhole: false,
  });
  readonly #stop = new AbortController();
  #view = noView;
  #phase: FeedPhase = "reading";
  #isWhole = false;
  #problem: FaultData | undefined;
  #isPaintDue = false;
  /** What came while the whole was still being folded; undefined once it is. */
  #meanwhile: Envelope[] | undefined = [];

  constructor(id: string, ports: FeedPorts) {
    this.id = id;
    this.#ports = ports;
    void this.#run();
  }

  readonly get = (): SessionState => this.#cell.get();
  readonly subscribe = (listener: () => void): (() => void) => this.#cell.subscribe(listener);

  close(): void {
    this.#stop.abort();
  }

  /** The event that a row was made from, whole; undefined where nothing of it was left out. */
  whole(id: string): Promise<Durable | undefined> {
    return this.#ports.kept.whole(this.id, id);
  }

  async #run(): Promise<void> {
    const { kept } = this.#ports;
    const last = await kept.lastSeq(this.id).catch(() => 0);
    const from = Math.max(0, last - tailEvents);
    if (last > 0) {
      for (const event of await kept.read(this.id, from, last)) this.#fold(event);
      this.#phase = "catching-up";
      this.#show();
    }
    this.#isWhole = from === 0;
    if (this.#isWhole) this.#meanwhile = undefined;
    else void this.#foldWhole(last);
    this.#phase = "catching-up";
    await this.#follow(last);
  }

  async #follow(after: number): Promise<void> {
    const { kept } = this.#ports;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const settle = (): void => {
      this.#phase = "live";
      this.#show();
    };
    // A session in which nothing happens says nothing: after a moment it has said all.
    quiet = setTimeout(settle, quietMs * 4);
    try {
      for await (const event of this.#ports.events(this.id, after, this.#stop.signal)) {
        if ("seq" in event && !event.origin) kept.keep(event);
        this.#meanwhile?.push(event);
        this.#fold(event);
        if (this.#phase === "catching-up") {
          clearTimeout(quiet);
          quiet = setTimeout(settle, quietMs);
        }
        this.#show();
      }
      this.#phase = "ended";
    } catch (thrown) {
      this.#phase = "failed";
      this.#problem = this.#ports.faultOf(thrown);
    } finally {
      clearTimeout(quiet);
      this.#show();
    }
  }

  /** All that is kept, in slices that nobody notices; then what came meanwhile. */
  async #foldWhole(last: number): Promise<void> {
    const { kept, now, pause } = this.#ports;
    let view = noView;
    let sliceEnd = now() + sliceMs;
    for (let after = 0; after < last; after += sliceEvents) {
      const events = await kept.read(this.id, after, Math.min(last, after + sliceEvents));
      for (const event of events) {
        view = foldView(view, event);
        if (now() < sliceEnd) continue;
        await pause();
        if (this.#stop.signal.aborted) return;
        sliceEnd = now() + sliceMs;
      }
    }
    for (const event of this.#meanwhile ?? []) view = foldView(view, lightened(event).event);
    this.#meanwhile = undefined;
    this.#isWhole = true;
    this.#view = view;
    this.#show();
  }

  #fold(event: Envelope): void {
    this.#view = foldView(this.#view, lightened(event).event);
  }

  #show(): void {
    if (this.#isPaintDue || this.#stop.signal.aborted) return;
    this.#isPaintDue = true;
    this.#ports.nextPaint(() => {
      this.#isPaintDue = false;
      const { view, phase, isWhole, problem } = this.#cell.get();
      const isSame = view === this.#view && phase === this.#phase && isWhole === this.#isWhole;
      if (isSame && problem === this.#problem) return;
      this.#cell.set({
        view: this.#view,
        phase: this.#phase,
        isWhole: this.#isWhole,
        problem: this.#problem,
      });
    });
  }
}
