// The built server at its doors: TLS, pairing by the command, and another user of the same machine.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, pairDevice } from "../../keel/src/client/connect.ts";
import { notRunHere } from "../support/not-run.ts";
import { rawRequest } from "../support/raw-http.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { selfSigned } from "../support/self-signed.ts";
import { verifies } from "../support/verifies.ts";
import { keel, launcher } from "./command.ts";
import { type DoorServer, type DoorServerOptions, startDoorServer } from "./door-stage.ts";
import { until, watch } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

async function start(options?: DoorServerOptions): Promise<DoorServer> {
  const server = await startDoorServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Files of a certificate that was made for this test. */
function certificate(): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { cert, key } = selfSigned();
  const [certFile, keyFile] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return ["--tls-cert", certFile, "--tls-key", keyFile];
}

describe("keel serve with TLS", () => {
  test("is reached by its address and by the name in front of it, which its links carry", async () => {
    const server = await start({ args: [...certificate(), "--public-url", "https://keel.example"] });
    const { port, url, secret, link } = server;
    expect(url).toBe(`https://127.0.0.1:${port}`);
    expect(link).toMatch(/^https:\/\/keel\.example\/\?token=/);
    const status = async (headers: Record<string, string>) => {
      const asked = { path: "/api/status", headers: { ...headers, Authorization: `Bearer ${secret}` } };
      return (await rawRequest({ port, tls: "not checked" }, asked)).status;
    };
    expect(await status({ Host: `127.0.0.1:${port}` })).toBe(200);
    expect(await status({ Host: "keel.example", Origin: "https://keel.example" })).toBe(200);
    expect(await status({ Host: "evil.example" })).toBe(421);
    const headers = {
      Host: "keel.example",
      Origin: "https://keel.example",
      Authorization: `Bearer ${secret}`,
    };
    const socket = await rawSocket({ port, tls: "not checked" }, { path: "/ws", headers });
    onTestFinished(() => void socket.socket.destroy());
    expect(socket.answer.status).toBe(101);
  });

  test("does not begin where its secret would travel in the open", async () => {
    const { cwd, env } = await start();
    const home = { ...env, KEEL_HOME: path.join(cwd, "another") };
    const refused = async (...args: string[]) => {
      const { code, stderr, stdout } = await keel(["serve", ...args], { cwd, env: home });
      expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
      return stderr;
    };
    expect(await refused("--port", "0", "--host", "0.0.0.0")).toContain("--tls-cert");
    expect(await refused("--port", "0", "--tls-cert", "/cert.pem")).toContain("--tls-key");
    expect(await refused("--port", "0", "--public-url", "http://keel.example")).toContain("https");
    expect(await refused("--host", "127.0.0.1")).toContain("--port");
  });
});

describe("keel serve pair", () => {
  test("lets a device in when the person says that both show the same digits", async () => {
    verifies("P26");
    if (!hasTerminal()) return notRunHere("pairing on a terminal", "script of util-linux absent");
    const { cwd, env, url, client } = await start();
    const running = startOnTerminal(["serve", "pair", "--name", "My phone", "--access", "watch"], {
      project: cwd,
      env,
    });
    await until("a code", () => /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.test(running.out()));
    const code = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.exec(running.out())?.[0] ?? "";
    expect(running.out()).toContain(`${url}/pair`);
    // A picture of the same, for a camera.
    expect(running.out()).toContain("\u001b[30;107m");
    let digits = "";
    const paired = pairDevice({
      url,
      code,
      name: "a name of its own",
      keep: "bearer",
      onDigits: (shown) => {
        digits = shown;
      },
    });
    await until("the question", () => running.out().includes("Let it in?"));
    expect(running.out()).toContain(`${digits.slice(0, 3)} ${digits.slice(3)}`);
    expect(running.out()).toContain("My phone has come with the code");
    running.child.stdin?.write("y\n");
    const { secret, access, device } = await paired;
    expect(access).toBe("watch");
    expect((await running.ended).code).toBe(0);

    const phone = connect({ url, secret });
    onTestFinished(() => phone.close());
    expect(await phone.sessions()).toEqual([]);
    await expect(phone.open({ cwd })).rejects.toMatchObject({ code: "access_refused" });
    const listed = await keel(["serve", "devices"], { cwd, env });
    expect(listed.stdout).toContain(`${device}  My phone: may watch`);
    const cut = new Promise<void>((resolve) => {
      phone.onLink((status) => {
        if (status.state !== "connected") resolve();
      });
    });
    expect((await keel(["serve", "devices", "remove", device], { cwd, env })).code).toBe(0);
    await cut;
    expect((await client.devices.list()).map(({ id }) => id)).not.toContain(device);
    expect((await keel(["serve", "devices", "remove", device], { cwd, env })).code).toBe(1);
  });

  test("lets nobody in where no person can compare, unless it is said so", async () => {
    const { cwd, env, url } = await start();
    expect((await keel(["serve", "pair"], { cwd, env })).code).toBe(64);
    const child = spawn(launcher, ["serve", "pair", "--yes", "--json"], { cwd, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      out += chunk;
    });
    await until("a code", () => out.includes("\n"));
    const { code } = JSON.parse(out.split("\n")[0] ?? "");
    const { secret } = await pairDevice({
      url,
      code,
      name: "A program",
      keep: "bearer",
      onDigits: () => undefined,
    });
    expect(secret).toMatch(/^[\w-]{43}$/);
    await new Promise((resolve) => child.once("close", resolve));
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).state),
    ).toEqual([undefined, "claimed", ...(out.includes('"allowed"') ? ["allowed"] : []), "paired"]);
    // A secret that was told once is nowhere else.
    expect(out).not.toContain(secret);
  });
});

