/**
 * The line to an editor: MCP over a WebSocket of this machine, of which it is the server. What it says of itself (what is
 * selected, what the person points at) is kept until somebody wants it, however often it says so; nothing else that it
 * says is done. A line that is lost is tried again, with the pauses of the bridge.
 */
import { bridgeBackoff, PatientRetry } from "../../kernel/backoff.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { asObject, isObject, parseJson } from "../../kernel/json.ts";
import type { Clock } from "../../ports/clock.ts";
import { methodNotFound, RpcPeer } from "../../transport/json-rpc.ts";
import { openLoopbackSocket } from "../../transport/node/local-socket.ts";
import type { EditorLock } from "./editor-locks.ts";

/** Lines from 1. */
export type PlaceInFile = {
  readonly path: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
};

/** Without a text the file is only open. */
export type Selection = PlaceInFile & { readonly text: string };

export type EditorState =
  | { readonly state: "off" | "connecting" }
  | { readonly state: "connected"; readonly name: string; readonly port: number }
  | { readonly state: "waiting" | "given-up"; readonly reason: string };

export type ShownChange = {
  readonly path: string;
  readonly after: string;
  readonly tab: string;
};

/** `text`: what the person made of it, where the editor says so. */
export type ShownAnswer =
  | { readonly verdict: "accepted"; readonly text?: string }
  | { readonly verdict: "rejected" };

export type EditorLinkOptions = {
  /** Which editor is meant, looked up for every try. Throws a fault where there is none. */
  find(): Promise<EditorLock>;
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  draw(): number;
  readonly version: string;
  onState(state: EditorState): void;
  onMention(place: PlaceInFile): void;
};

const maxMessageBytes = 16 * 1024 * 1024;
const handshakeMs = 5_000;
const maxSelectionCharacters = 10_000;
const tokenHeader = "x-claude-code-ide-authorization";

export class EditorLink {
  readonly #options: EditorLinkOptions;
  readonly #stop = new AbortController();
  readonly #tried = Promise.withResolvers<void>();
  #peer: RpcPeer | undefined;
  #state: EditorState = { state: "connecting" };
  /** The newest; those before it are forgotten. */
  selection: Selection | undefined;

  constructor(options: EditorLinkOptions) {
    this.#options = options;
    void this.#run();
  }

  get state(): EditorState {
    return this.#state;
  }

