/** Sessions that write to each other: real homes, real sockets, a scripted model, and whoever writes to a socket by itself. */
import { mkdirSync, readdirSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { Home } from "../../keel/src/app/home.ts";
import type { OpenSession } from "../../keel/src/app/open-session.ts";
import type { Answer } from "../../keel/src/protocol/ask.ts";
import { textOf } from "../../keel/src/protocol/message.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { say, scriptedHome } from "./scripted-home.ts";

export type LetterStage = Awaited<ReturnType<typeof scriptedHome>>;

/** `tell A: words` and `tell B: words` in an input become a SendMessage; everything else is understood. */
export const obedient = (
  _: unknown,
  { lastUser, assistantTurns }: { lastUser: string; assistantTurns: number },
) => {
  const [, to, message] = /^tell (\S+): (.+)$/m.exec(lastUser) ?? [];
  return to && message
    ? reply(toolUse("SendMessage", { to, message }, `tell-${assistantTurns}`))
    : reply("Understood.");
};

export const stageOf = (settings?: object): Promise<LetterStage> =>
  scriptedHome(obedient, { settings: { permissions: { allow: ["SendMessage"] }, ...settings } });

/** One that takes letters as a person at a screen would: each question is answered as `answer` says. */
export async function openOne(
  home: Home,
  { options }: Pick<LetterStage, "options">,
  answer?: Answer,
): Promise<OpenSession & { asked(): string[] }> {
  const session = await home.open({ ...options, letters: "asked" });
  const asked: string[] = [];
  session.onEvent((event) => {
    if (event.type !== "ask.opened") return;
    asked.push(event.ask.title);
    if (answer) void session.submit({ type: "answer", askId: event.ask.id, answer });
  });
  return { ...session, asked: () => asked };
}

export const inputsOf = async (session: OpenSession): Promise<{ words: string; from: unknown }[]> =>
  (await Array.fromAsync(session.history())).flatMap((event) =>
    event.type === "input.accepted" ? [{ words: textOf(event.input.content), from: event.input.from }] : [],
  );

/** What the model of `session` heard of its SendMessage. */
export async function toldBy(session: OpenSession, to: string, message: string): Promise<string> {
  await say(session, `tell ${to}: ${message}`);
  await session.idle();
  return (await resultsOf(session)).at(-1) ?? "";
}

export const resultsOf = async (session: OpenSession): Promise<string[]> =>
  (await Array.fromAsync(session.history())).flatMap((event) =>
    event.type === "tool.finished" ? [textOf(event.content)] : [],
  );

export const socketsOf = ({ env }: Pick<LetterStage, "env">): string[] => {
  const folder = path.join(env.KEEL_HOME, "letters");
  return readdirSync(folder).map((name) => path.join(folder, name));
};

export const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** What a program that writes a line to a socket by itself is answered. */
export function askDoor(socket: string, line: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const link = connect(socket, () => link.write(`${line}\n`));
    link.on("data", (chunk) => chunks.push(chunk));
    link.on("error", () => undefined);
    link.on("close", () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Another program of the person, which does with a line what it wants. */
export async function doorAt(
  place: string,
  heard: (line: string, socket: Pick<Socket, "end">) => void,
): Promise<string> {
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
  const server = createServer((socket) => {
    socket.on("data", (chunk) => heard(chunk.toString(), socket));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(place, resolve));
  onTestFinished(() => void server.close());
  return place;
}

/** One that says yes to everything. */
export const yesDoor = (place: string): Promise<string> =>
  doorAt(place, (_, socket) => void socket.end('{"ok":true}\n'));
