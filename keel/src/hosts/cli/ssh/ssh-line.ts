/**
 * The line to a machine that is reached by the person's own `ssh`: what is started there, what it says of what it found,
 * and how the line is opened again when it was cut. Nothing is copied there, and nothing is installed.
 */
import { fault } from "../../../kernel/fault.ts";
import { visible } from "../../../kernel/text.ts";
import { maxFrameBytes } from "../../../protocol/wire.ts";
import type { MessageWire } from "../../../transport/message-wire.ts";
import { openProgramWire } from "../../../transport/node/program-wire.ts";

export type SshLineOptions = {
  /** As `ssh` takes it: `[user@]host`, a name of its settings, `ssh://user@host:port`. */
  readonly destination: string;
  /** Where it works there: from the person's home if it is no absolute path. */
  readonly folder: string;
  /** The command there. */
  readonly keel: string;
  /** The program here, with its options. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** What was found there. */
export type RemotePlace = { readonly version: string; readonly cwd: string };

export class SshLine {
  readonly #options: SshLineOptions;
  #place: RemotePlace | undefined;
  #lack: string | undefined;

  /** Throws `usage` for a destination that `ssh` would take for an option. */
  constructor(options: SshLineOptions) {
    if (!isDestination(options.destination))
      throw fault("usage", { reason: `Not a machine: ${visible(options.destination)}` });
    this.#options = options;
  }

  /** Known once it was opened. */
  get place(): RemotePlace | undefined {
    return this.#place;
  }

  /** What was found to be missing only when it was spoken to. */
  get lack(): string | undefined {
    return this.#lack;
  }

  /** Throws `remote_lacks` for what is missing there, and `link_lost` with what `ssh` says. */
  async open(signal: AbortSignal): Promise<MessageWire> {
    const { destination, folder, keel, program, env } = this.#options;
    const [file = "ssh", ...given] = program;
    // A question on the terminal has its place at the start, and none in the middle of a screen.
    const again = this.#place === undefined ? [] : ["-o", "BatchMode=yes"];
    const remote = `exec sh -c '${script}' keel-ssh ${encoded(folder)} ${encoded(keel)}`;
    const wire = await openProgramWire({
      file,
      args: [...given, ...again, ...lineOptions, "--", destination, remote],
      env,
      maxBytes: maxFrameBytes,
      signal,
      begins: (line) => {
        const said = readMark(line);
        if (said === undefined) return false;
        if (said.kind === "lacks") throw fault("remote_lacks", { host: destination, reason: said.reason });
        this.#place = said.place;
        return true;
      },
    });
    return {
      ...wire,
      onMessage: (heard) =>
        wire.onMessage((message) => {
          const said = message.startsWith(mark) ? readMark(message) : undefined;
          if (said?.kind === "lacks") this.#lack = said.reason;
          else heard(message);
        }),
    };
  }
}

/** No terminal there, no escape character here; a line that dies is found by the wire itself. */
const lineOptions = ["-T", "-e", "none", "-o", "ServerAliveInterval=15"] as const;

/** Nothing that begins as an option does, and nothing that is no name. */
const isDestination = (text: string): boolean => /^[^-\s\p{C}][^\s\p{C}]*$/u.test(text);

const mark = "keel-ssh ";

/**
 * For whatever shell the person has there: no single quote and no exclamation mark in it. It finds Keel also where only
 * an interactive shell would have it in its PATH, and says what is missing before anything is spoken. What a signal has
 * ended (codes over 128) is a line that was cut, and tells nothing of what is there.
 */
const script = [
  `f=$(printf %b "$1"); k=$(printf %b "$2")`,
  `case $f in "~") f=$HOME ;; "~/"*) f=$HOME/\${f#"~/"} ;; "") f=$HOME ;; esac`,
  `for c in "$k" "$HOME/.local/bin/$k" "$HOME/.npm-global/bin/$k" "$HOME/bin/$k" "/usr/local/bin/$k" "/opt/homebrew/bin/$k"; do p=$(command -v "$c" 2>/dev/null) && break; s=$?; [ "$s" -gt 128 ] && exit "$s"; done`,
  `if [ -z "$p" ]; then n=$(node --version 2>/dev/null) || n=none; printf "\\n${mark}lacks keel %s\\n" "$n"; exit 78; fi`,
  `v=$("$p" --version 2>&1) || { s=$?; [ "$s" -gt 128 ] && exit "$s"; printf "\\n${mark}lacks node %s\\n" "$(printf %s "$v" | head -n 1)"; exit 78; }`,
  `cd "$f" 2>/dev/null || { printf "\\n${mark}lacks folder %s\\n" "$f"; exit 66; }`,
  `printf "\\n${mark}has %s %s\\n" "$v" "$(pwd -P)"`,
  `"$p" serve --stdio --detach || { c=$?; if [ "$c" = 64 ]; then printf "\\n${mark}lacks wire %s\\n" "$v"; fi; exit "$c"; }`,
].join("; ");

type RemoteWord =
  | { readonly kind: "lacks"; readonly reason: string }
  | { readonly kind: "has"; readonly place: RemotePlace };

function readMark(line: string): RemoteWord | undefined {
  const [, verb, what = "", rest = ""] = /^keel-ssh (lacks|has) (\S+) ?(.*)$/.exec(line) ?? [];
  if (verb === "has") return { kind: "has", place: { version: visible(what), cwd: rest } };
  const say = verb === "lacks" ? lacks[what] : undefined;
  return say && { kind: "lacks", reason: say(visible(rest)) };
}

const lacks: Readonly<Record<string, (rest: string) => string>> = {
  keel: (node) =>
    node === "none"
      ? "has no Keel, and no Node that it could run on."
      : `has no Keel that could be found (its Node is ${node}).`,
  node: (words) => `has Keel, and it does not start: ${words}`,
  folder: (folder) => `has no folder ${folder} that could be entered.`,
  wire: (version) => `has Keel ${version}, which cannot be attached to over ssh: it is too old.`,
};

/** A word for any shell: what is not plain stands as octal bytes, which `printf %b` reads there. */
function encoded(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_./~@%+=:,-]+/g, (rest) =>
    Buffer.from(rest, "utf8").reduce((all, byte) => `${all}\\0${byte.toString(8).padStart(3, "0")}`, ""),
  );
  return `'${plain}'`;
}
