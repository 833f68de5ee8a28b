/** One language server: started when it is first needed, one document open at a time, asked what is wrong with a text. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { whenAborted } from "../../kernel/abort.ts";
import { asList, asObject, isObject, type Json } from "../../kernel/json.ts";
import type { ProcessEnvironment } from "../processes/environment.ts";
import { spawnGuarded } from "../processes/guarded-child.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";

import { type CheckedText, type DiagnosticFinding, errorsIn } from "./finding.ts";
import { openPeer, type Peer } from "./peer.ts";

export type LanguageServer = {
  /** The errors of a text, as the server sees it at this path; or why it does not say. */
  errors(file: DocumentText, signal: AbortSignal): Promise<CheckedText>;
  /** Settles when it has ended. */
  readonly over: Promise<string>;
  close(): Promise<void>;
};

/** `saved`: the disk has this text too. */
export type DocumentText = { readonly path: string; readonly text: string; readonly as: "draft" | "saved" };

/** Servers that publish by themselves say first what is quickly found: it counts when they have been silent so long. */
const settleMs = 200;
/** Time to say goodbye before it is ended. */
const goodbyeMs = 300;
const graceMs = 300;
/** What is kept of what it complains about. */
const maxComplaint = 500;
const serverCancelled = -32802;
const maxTries = 5;
const changedFile = 2;

export type LanguageServerOptions = {
  readonly command: string;
  readonly root: string;
  readonly language: (path: string) => string;
  readonly options: Json;
  readonly env: ProcessEnvironment;
  readonly guard: ProcessGuard;
};

export async function openLanguageServer(
  given: LanguageServerOptions,
  signal: AbortSignal,
): Promise<LanguageServer | { why: string }> {
  const { root, language, options } = given;
  const server = await startServer(given);
  const published = new Published();
  const folder = { uri: pathToFileURL(root).href, name: "workspace" };
  const peer = openPeer({
    input: server.input,
    output: server.output,
    onNotice: (method, params) => {
      if (method === "textDocument/publishDiagnostics") published.hear(params);
    },
    answer: (method, params) => answerTo(method, params, folder),
  });
  const over = Promise.race([server.over, peer.over]);
  const begun = await peer.request("initialize", beginning(folder, options), signal);
  if (!begun.ok) {
    // What its process has to say about its end is more than that it ended.
    const why = await Promise.race([server.over, sleep(50).then(() => begun.why)]);
    await server.stop();
    return { why };
  }
  peer.notify("initialized", {});
  const { capabilities } = asObject(begun.result);
  const pulls = asObject(capabilities)["diagnosticProvider"] !== undefined;
  const document = new OpenDocument(peer, language, published);
  return {
    over,
    async errors({ path, text, as }, within) {
      const uri = document.show(path, text);
      if (as === "saved") document.tellSaved(uri);
      return pulls
        ? pull(peer, uri, within)
        : published.settled(path, { version: document.version, within, over });
    },
    async close() {
      const soon = AbortSignal.timeout(goodbyeMs);
      if ((await peer.request("shutdown", undefined, soon)).ok) peer.notify("exit", undefined);
      await server.stop();
    },
  };
}

/** The command is run by bash, which becomes its program. `over` settles with what there is to say about its end. */
async function startServer({ command, root: cwd, env, guard }: LanguageServerOptions) {
  const program = { file: "bash", args: ["-c", `exec ${command}`], cwd, env: {} };
  const { child, end, release } = await spawnGuarded(program, { env, guard });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-maxComplaint);
  });
  const over = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`it could not be started: ${error.message}`));
    child.once("exit", (code, signal) =>
      resolve([`it ended with ${code ?? signal}`, complaint.trim()].filter(Boolean).join(": ")),
    );
  });
  const stop = async (): Promise<void> => {
    await end(graceMs);
    release();
  };
  return { input: child.stdin, output: child.stdout, over, stop };
}

const beginning = (folder: { uri: string; name: string }, options: Json): Json => ({
  // Under the guard our number means another process or none: a server that watches it would end at once.
  processId: null,
  clientInfo: { name: "keel" },
  rootUri: folder.uri,
  workspaceFolders: [folder],
  initializationOptions: options,
  capabilities: {
    textDocument: {
      synchronization: { didSave: true },
      publishDiagnostics: { versionSupport: true },
      diagnostic: { dynamicRegistration: false },
    },
    workspace: { configuration: true, workspaceFolders: true },
  },
});

