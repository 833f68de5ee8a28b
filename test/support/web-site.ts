// A web of real servers on the loopback interface, and the fetcher under test, to which they are allowed.
import http from "node:http";
import type net from "node:net";
import { afterEach } from "vitest";
import type { Web, WebPage } from "../../keel/src/ports/web.ts";
import { nodeWeb, type WebOptions } from "../../keel/src/workspace/web/web.ts";

export type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void | Promise<void>;

export type TestWeb = {
  /** A server that answers every request so. */
  serve(answer: Answer): Promise<{ port: number; url: string; seen: http.IncomingMessage[] }>;
  /** Any other server: its port. */
  listen(server: net.Server): Promise<number>;
  /** The page that a server with this answer gives. */
  page(answer: Answer, options?: Partial<WebOptions>): Promise<WebPage>;
};

/** To be called at the top of a test file: whatever a test starts is closed after it. */
export function testWeb(): TestWeb {
  const open: net.Server[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) {
      if (server instanceof http.Server) server.closeAllConnections();
      server.close();
    }
  });
  const listen = async (server: net.Server): Promise<number> => {
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return address.port;
  };
  const serve: TestWeb["serve"] = async (answer) => {
    const seen: http.IncomingMessage[] = [];
    const server = http.createServer((request, response) => {
      seen.push(request);
      void answer(request, response);
    });
    const port = await listen(server);
    return { port, url: `http://127.0.0.1:${port}/`, seen };
  };
  return {
    serve,
    listen,
    async page(answer, options) {
      const { url } = await serve(answer);
      const found = await web(options).fetch(url, quiet);
      if (found.kind !== "page") throw new Error(JSON.stringify(found));
      return found.page;
    },
  };
}

export const web = (options: Partial<WebOptions> = {}): Web =>
  nodeWeb({ version: "1.2.3", allowHosts: ["127.0.0.1"], ...options });

/** Never fires. */
export const quiet: AbortSignal = new AbortController().signal;

export const send =
  (body: string | Uint8Array, headers: http.OutgoingHttpHeaders, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);
