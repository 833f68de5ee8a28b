/** Takes what a command writes: for its outcome, for the screen that follows it, and for a file if there is one. */
import { BoundedOutput, LiveText } from "./bounded-output.ts";
import { OutputFile } from "./output-file.ts";

/** What a screen is given at once. */
const maxChunkBytes = 16_384;

export class OutputRecorder {
  /** Called when something has come. */
  onNews: () => void = () => undefined;
  readonly #output: BoundedOutput;
  readonly #live = new LiveText({ maxBytes: maxChunkBytes });
  #file: OutputFile | undefined;

  constructor({ maxBytes }: { maxBytes: number }) {
    this.#output = new BoundedOutput({ maxBytes });
  }

  /** Copies what it keeps: the caller may use its buffer again. */
  add(bytes: Uint8Array): void {
    this.#output.add(bytes);
    this.#live.add(bytes);
    this.#file?.add(bytes);
    this.onNews();
  }

  /** What came since the last time, for a screen. */
  news(): string {
    return this.#live.take();
  }

  soFar(): { output: string; omittedBytes: number } {
    return this.#output.finish();
  }

  /** From now on the file gets everything; what came before, as far as it was kept, first. */
  saveTo(path: string): void {
    if (this.#file) return;
    this.#file = new OutputFile(path);
    const { output } = this.soFar();
    if (output !== "") this.#file.add(Buffer.from(output));
  }

  /** Nothing comes any more. Says what kept the file from being whole, if anything did. */
  close(): string | undefined {
    this.#file?.close();
    return this.#file?.problem;
  }
}
