// An editor as programs find one: a WebSocket server of MCP on loopback, and the file that says where and for whom.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { asObject, type JsonObject } from "../../keel/src/kernel/json.ts";

export type EditorCall = { readonly name: string; readonly arguments: Record<string, unknown> };

export type FakeEditor = {
  readonly port: number;
  readonly lock: string;
  /** The headers of every attempt to come in. */
  readonly knocks: IncomingHttpHeaders[];
  readonly calls: EditorCall[];
  readonly methods: string[];
  /** How many are connected now. */
  readonly guests: () => number;
  tell(method: string, params: JsonObject): void;
  /** Something as it is. */
  send(text: string): void;
  /** As a process that is killed: every line is cut, nobody listens, its file stays. */
  kill(): Promise<void>;
};

export type FakeEditorOptions = {
  /** Where its file is written. */
  readonly folder: string;
  readonly folders: readonly string[];
  readonly name?: string;
  readonly token?: string;
  /** What its file says, where that is something else. */
  readonly said?: JsonObject;
  readonly mode?: number;
  /** When the file was written, in place of now. */
  readonly writtenAt?: Date;
  readonly port?: number;
  /** `ignored`: it knows nothing of what is offered to be spoken. */
  readonly protocols?: "ignored";
  /** Undefined: it never answers. */
  answer?(call: EditorCall): readonly string[] | undefined | Promise<readonly string[] | undefined>;
};

export const tokenHeader = "x-claude-code-ide-authorization";

export async function startEditor(options: FakeEditorOptions): Promise<FakeEditor> {
  const {
    folder,
    folders,
    name = "Testvim",
    token = "a-token-of-the-editor",
    said = {},
    mode = 0o600,
  } = options;
  const http = createServer();
  const sockets = new WebSocketServer({
    noServer: true,
    ...(options.protocols === "ignored" ? { handleProtocols: () => false as const } : {}),
  });
  const knocks: IncomingHttpHeaders[] = [];
  const calls: EditorCall[] = [];
  const methods: string[] = [];
  http.on("upgrade", (request, socket, head) => {
    knocks.push(request.headers);
    // As editors do since pages of the web came in: who names an origin, or not the token, stays outside.
    const isWelcome = request.headers[tokenHeader] === token && request.headers.origin === undefined;
    if (!isWelcome) return void socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (guest) =>
      guest.on("message", (data) => void hear(guest, String(data))),
    );
  });
  const hear = async (guest: WebSocket, text: string): Promise<void> => {
    const { id, method, params } = asObject(JSON.parse(text));
    if (typeof method !== "string") return;
    methods.push(method);
    if (id === undefined) return;
    const reply = (body: object): void => guest.send(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    if (method === "initialize")
      return reply({
        result: { protocolVersion: "2025-03-26", capabilities: {}, serverInfo: { name, version: "1" } },
      });
    if (method !== "tools/call") return reply({ error: { code: -32_601, message: "Method not found" } });
    const call = {
      name: String(asObject(params)["name"]),
      arguments: asObject(asObject(params)["arguments"]),
    };
    calls.push(call);
    const texts = await options.answer?.(call);
    if (texts) reply({ result: { content: texts.map((part) => ({ type: "text", text: part })) } });
    else if (call.name !== "openDiff") reply({ error: { code: -32_602, message: "Unknown tool" } });
  };
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, "127.0.0.1", resolve));
  const address = http.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  const { port } = address;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = path.join(folder, `${port}.lock`);
  const body = {
    pid: process.pid,
    workspaceFolders: folders,
    ideName: name,
    transport: "ws",
    authToken: token,
    ...said,
  };
  writeFileSync(lock, JSON.stringify(body), { mode });
  if (options.writtenAt) utimesSync(lock, options.writtenAt, options.writtenAt);
  const kill = async (): Promise<void> => {
    for (const guest of sockets.clients) guest.terminate();
    http.closeAllConnections();
    await new Promise<void>((resolve) => http.close(() => resolve()));
  };
  onTestFinished(async () => {
    rmSync(lock, { force: true });
    if (http.listening) await kill();
  });
  return {
    port,
    lock,
    knocks,
    calls,
    methods,
    guests: () => [...sockets.clients].filter(({ readyState }) => readyState === 1).length,
    tell: (method, params) => {
      for (const guest of sockets.clients) guest.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
    },
    send: (text) => {
      for (const guest of sockets.clients) guest.send(text);
    },
    kill,
  };
}
