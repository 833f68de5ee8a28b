/** A server in the process that is measured: it says when a request is there, by the same clock. */
import type { AddressInfo } from "node:net";
import { http } from "./bare-loop.ts";

export type Arrivals = {
  readonly url: string;
  /** When the next request is there. */
  next(): Promise<number>;
  close(): void;
};

export async function startArrivals(): Promise<Arrivals> {
  let tell: ((at: number) => void) | undefined;
  const server = http.createServer((request, response) => {
    tell?.(performance.now());
    tell = undefined;
    request
      .resume()
      .on("end", () => response.writeHead(400, { "content-type": "application/json" }).end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: () =>
      new Promise((resolve) => {
        tell = resolve;
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
