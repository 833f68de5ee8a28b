// A home with the built server over it, for tests of its life and of those who attach.
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { ServerState } from "../../keel/src/app/sessions/home-server.ts";
import { connectLocally } from "../../keel/src/app/sessions/home-server.ts";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { command, openStage, type Stage } from "./stage.ts";

export type ServeStage = Stage & {
  /** In the foreground of a process of ours. */
  serve(...more: string[]): Promise<{ readonly child: ChildProcess; readonly state: ServerState }>;
  /** In the background; it is ended with the test. */
  detach(...more: string[]): Promise<ServerState>;
};

export async function openServeStage(...script: Parameters<typeof openStage>): Promise<ServeStage> {
  const stage = await openStage(...script);
  const started: number[] = [];
  onTestFinished(() => {
    for (const pid of started) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  });
  return {
    ...stage,
    async serve(...more) {
      const child = spawn(command, ["serve", "--json", ...more], {
        cwd: stage.project,
        env: { PATH: process.env["PATH"], ...stage.env },
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      for await (const line of createInterface({ input: child.stdout }))
        return { child, state: JSON.parse(line) };
      throw new Error("the server said nothing");
    },
    async detach(...more) {
      const { code, stdout, stderr } = await stage.run(["serve", "--detach", "--json", ...more]);
      if (code !== 0) throw new Error(stderr);
      const state: ServerState = JSON.parse(stdout);
      started.push(state.pid);
      return state;
    },
  };
}

/** By the unix socket, or by the port where it has one. */
export async function clientOf(
  { socket, url, secretFile }: ServerState,
  via: "socket" | "websocket" | "sse" = "socket",
): Promise<KeelClient> {
  const client =
    via === "socket" || url === undefined
      ? connectLocally(socket)
      : connect({ url, via, secret: (await readFile(secretFile, "utf8")).trim() });
  onTestFinished(() => client.close());
  return client;
}

export async function heardUntil(
  events: AsyncIterable<Envelope>,
  isLast: (event: Envelope) => boolean,
): Promise<Envelope[]> {
  const heard: Envelope[] = [];
  for await (const event of events) {
    heard.push(event);
    if (isLast(event)) break;
  }
  return heard;
}

export const isTurnEnd = ({ type, origin }: Envelope): boolean => type === "turn.finished" && !origin;

export const words = (text: string) => ({
  type: "input" as const,
  content: [{ type: "text" as const, text }],
});
