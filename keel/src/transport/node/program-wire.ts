/** A wire of messages over the pipes of a program: one message a line. The way to a server through the person's own `ssh`. */
import { type ChildProcess, spawn } from "node:child_process";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { lineReader } from "../lines.ts";
import { MessageInbox, type MessageWire } from "../message-wire.ts";

export type ProgramWireOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxBytes: number;
  /**
   * Told the lines that come first, until it says that the wire begins behind one. What the other side prints before that
   * is passed over. What it throws is thrown.
   */
  begins(line: string): boolean;
  /** Given up with it before it has begun. */
  readonly signal?: AbortSignal | undefined;
};

/** What a program prints before it speaks, and what it says when it fails: no more than a person reads. */
const maxPreface = 64 * 1024;
const maxWords = 2_000;
/** One that does not go when its input has ended is not waited for. */
const goodbyeMs = 1_000;

/** Throws `link_lost` with the program's last words where it ends before the wire begins. */
export async function openProgramWire({
  file,
  args,
  env,
  maxBytes,
  begins,
  signal,
}: ProgramWireOptions): Promise<MessageWire> {
  const child = spawn(file, args, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"] });
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<string>();
  const inbox = new MessageInbox();
  let preface = 0;
  let hasBegun = false;
  let words = "";
  const end = (): void => endProgram(child);

  const take = (line: string): void => {
    if (hasBegun) {
      inbox.take(line);
      return;
    }
    preface += line.length;
    try {
      hasBegun = begins(line);
      if (hasBegun) begun.resolve();
      else if (preface > maxPreface) throw fault("link_lost", { reason: "it prints something else" });
    } catch (thrown) {
      begun.reject(thrown);
      end();
    }
  };
  const lines = lineReader({ maxBytes });
  child.stdout.on("data", (chunk: Buffer) => {
    for (const read of lines.push(chunk)) {
      if (read.ok) take(read.line);
      else end();
    }
  });
  child.stderr.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(-maxWords);
  });
  // One that ends without reading says why by its end.
  child.stdin.on("error", () => undefined);
  child.once("error", (thrown) => {
    words = reasonOf(thrown);
    closed.resolve(words);
    begun.reject(fault("link_lost", { reason: words }));
  });
  child.once("close", (code, killed) => {
    const said = words.trim().split("\n").at(-1)?.trim();
    const reason = said || (code === null ? `it was ended by ${killed}` : `it ended with code ${code}`);
    closed.resolve(reason);
    begun.reject(fault("link_lost", { reason }));
  });
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  try {
    await begun.promise;
  } finally {
    signal?.removeEventListener("abort", end);
  }
  return {
    send: (message) => {
      if (child.stdin.writable) child.stdin.write(`${message}\n`);
    },
    onMessage: (heard) => inbox.listen(heard),
    closed: closed.promise,
    close: () => {
      end();
      closed.resolve("closed here");
    },
  };
}

function endProgram(child: ChildProcess): void {
  child.stdin?.end();
  const late = setTimeout(() => child.kill("SIGKILL"), goodbyeMs).unref();
  child.once("exit", () => clearTimeout(late));
  child.kill("SIGTERM");
}