  /** Settles after the first try, however that went. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  close(): void {
    this.#stop.abort();
  }

  /** Undefined where the editor is gone, or says neither yes nor no: then nobody has answered. */
  async openDiff({ path, after, tab }: ShownChange, signal: AbortSignal): Promise<ShownAnswer | undefined> {
    const peer = this.#peer;
    if (!peer) return undefined;
    const shown = peer.request("tools/call", {
      name: "openDiff",
      arguments: { old_file_path: path, new_file_path: path, new_file_contents: after, tab_name: tab },
    });
    const left = Promise.withResolvers<undefined>();
    const leave = (): void => left.resolve(undefined);
    signal.addEventListener("abort", leave, { once: true });
    try {
      const answer = signal.aborted ? undefined : await Promise.race([shown, left.promise]);
      if (signal.aborted) {
        void peer.request("tools/call", { name: "close_tab", arguments: { tab_name: tab } });
        return undefined;
      }
      return answer?.ok ? readAnswer(textsIn(answer.result)) : undefined;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  async #run(): Promise<void> {
    const { clock, draw } = this.#options;
    const { signal } = this.#stop;
    const retry = new PatientRetry(bridgeBackoff.connection, { clock, draw });
    while (!signal.aborted) {
      let reason: string;
      try {
        reason = await this.#live(() => retry.succeeded());
      } catch (thrown) {
        reason = reasonIn(thrown);
      }
      this.#peer = undefined;
      this.selection = undefined;
      if (signal.aborted) break;
      this.#become({ state: "waiting", reason });
      this.#tried.resolve();
      const next = await retry.failed(signal);
      if (next === "given-up") return this.#become({ state: "given-up", reason });
    }
    this.#become({ state: "off" });
  }

  /** Resolves with the reason when the line has ended. */
  async #live(onOpen: () => void): Promise<string> {
    const { find, version } = this.#options;
    const lock = await find();
    const wire = await openLoopbackSocket({
      port: lock.port,
      protocol: "mcp",
      headers: { [tokenHeader]: lock.token },
      maxBytes: maxMessageBytes,
      timeoutMs: handshakeMs,
    });
    const close = (): void => wire.close();
    this.#stop.signal.addEventListener("abort", close, { once: true });
    try {
      const peer = new RpcPeer((message) => wire.send(message), {
        request: ({ method }) => (method === "ping" ? { result: {} } : methodNotFound(method)),
        notice: (method, params) => this.#hear(method, asObject(params)),
      });
      wire.onMessage((message) => peer.hear(message));
      void wire.closed.then(() => peer.close());
      const hello = await this.#within(
        peer.request("initialize", {
          protocolVersion: "2025-03-26",
          capabilities: {},
          clientInfo: { name: "keel", version },
        }),
      );
      if (!hello?.ok) throw fault("link_lost", { reason: hello?.error.message ?? "the editor says nothing" });
      peer.notify("notifications/initialized", {});
      this.#peer = peer;
      onOpen();
      await this.#lookAtSelection(peer);
      this.#become({ state: "connected", name: lock.name, port: lock.port });
      this.#tried.resolve();
      return await wire.closed;
    } finally {
      this.#stop.signal.removeEventListener("abort", close);
      wire.close();
    }
  }

  /** What was selected before we came; where the editor does not say, nothing is. */
  async #lookAtSelection(peer: RpcPeer): Promise<void> {
    const asked = peer.request("tools/call", { name: "getCurrentSelection", arguments: {} });
    const answer = await this.#within(asked);
    const [text] = answer?.ok ? textsIn(answer.result) : [];
    const told = asObject(text === undefined ? undefined : parseJson(text));
    if (this.selection === undefined && told["success"] !== false) this.#hear("selection_changed", told);
  }

  async #within<T>(answer: Promise<T>): Promise<T | undefined> {
    const over = new AbortController();
    const late = this.#options.clock.sleep(handshakeMs, AbortSignal.any([over.signal, this.#stop.signal]));
    try {
      return await Promise.race([answer, late.then(() => undefined)]);
    } finally {
      over.abort();
    }
  }

  /** What is not known here is passed over. */
  #hear(method: string, params: Record<string, unknown>): void {
    if (method === "selection_changed") this.selection = selectionOf(params);
    if (method !== "at_mentioned") return;
    const { filePath, lineStart, lineEnd } = params;
    if (isPath(filePath)) this.#options.onMention({ path: filePath, ...linesOf(lineStart, lineEnd) });
  }

  #become(state: EditorState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}

/** Why, without what is said of servers. */
function reasonIn(thrown: unknown): string {
  const { message, detail } = toFault(thrown);
  return typeof detail["reason"] === "string" ? detail["reason"] : message;
}

function selectionOf({ filePath, text, selection }: Record<string, unknown>): Selection | undefined {
  if (!isPath(filePath)) return undefined;
  const { start, end, isEmpty } = asObject(selection);
  const words = typeof text === "string" && isEmpty !== true ? text.slice(0, maxSelectionCharacters) : "";
  return { path: filePath, text: words, ...linesOf(asObject(start)["line"], asObject(end)["line"]) };
}

/** The wire counts from 0. */
function linesOf(from: unknown, to: unknown): Pick<PlaceInFile, "from" | "to"> {
  if (!isLine(from)) return {};
  return { from: from + 1, to: isLine(to) ? Math.max(from, to) + 1 : from + 1 };
}

const isLine = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const isPath = (value: unknown): value is string =>
  typeof value === "string" && value.startsWith("/") && value.length <= 4_096 && !value.includes("\0");

function textsIn(result: unknown): string[] {
  const content = isObject(result) && result["isError"] !== true ? result["content"] : undefined;
  return (Array.isArray(content) ? content : []).flatMap((part) => {
    const { text } = asObject(part);
    return typeof text === "string" ? [text] : [];
  });
}

function readAnswer([word, text]: readonly string[]): ShownAnswer | undefined {
  if (word === "DIFF_REJECTED") return { verdict: "rejected" };
  if (word !== "FILE_SAVED") return undefined;
  return { verdict: "accepted", ...(text === undefined ? {} : { text }) };
}