function answerTo(method: string, params: unknown, folder: Json): Json | undefined {
  switch (method) {
    case "workspace/configuration":
      return asList(asObject(params)["items"]).map(() => null);
    case "workspace/workspaceFolders":
      return [folder];
    case "client/registerCapability":
    case "client/unregisterCapability":
    case "window/workDoneProgress/create":
    case "window/showMessageRequest":
    case "workspace/diagnostic/refresh":
      return null;
    default:
      return undefined;
  }
}

/** What the server has open. Only one document: of every other file it reads the disk, which commands change too. */
class OpenDocument {
  readonly #peer: Peer;
  readonly #language: (path: string) => string;
  readonly #published: Published;
  #open: { path: string; uri: string; text: string } | undefined;
  version = 0;

  constructor(peer: Peer, language: (path: string) => string, published: Published) {
    this.#peer = peer;
    this.#language = language;
    this.#published = published;
  }

  show(path: string, text: string): string {
    const uri = pathToFileURL(path).href;
    const open = this.#open;
    if (open?.path === path && open.text === text) return uri;
    this.version += 1;
    this.#published.forget(path);
    this.#open = { path, uri, text };
    if (open?.path === path) {
      this.#peer.notify("textDocument/didChange", {
        textDocument: { uri, version: this.version },
        contentChanges: [{ text }],
      });
      return uri;
    }
    const textDocument = { uri, languageId: this.#language(path), version: this.version, text };
    this.#peer.notify("textDocument/didOpen", { textDocument });
    // Closed after the next one is open, so that a project with no other open file is not unloaded in between.
    if (open) this.#peer.notify("textDocument/didClose", { textDocument: { uri: open.uri } });
    return uri;
  }

  /** Some look only at what is saved, and some only at files whose change they were told. */
  tellSaved(uri: string): void {
    this.#peer.notify("workspace/didChangeWatchedFiles", { changes: [{ uri, type: changedFile }] });
    this.#peer.notify("textDocument/didSave", { textDocument: { uri } });
  }
}

async function pull(peer: Peer, uri: string, signal: AbortSignal): Promise<CheckedText> {
  for (let tries = 0; ; tries++) {
    const answered = await peer.request("textDocument/diagnostic", { textDocument: { uri } }, signal);
    if (answered.ok) return { ok: true, errors: errorsIn(asObject(answered.result)["items"]) };
    // It is busy with something newer and wants to be asked again.
    if (answered.code !== serverCancelled || tries === maxTries) return { ok: false, why: answered.why };
    await sleep(settleMs);
  }
}

/** What the server says by itself, the newest of each file. */
class Published {
  readonly #newest = new Map<
    string,
    { version: number | undefined; errors: readonly DiagnosticFinding[]; at: number }
  >();
  #heard = Promise.withResolvers<void>();

  hear(params: unknown): void {
    if (!isObject(params) || typeof params["uri"] !== "string") return;
    const path = pathOf(params["uri"]);
    if (path === undefined) return;
    const version = typeof params["version"] === "number" ? params["version"] : undefined;
    this.#newest.set(path, { version, errors: errorsIn(params["diagnostics"]), at: performance.now() });
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }

  forget(path: string): void {
    this.#newest.delete(path);
  }

  async settled(
    path: string,
    { version, within, over }: { version: number; within: AbortSignal; over: Promise<string> },
  ): Promise<CheckedText> {
    let ended: string | undefined;
    void over.then((why) => {
      ended = why;
    });
    const stopped = whenAborted(within);
    while (!within.aborted) {
      const known = this.#newest.get(path);
      const isOurs = known && (known.version === undefined || known.version >= version);
      const leftMs = isOurs ? known.at + settleMs - performance.now() : undefined;
      if (known && leftMs !== undefined && leftMs <= 0) return { ok: true, errors: known.errors };
      if (ended !== undefined) return { ok: false, why: ended };
      await Promise.race([
        this.#heard.promise,
        stopped,
        over,
        ...(leftMs === undefined ? [] : [sleep(leftMs)]),
      ]);
    }
    return { ok: false, why: "it took too long" };
  }
}

function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined; // Not a file: none that we asked about.
  }
}
