/** A real server of IRC on this machine, where ngIRCd is installed. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const places = ["/usr/sbin/ngircd", "/usr/local/sbin/ngircd", "/opt/homebrew/sbin/ngircd"];

export const ngircd = (): string | undefined =>
  places.find((place) => spawnSync(place, ["--version"]).status === 0);

export type IrcServer = {
  readonly port: number;
  /** As if the power went. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

export async function startNgircd(program: string): Promise<IrcServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-ngircd-"));
  const port = await freePort();
  const file = path.join(folder, "ngircd.conf");
  writeFileSync(
    file,
    `[Global]
Name = irc.keel.test
Info = a server for tests
Listen = 127.0.0.1
Ports = ${port}
MotdPhrase = hello
PidFile =
[Limits]
MaxConnectionsIP = 0
MaxJoins = 0
[Options]
DNS = no
Ident = no
PAM = no
SyslogFacility = local7
`,
  );
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
  const start = async (): Promise<void> => {
    child = spawn(program, ["-n", "-f", file], { stdio: "ignore" });
    for (let tries = 0; tries < 200; tries++) {
      if (await reachable(port)) return;
      await pause(25);
    }
    throw new Error("ngIRCd does not listen");
  };
  await start();
  return {
    port,
    kill,
    start,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const reachable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  server.close();
  return address !== null && typeof address === "object" ? address.port : 0;
}

/** Somebody in a room, by lines of the protocol itself. */
export async function ircPerson(port: number, nick: string, room: string) {
  const heard: { readonly from: string; readonly text: string }[] = [];
  const socket = net.connect(port, "127.0.0.1");
  const joined = Promise.withResolvers<void>();
  let rest = "";
  socket.on("error", () => undefined);
  socket.on("data", (data) => {
    const lines = (rest + data.toString("utf8")).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("PING")) socket.write(`PONG${line.slice(4)}\r\n`);
      if (/^:\S+ 001 /.test(line)) socket.write(`JOIN ${room}\r\n`);
      if (/^:\S+ 366 /.test(line)) joined.resolve();
      const [, from = "", text] = /^:([^!]+)!\S+ PRIVMSG \S+ :(.*)$/.exec(line) ?? [];
      if (text !== undefined) heard.push({ from, text });
    }
  });
  socket.write(`NICK ${nick}\r\nUSER ${nick} 0 * :${nick}\r\n`);
  await joined.promise;
  return {
    heard,
    say: (text: string, to = room) => void socket.write(`PRIVMSG ${to} :${text}\r\n`),
    leave: () => void socket.destroy(),
  };
}
