/** A relay: what a session streams goes as JSON to whoever is connected for it. No log, no order, no bounds, no ping. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { runProgram } from "../program.ts";
import { measureServing, type ServingPlan } from "../serving.ts";

await runProgram(async ({ sessions: count, ...plan }: ServingPlan & { sessions: number }) => {
  const rooms = new Map(
    Array.from({ length: count }, (_, index) => [
      randomUUID() as string,
      { callId: `toolu_${String(index).padStart(6, "0")}`, sockets: new Set<WebSocket>() },
    ]),
  );
  const server = createServer();
  new WebSocketServer({ server }).on("connection", (socket, request) => {
    const sockets = rooms.get(request.url?.slice(1) ?? "")?.sockets;
    sockets?.add(socket);
    socket.on("close", () => sockets?.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const startedAt = performance.now();
  const all = [...rooms];
  const costs = await measureServing(plan, {
    speaks: "relay",
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions: [...rooms.keys()],
    server,
    delta(stream, text) {
      const [session = "", room] = all[stream] ?? [];
      const frame = JSON.stringify({
        type: "event",
        id: 1,
        event: {
          type: "tool.progress",
          callId: room?.callId,
          tool: "Stream",
          elapsedMs: Math.round(performance.now() - startedAt),
          display: { kind: "text", text },
          at: Date.now(),
          session,
        },
      });
      for (const socket of room?.sockets ?? []) socket.send(frame);
    },
  });
  server.close();
  return costs;
});
