/** The least page that could show the same: no library, no style, a socket that says what to show. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** What is said to it: `+` and text to append to its one node, or the number of a line and its new text. */
export const barePage = (lines: number): string => `<!doctype html>
<meta charset="utf-8"><title>Bare</title>
<textarea aria-label="Message"></textarea>
<main style="white-space: pre-wrap"></main>
<script>
const main = document.querySelector("main");
const lines = Array.from({ length: ${lines} }, (_, at) => new Text("line " + at));
for (const line of lines) {
  const place = document.createElement("p");
  place.append(line);
  main.append(place);
}
const grown = new Text("");
main.append(grown);
window.received = 0;
new WebSocket("ws://" + location.host).onmessage = ({ data }) => {
  window.received += 1;
  if (data[0] === "+") grown.appendData(data.slice(1));
  else lines[parseInt(data)].data = data.slice(data.indexOf(" ") + 1);
};
</script>
`;

export type BareServer = {
  readonly url: string;
  /** To every page that is open. */
  say(message: string): void;
  close(): Promise<void>;
};

/** `/?lines=N` has so many lines. */
export async function startBareServer(): Promise<BareServer> {
  const server = createServer(({ url = "/" }, response) => {
    const lines = Number(new URL(url, "http://bare").searchParams.get("lines") ?? 0);
    response.writeHead(200, { "content-type": "text/html" }).end(barePage(lines));
  });
  const sockets = new Set<WebSocket>();
  const wires = new WebSocketServer({ server });
  wires.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say: (message) => {
      for (const socket of sockets) socket.send(message);
    },
    close: async () => {
      for (const socket of sockets) socket.terminate();
      server.close();
    },
  };
}
