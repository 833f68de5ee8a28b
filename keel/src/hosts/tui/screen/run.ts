/** The screen at work: wiring only. Messages go through the reducer, what it wants done is done here. */
import { toFault } from "../../../kernel/fault.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { isDurable } from "../../../protocol/event/envelope.ts";
import { decodeKeys, flushKeys, noKeys, settlesIn } from "../input/keys.ts";
import { betterGraphics, type Graphics, graphicsOf } from "../pictures/picture.ts";
import { fullSigns, signsFor } from "../text/signs.ts";
import { backgroundOf, depthFor } from "../text/theme.ts";
import {
  guessedReflow,
  guessedWidths,
  noAnswers,
  probed,
  questions,
  reflowOf,
  widthsOf,
} from "../writer/probe.ts";
import { ScreenTerminal } from "../writer/terminal.ts";
import type { Effect, Got } from "./effects.ts";
import { type FrameCause, Frames } from "./frames.ts";
import type { ScreenEnd, ScreenHost } from "./host.ts";
import { layout, layoutMemo, needsClock } from "./layout.ts";
import { perform } from "./perform.ts";
import { initialState, type ScreenState } from "./state.ts";
import { createStore, type ScreenStore } from "./store.ts";
import { type ScreenMessage, takeOutbox, turnMs, update } from "./update.ts";
import { WaitingDeltas } from "./waiting-deltas.ts";
import { isNewsAround, watchState } from "./watch.ts";

/** How much of an old log is folded when a session is taken up. */
const tailEvents = 600;
/** So long after a size another one may come: tmux holds back news of it for a quarter of a second. */
const unsteadyMs = 600;
/** Of what was said here so many ids are kept: by then it has come back. */
const maxMine = 100;
/** Among what a terminal says of itself: that it draws sixels. */
const sixelAttribute = 4;

export async function runScreen(host: ScreenHost): Promise<ScreenEnd> {
  return new ScreenRun(host).run();
}

class ScreenRun {
  readonly #host: ScreenHost;
  readonly #terminal: ScreenTerminal;
  readonly #store: ScreenStore<ScreenState>;
  readonly #ended = Promise.withResolvers<ScreenEnd>();
  readonly #stop = new AbortController();
  readonly #undo: (() => void)[] = [];
  #keys = noKeys;
  #probe = noAnswers;
  readonly #frames: Frames;
  readonly #memo = layoutMemo();
  readonly #pieces = new WaitingDeltas();
  #clock: NodeJS.Timeout | undefined;
  #escape: NodeJS.Timeout | undefined;
  #redraw = false;
  /** Until when another size may have come that nobody has told of yet. */
  #unsteadyUntil = Number.NEGATIVE_INFINITY;
  #steady: NodeJS.Timeout | undefined;

