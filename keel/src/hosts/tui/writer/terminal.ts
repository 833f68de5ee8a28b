/**
 * The terminal, while the screen has it: raw keys in, frames out, each frame one write. Whatever ends the screen gives
 * the terminal back as it was.
 */
import type { Readable } from "node:stream";
import {
  type Drawn,
  eraseFoot,
  type FrameLook,
  type FrameRequest,
  framed,
  nextFrame,
  nothingDrawn,
  type Size,
} from "./frame.ts";
import { enterModes, leaveModes } from "./modes.ts";

/** What a screen needs of the process that it runs in. */
export type TerminalPorts = {
  readonly input: Readable & { setRawMode?(raw: boolean): unknown };
  readonly out: {
    write(text: string): void;
    /** What the terminal has not taken yet. */
    readonly waitingBytes: number;
    drained(): Promise<void>;
  };
  size(): Size;
  /** Asks the system; who listens for other sizes is told before it returns. */
  lookAtSize?(): void;
  onResize(listener: () => void): () => void;
};

export class ScreenTerminal {
  readonly #ports: TerminalPorts;
  readonly #title: boolean;
  #drawn: Drawn;
  #isEntered = false;
  #heard: ((bytes: Uint8Array) => void) | undefined;

  constructor(ports: TerminalPorts, { title }: { title: boolean }) {
    this.#ports = ports;
    this.#title = title;
    this.#drawn = nothingDrawn(ports.size());
  }

  get size(): Size {
    return this.#ports.size();
  }

  lookAtSize(): void {
    this.#ports.lookAtSize?.();
  }

  onResize(listener: () => void): () => void {
    return this.#ports.onResize(listener);
  }

  /** From here on every byte is told. */
  enter(listener: (bytes: Uint8Array) => void, first = ""): void {
    const { input, out } = this.#ports;
    if (this.#isEntered) return;
    this.#isEntered = true;
    input.setRawMode?.(true);
    this.#heard = listener;
    input.on("data", listener);
    input.resume();
    out.write(enterModes(this.#title) + first);
    this.#drawn = nothingDrawn(this.#ports.size());
  }

  /** The foot goes, what was printed stays. Synchronous: it may be the last thing that this process does. */
  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    const { input, out } = this.#ports;
    if (this.#heard) input.off("data", this.#heard);
    out.write(framed(eraseFoot(this.#drawn, this.#ports.size(), this.#look)) + leaveModes(this.#title));
    this.#drawn = nothingDrawn(this.#ports.size());
    input.setRawMode?.(false);
    input.pause();
  }

  #look: FrameLook = {
    theme: { depth: "none", background: "dark", links: false },
    profile: { emoji: 2, joined: true, picture: 2, flag: 2 },
    wrap: "words",
    reflow: "all",
  };

  /** False where the terminal lags: the frame is not drawn, and a later one will be in its place. */
  canDraw(): boolean {
    return this.#isEntered && this.#ports.out.waitingBytes < maxWaiting;
  }

  /** `size`: that for which the foot was made. */
  draw(request: Omit<FrameRequest, "size"> & { readonly size?: Size }): void {
    this.#look = request.look;
    const { bytes, after } = nextFrame(this.#drawn, { ...request, size: request.size ?? this.size });
    this.#drawn = after;
    if (bytes !== "") this.#ports.out.write(bytes);
  }

  /** All that is seen goes up into the scrollback, and the foot stands at the top. */
  clear(): void {
    const { rows } = this.#ports.size();
    const erase = eraseFoot(this.#drawn, this.#ports.size(), this.#look);
    this.#ports.out.write(framed(`${erase}${"\n".repeat(rows - 1)}\u001b[H`));
    this.#drawn = nothingDrawn(this.#ports.size());
  }

  say(bytes: string): void {
    if (this.#isEntered) this.#ports.out.write(bytes);
  }

  async drained(): Promise<void> {
    await this.#ports.out.drained();
  }
}

/** A terminal that is further behind gets fewer frames, and never older ones. */
const maxWaiting = 64 * 1024;
