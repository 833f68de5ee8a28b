/**
 * One session as the page follows it: first what the browser kept, then what the server tells after it. Rows that fill a
 * screen are folded before the rest, so that a long session paints as soon as a short one, whether the browser has it or
 * never saw it: then its end is asked for first. The whole is folded in slices behind it and takes its place. Whoever
 * looks is told once a frame, however much happens.
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
  /** What its log has after a seq: of that the last so many, or the first. Throws where the server is out of reach. */
  history(
    session: string,
    page:
      | { readonly after: number; readonly last: number }
      | { readonly after: number; readonly limit: number },
  ): Promise<readonly Durable[]>;
  readonly kept: KeptEvents;
  /** Calls back once the page can be painted anew: where much is drawn, after a rest; with `now` before the next frame. */
  nextPaint(then: () => void, when?: "now"): void;
  /** Lets others have the thread, for a moment or for so long. */
  pause(ms?: number): Promise<void>;
  now(): number;
  faultOf(thrown: unknown): FaultData;
};

/** What is folded at once for the first paint: some screens of what the browser has, one or two of what it has not. */
const tailEvents = 240;
const newestEvents = 100;
const sliceEvents = 400;
/** What the server is asked for at once: little enough to be read between two frames. */
const pageEvents = 100;
/** A server that is out of reach is asked again so much later. */
const againMs = 500;
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
  #paintDue: "no" | "soon" | "now" = "no";
  /** What came while the whole was still being folded, and is kept after it; undefined once it is. */
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
    // What is kept is light already.
    for (const event of last > 0 ? await kept.read(this.id, from, last) : [])
      this.#view = foldView(this.#view, event);
    this.#phase = "catching-up";
    if (last > 0) this.#show();
    const whole = from === 0 ? Promise.resolve(this.#view) : this.#foldKept(last);
    let isMissing = false;
    void whole.then((view) => isMissing || this.#replace(view));
    // As much as a screen needs. What goes wrong is told by who follows it.
    const newest = await this.#ask({ after: last, last: newestEvents }).catch(() => []);
    const begins = newest[0]?.seq ?? last + 1;
    isMissing = begins > last + 1;
    if (isMissing) {
      this.#view = noView;
      this.#isWhole = false;
      this.#meanwhile = [];
      void this.#foldMissing(whole, last, begins);
    }
    for (const event of newest) this.#take(event);
    this.#show();
    await this.#follow(newest.at(-1)?.seq ?? last);
  }

  /** Until the server is there. */
  async #ask(page: Parameters<FeedPorts["history"]>[1]): Promise<readonly Durable[]> {
    const { history, pause, faultOf } = this.#ports;
    while (!this.#stop.signal.aborted) {
      try {
        return await history(this.id, page);
      } catch (thrown) {
        if (faultOf(thrown).code !== "link_lost") throw thrown;
        await pause(againMs);
      }
    }
    return [];
  }

  async #follow(after: number): Promise<void> {
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const settle = (): void => {
      this.#phase = "live";
      this.#show();
    };
    // A session in which nothing happens says nothing: after a moment it has said all.
    quiet = setTimeout(settle, quietMs * 4);
    try {
      for await (const event of this.#ports.events(this.id, after, this.#stop.signal)) {
        this.#take(event);
        if (this.#phase === "catching-up") {
          clearTimeout(quiet);
          quiet = setTimeout(settle, quietMs);
        }
        this.#show(this.#phase === "live" && awaited.has(event.type) ? "now" : "soon");
      }
      this.#phase = "ended";
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      clearTimeout(quiet);
      this.#show();
    }
  }

  #fail(thrown: unknown): void {
    this.#phase = "failed";
    this.#problem = this.#ports.faultOf(thrown);
    this.#show();
  }

  /** All that is kept, in slices that nobody notices. */
  async #foldKept(last: number): Promise<SessionView> {
    let view = noView;
    for (let after = 0; after < last; after += sliceEvents)
      view = await this.#foldSlices(
        view,
        await this.#ports.kept.read(this.id, after, Math.min(last, after + sliceEvents)),
      );
    return view;
  }

  /** What is between the last that is kept and the newest, a page at a time; it is kept as it comes. */
  async #foldMissing(whole: Promise<SessionView>, last: number, begins: number): Promise<void> {
    try {
      let view = await whole;
      for (let after = last; after < begins - 1; ) {
        const asked = await this.#ask({ after, limit: Math.min(pageEvents, begins - 1 - after) });
        const page = asked.filter(({ seq }) => seq < begins);
        const to = page.at(-1)?.seq;
        // Nobody looks any more; or the log has places of which nothing is left.
        if (to === undefined) break;
        for (const event of page) this.#ports.kept.keep(event);
        view = await this.#foldSlices(view, page.map(light));
        after = to;
      }
      this.#replace(view);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  async #foldSlices(folded: SessionView, events: readonly Durable[]): Promise<SessionView> {
    const { now, pause } = this.#ports;
    let view = folded;
    let sliceEnd = now() + sliceMs;
    for (const event of events) {
      view = foldView(view, event);
      if (now() < sliceEnd) continue;
      await pause();
      sliceEnd = now() + sliceMs;
    }
    return view;
  }

  /** The whole takes the place of its end, with what came meanwhile. */
  #replace(folded: SessionView): void {
    if (this.#stop.signal.aborted) return;
    const came = this.#meanwhile ?? [];
    this.#meanwhile = undefined;
    let view = folded;
    for (const event of came) {
      this.#keep(event);
      view = foldView(view, light(event));
    }
    this.#isWhole = true;
    this.#view = view;
    this.#show();
  }

  /** Without a gap: what came before its turn is kept when that is there. */
  #take(event: Envelope): void {
    if (this.#meanwhile) this.#meanwhile.push(event);
    else this.#keep(event);
    this.#view = foldView(this.#view, light(event));
  }

  #keep(event: Envelope): void {
    if ("seq" in event && !event.origin) this.#ports.kept.keep(event);
  }

  #show(when: "soon" | "now" = "soon"): void {
    if (this.#paintDue === when || this.#paintDue === "now" || this.#stop.signal.aborted) return;
    this.#paintDue = when;
    const paint = (): void => {
      this.#paintDue = "no";
      const { view, phase, isWhole, problem } = this.#cell.get();
      const isSame = view === this.#view && phase === this.#phase && isWhole === this.#isWhole;
      if (isSame && problem === this.#problem) return;
      this.#cell.set({
        view: this.#view,
        phase: this.#phase,
        isWhole: this.#isWhole,
        problem: this.#problem,
      });
    };
    if (when === "now") this.#ports.nextPaint(paint, when);
    else this.#ports.nextPaint(paint);
  }
}

/** What a person waits for is shown in the next frame, also while so much streams that others have to wait. */
const awaited: ReadonlySet<Envelope["type"]> = new Set([
  "ask.opened",
  "ask.closed",
  "input.accepted",
  "turn.finished",
]);

const light = <Told extends Envelope>(event: Told): Told => lightened(event).event;