  constructor(host: ScreenHost) {
    this.#host = host;
    const { env, settings } = host;
    this.#frames = new Frames(
      () => host.clock.now(),
      (cause) => this.#draw(cause),
    );
    this.#terminal = new ScreenTerminal(host.terminal, { title: settings.title });
    const signs = signsFor(env);
    const background = backgroundOf(env["COLORFGBG"] ?? "") ?? "dark";
    const depth = depthFor(env);
    this.#store = createStore(
      initialState({
        size: this.#terminal.size,
        now: host.clock.now(),
        look: {
          theme: { depth, background, links: depth !== "none" && opensLinks(env) },
          profile: guessedWidths(signs === fullSigns),
          signs,
          reflow: guessedReflow(env),
        },
        settings,
        budgetUsd: host.budgetUsd,
        session: { id: host.handle.id, cwd: env["PWD"] ?? "/", home: env["HOME"] ?? "/" },
      }),
    );
  }

  async run(): Promise<ScreenEnd> {
    const host = this.#host;
    const isProbed = this.#store.getState().look.signs === fullSigns;
    this.#terminal.enter((bytes) => this.#onBytes(bytes), isProbed ? questions : "");
    if (host.guard) this.#undo.push(host.guard(() => this.#terminal.leave()));
    try {
      this.#undo.push(this.#terminal.onResize(() => this.#onResize()));
      if (host.onLink) this.#undo.push(host.onLink((link) => this.#send({ type: "link", link })));
      host.signal?.addEventListener("abort", () => this.#ended.resolve({ kind: "stopped" }), { once: true });
      this.#undo.push(...watchState(this.#store, host, (bytes) => this.#terminal.say(bytes)));
      if (host.welcome) this.#send({ type: "print", lines: host.welcome });
      if (host.draft) this.#send({ type: "got", got: { what: "edited", text: host.draft } });
      this.#frames.want("key");
      void this.#follow().catch((thrown: unknown) => {
        this.#send({ type: "got", got: { what: "failed", tag: "events", text: toFault(thrown).message } });
        this.#ended.resolve({ kind: "closed" });
      });
      return await this.#ended.promise;
    } finally {
      this.#stop.abort();
      for (const undo of this.#undo) undo();
      this.#frames.stop();
      clearInterval(this.#clock);
      clearTimeout(this.#escape);
      clearTimeout(this.#steady);
      if (this.#terminal.canDraw()) this.#draw();
      this.#terminal.leave();
    }
  }

  /** What the log has, then what happens. Facts come beside it: the first frame waits for neither. */
  async #follow(): Promise<void> {
    const { handle, own, prompt } = this.#host;
    const { signal } = this.#stop;
    const [facts, { seq }, bill, history] = await Promise.all([
      handle.inquire("facts"),
      handle.inquire("position"),
      handle.inquire("usage"),
      own.readHistory(this.#store.getState().session.cwd).catch(() => []),
    ]);
    this.#send({ type: "facts", facts });
    this.#store.setState((state) => ({
      ...state,
      history: { ...state.history, entries: history, at: history.length },
      totals: {
        ...state.totals,
        costUsd: bill.costUsd,
        lostRequests: bill.unknownRequests,
        unpricedTokens: bill.unpricedTokens,
      },
    }));
    void this.#lookAround();
    const after = Math.max(0, seq - tailEvents);
    let isLive = seq === after;
    if (isLive) this.#caughtUp(prompt);
    for await (const event of handle.events(after, signal, (piece) => this.#addPiece(piece))) {
      this.#onEvent(event);
      if (!isLive && isDurable(event) && !event.origin && event.seq >= seq) {
        isLive = true;
        this.#caughtUp(prompt);
      }
    }
    if (!signal.aborted) this.#ended.resolve({ kind: "closed" });
  }

  #caughtUp(prompt: string | undefined): void {
    this.#send({ type: "caught-up" });
    if (prompt === undefined) return;
    void this.#do({
      type: "submit",
      command: { type: "input", content: [{ type: "text", text: prompt }] },
      tag: "input",
    });
  }

  #onEvent(event: Envelope): void {
    if (this.#addPiece(event)) return;
    this.#send({ type: "event", event });
    if (isNewsAround(event)) void this.#lookAround();
  }

  /** The first one wants a frame, with which the others come. */
  #addPiece(event: Envelope): boolean {
    const isFirst = this.#pieces.isEmpty;
    const isAdded = this.#pieces.add(event);
    if (isAdded && isFirst) this.#frames.want("change");
    return isAdded;
  }

  /** What stands around the session and may have changed: the branch, the editor, a status line of the person's own. */
  async #lookAround(): Promise<void> {
    const { own, settings, handle } = this.#host;
    const { session, totals, contextTokens } = this.#store.getState();
    const name = await own.branchOf(session.cwd).catch(() => undefined);
    const editor = (await handle.inquire("editor").catch(() => undefined))?.name;
    this.#got({ what: "around", branch: name, editor });
    if (settings.statusLine === undefined) return;
    const { model, mode, cwd } = session;
    const place = { session: session.id, model, mode, cwd, branch: name };
    const facts = { ...place, costUsd: totals.costUsd, contextTokens };
    const text = await own.statusLine(settings.statusLine, facts).catch(() => undefined);
    if (text !== undefined) this.#got({ what: "status", text });
  }

  #got(got: Got): void {
    if (!this.#stop.signal.aborted) this.#send({ type: "got", got });
  }

  #send(message: ScreenMessage): void {
    this.#takePieces();
    this.#apply(message);
  }

  #takePieces(): void {
    const event = this.#pieces.take();
    if (event) this.#apply({ type: "event", event });
  }

  #apply(message: ScreenMessage): void {
    const before = this.#store.getState();
    const { state, effects } = update(before, message);
    if (state !== before) this.#store.setState(() => state);
    for (const effect of effects) void this.#do(effect);
    if (state === before) return;
    this.#frames.want(message.type === "input" ? "key" : "change");
    this.#setClock();
  }

  async #do(effect: Effect): Promise<void> {
    switch (effect.type) {
      case "end":
        return this.#ended.resolve({ kind: "left" });
      case "switch-session":
        return this.#ended.resolve({ kind: "switch", session: effect.id });
      case "clear-screen":
        this.#terminal.clear();
        return this.#draw();
      case "suspend":
        return this.#aside(() => this.#host.own.suspend());
      case "edit-outside":
        return this.#aside(async () => {
          const text = await this.#host.own.editText(effect.text);
          if (text !== undefined) this.#got({ what: "edited", text });
        });
      default: {
        const got = await perform(this.#named(effect), this.#host, this.#store.getState());
        for (const one of got.say ? [got.say] : []) this.#terminal.say(one);
        if (got.got) this.#got(got.got);
      }
    }
  }

  /** What is said here is known when it comes back, however many others say something too. */
  #named(effect: Effect): Effect {
    if (effect.type !== "submit" || effect.command.type !== "input" || effect.command.id !== undefined)
      return effect;
    const id = this.#host.own.newId();
    this.#store.setState((state) => ({ ...state, mine: [...state.mine, id].slice(-maxMine) }));
    return { ...effect, command: { ...effect.command, id } };
  }

  /** Somebody else has the terminal for a while. */
  async #aside(work: () => Promise<void>): Promise<void> {
    this.#terminal.leave();
    try {
      await work();
    } catch (thrown) {
      this.#got({ what: "failed", tag: "aside", text: toFault(thrown).message });
    } finally {
      if (!this.#stop.signal.aborted) {
        this.#terminal.enter((bytes) => this.#onBytes(bytes));
        this.#send({ type: "resize", size: this.#terminal.size });
        this.#redraw = true;
        this.#draw();
      }
    }
  }

  #onBytes(bytes: Uint8Array): void {
    clearTimeout(this.#escape);
    const now = this.#host.clock.now();
    const { state, inputs } = decodeKeys(this.#keys, bytes, now);
    this.#keys = state;
    this.#onInputs(inputs);
    const waitMs = settlesIn(state, now);
    if (waitMs === undefined) return;
    this.#escape = setTimeout(() => {
      const flushed = flushKeys(this.#keys);
      this.#keys = flushed.state;
      this.#onInputs(flushed.inputs);
    }, waitMs);
  }

  #onInputs(inputs: ReturnType<typeof flushKeys>["inputs"]): void {
    for (const input of inputs) {
      if (input.kind === "cursor" || input.kind === "attributes") this.#probed(input);
      else if (input.kind === "version") {
        this.#send({ type: "look", look: { reflow: reflowOf(input.name) } });
        this.#draws(graphicsOf(input.name));
      } else if (input.kind === "graphics") this.#draws(input.isOk ? "kitty" : "none");
      else this.#send({ type: "input", input, now: this.#host.clock.now() });
    }
  }

  #probed(input: Parameters<typeof probed>[1]): void {
    const before = widthsOf(this.#probe);
    this.#probe = probed(this.#probe, input);
    const profile = widthsOf(this.#probe);
    if (profile && !before) this.#send({ type: "look", look: { profile } });
    if (input.kind === "attributes" && input.values.includes(sixelAttribute)) this.#draws("sixel");
  }

  #draws(way: Graphics): void {
    const now = this.#store.getState().look.graphics ?? "none";
    const graphics = betterGraphics(now, way);
    if (graphics !== now) this.#send({ type: "look", look: { graphics } });
  }

  #onResize(): void {
    this.#unsteadyUntil = this.#host.clock.now() + unsteadyMs;
    clearTimeout(this.#steady);
    this.#steady = setTimeout(() => {
      this.#unsteadyUntil = Number.NEGATIVE_INFINITY;
      this.#frames.want("change");
    }, unsteadyMs);
    this.#send({ type: "resize", size: this.#terminal.size });
    // At once: the terminal has broken the rows anew already.
    this.#frames.want("key");
  }

  #draw(cause: FrameCause = "change"): void {
    this.#terminal.lookAtSize();
    const now = this.#host.clock.now();
    if (!this.#terminal.canDraw()) {
      this.#frames.later(cause);
      void this.#terminal.drained().then(() => this.#frames.want("change"));
      return;
    }
    this.#takePieces();
    const state = this.#store.getState();
    const held = this.#redraw ? undefined : this.#frames.heldFor(state, cause);
    const taken = held
      ? { state: held, printed: [] }
      : takeOutbox({ ...state, now: Math.max(now, state.now) });
    if (!held) this.#store.setState(() => taken.state);
    this.#frames.drew(taken.state, held ? "key" : "step");
    const { look, settings, size } = taken.state;
    this.#terminal.draw({
      printed: taken.printed,
      foot: layout(taken.state, this.#memo),
      look: { ...look, wrap: settings.wrap },
      redraw: this.#redraw,
      park: look.reflow === "all" && now < this.#unsteadyUntil,
      size,
    });
    this.#redraw = false;
  }

  /** Ticks only as long as something on the screen moves by itself. */
  #setClock(): void {
    const wanted = needsClock(this.#store.getState());
    if (wanted === (this.#clock !== undefined)) return;
    clearInterval(this.#clock);
    this.#clock = wanted
      ? setInterval(() => this.#send({ type: "tick", now: this.#host.clock.now() }), turnMs)
      : undefined;
  }
}

/** Those that are known not to are left alone; the others pass over what they do not know. */
const opensLinks = (env: ScreenHost["env"]): boolean =>
  env["TERM"] !== "linux" && env["TERM_PROGRAM"] !== "Apple_Terminal";