/** What somebody else on this machine tries, and what the system or the server says to it. Runs as that user. */
const intrusion = `
const fs = require("node:fs");
const net = require("node:net");
const { socket, port, files, folders } = JSON.parse(process.argv[1]);
const attempt = (work) => { try { work(); return "done"; } catch (thrown) { return thrown.code; } };
const dial = (where) => new Promise((resolve) => {
  const client = net.connect(where, () => { client.destroy(); resolve("connected"); });
  client.on("error", (thrown) => resolve(thrown.code));
});
const ask = async (path, headers) => (await fetch("http://127.0.0.1:" + port + path, { headers })).status;
(async () => {
  const told = { uid: process.getuid(), socket: await dial({ path: socket }), port: await dial({ port, host: "127.0.0.1" }) };
  for (const file of files) told[file] = attempt(() => fs.readFileSync(file));
  for (const folder of folders) told[folder] = attempt(() => fs.readdirSync(folder));
  told.planted = attempt(() => fs.writeFileSync(folders[0] + "/devices.json", "{}"));
  told.replaced = attempt(() => fs.unlinkSync(socket));
  told.asked = [await ask("/api/sessions", {}), await ask("/api/sessions", { authorization: "Bearer guess" }), await ask("/?token=guess", {})];
  console.log(JSON.stringify(told));
})();
`;

test("another user of the same machine gets nothing: not by the port, not by the socket, not by a file", async () => {
  verifies("G41");
  if (process.getuid?.() !== 0) return notRunHere("another user", "only root can become one");
  const server = await start();
  // As homes usually are: others may look into them.
  for (const folder of [server.folder, server.home]) chmodSync(folder, 0o755);
  const files = [
    server.secretFile,
    path.join(server.home, "server/devices.json"),
    path.join(server.home, "server/running.json"),
  ];
  const folders = [path.join(server.home, "server"), path.join(server.home, "run")];
  const asked = JSON.stringify({ socket: server.socket, port: server.port, files, folders });
  const nobody = { uid: 65_534, gid: 65_534 };
  const node = realpathSync(process.execPath);
  const child = spawn(node, ["-e", intrusion, asked], { ...nobody, cwd: "/", env: {} });
  const { code, stdout, stderr } = await watch(child).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    uid: nobody.uid,
    socket: "EACCES",
    // That there is a server is no secret; what it has is.
    port: "connected",
    ...Object.fromEntries([...files, ...folders].map((place) => [place, "EACCES"])),
    planted: "EACCES",
    replaced: "EACCES",
    asked: [401, 401, 401],
  });
  // The one who owns it comes in by the same ways.
  const own = await keel(["serve", "--status"], { cwd: server.cwd, env: server.env });
  expect(own.code).toBe(0);
});

test("nothing of a secret is shown by the list of processes", async () => {
  const { pid, secret, startCode } = await start();
  for (const what of ["cmdline", "environ"]) {
    const shown = readFileSync(`/proc/${pid}/${what}`, "utf8");
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(startCode);
  }
});
