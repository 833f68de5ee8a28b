/** A real HTTP server on the loopback interface. */
import http from "node:http";
import net from "node:net";

export type LoopbackRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};

export type Loopback = {
  readonly url: string;
  /** The requests so far. */
  readonly seen: LoopbackRequest[];
  connections(): number;
  close(): Promise<void>;
};

export async function loopback(
  answer: (response: http.ServerResponse, seen: LoopbackRequest) => void | Promise<void>,
): Promise<Loopback> {
  const seen: LoopbackRequest[] = [];
  let connections = 0;
  const server = http.createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
    seen.push(one);
    await answer(response, one);
  });
  server.on("connection", () => {
    connections += 1;
  });
  return { ...(await listening(server)), seen, connections: () => connections };
}

/** A server below HTTP: `talk` gets each connection. */
export async function rawLoopback(
  talk: (socket: net.Socket) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    talk(socket);
  });
  const { url, close } = await listening(server);
  return {
    url,
    async close() {
      for (const socket of sockets) socket.destroy();
      await close();
    },
  };
}

async function listening(server: net.Server | http.Server): Promise<{ url: string; close(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        if (server instanceof http.Server) server.closeAllConnections();
      }),
  };
}
