// The way out from inside a real sandbox: what is allowed is reached, and by no other way is anybody.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ShellOutcome } from "../keel/src/ports/shell.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { builtInTools } from "../keel/src/tools/catalog.ts";
import { openProcessGuard } from "../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../keel/src/workspace/processes/shell.ts";
import { confinedGuard } from "../keel/src/workspace/sandbox/confined-guard.ts";
import { LocalSandbox } from "../keel/src/workspace/sandbox/sandbox.ts";
import { notRunHere } from "./support/not-run.ts";
import { type Host, hostAddress, openHost, openProxyStage, type Stage } from "./support/proxy-stage.ts";
import { realClock, realWorkspace } from "./support/real-workspace.ts";
import { openTestSession } from "./support/test-session.ts";
import { verifies } from "./support/verifies.ts";

const base = realpathSync(
  mkdtempSync(path.join(process.getuid?.() === 0 ? "/var/lib" : homedir(), "keel-network-")),
);
const env = { PATH: process.env["PATH"] ?? "", HOME: base, TMPDIR: path.join(base, "tmp") };
mkdirSync(env.TMPDIR);
const guard = openProcessGuard({ env });
const sandbox = new LocalSandbox({ env, guard });
const canConfine = (await sandbox.describe()).layer !== "none";
const root = path.join(base, "root");
mkdirSync(root);

let near: Host;
let web: Host;
let behind: Stage | undefined;
/** A socket of somebody else, outside. */
const foreign = path.join(base, "foreign.sock");
const calls = { foreign: 0 };
const listener = createServer((socket) => {
  calls.foreign += 1;
  socket.destroy();
});

beforeAll(async () => {
  near = await openHost((_asked, reply) => reply.end("INSIDE"), { address: "127.0.0.1" });
  web = await openHost((_asked, reply) => reply.end("the web"));
  await new Promise<void>((resolve) => listener.listen(foreign, resolve));
});
afterEach(async () => {
  await behind?.close();
  behind = undefined;
});
afterAll(async () => {
  await sandbox.close();
  await Promise.all([near.close(), web.close(), new Promise((resolve) => listener.close(resolve))]);
  await guard.close();
  rmSync(base, { recursive: true, force: true });
});

const inward: Readonly<Record<string, string>> = {
  "loop.allowed.example": "127.0.0.1",
  "meta.allowed.example": "169.254.169.254",
  "mapped.allowed.example": "::ffff:127.0.0.1",
  "six.allowed.example": "::1",
  "private.allowed.example": "10.0.0.1",
};

async function run(text: string): Promise<ShellOutcome> {
  const opened = await openProxyStage({
    allowed: ["web.example", "*.allowed.example", hostAddress],
    names: (name) => [inward[name] ?? hostAddress],
  });
  behind = opened;
  const confinement = {
    writable: [root],
    unwritable: [],
    unreadable: [],
    readable: [],
    scratch: [],
    unixSockets: [],
    nested: "refused",
    egress: opened.proxy,
  } as const;
  const shell = nodeShell({ env, guard, inside: confinedGuard(guard, () => sandbox.open(confinement)) });
  const started = await shell.start({ text, cwd: root, timeoutMs: 60_000, maxBytes: 100_000 });
  return started.over;
}

test("an allowed host is reached by HTTP, through a tunnel and by SOCKS, with what the environment says", async () => {
  verifies("S2.48");
  if (!canConfine) return notRunHere("the way out of a sandbox", "none can be made");
  const { output, violations } = await run(
    [
      `curl -sS http://web.example:${web.port}/ && echo`,
      `curl -sS -p http://web.example:${web.port}/ && echo`,
      `curl -sS --proxy $ALL_PROXY http://web.example:${web.port}/ && echo`,
    ].join("\n"),
  );
  expect(output).toBe("the web\nthe web\nthe web\n");
  expect(violations).toEqual([]);
});

test("no name, address, spelling, protocol or socket leads anywhere else; what the proxy refused is told by its host", async () => {
  verifies("P10", "S2.48");
  if (!canConfine) return notRunHere("the way out of a sandbox", "none can be made");
  const before = web.connections();
  const asked = [
    "other.example",
    "169.254.169.254",
    "metadata.google.internal",
    "127.0.0.1",
    "10.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[fd00:ec2::254]",
    "[64:ff9b::7f00:1]",
    ...Object.keys(inward),
  ];
  const through = asked.flatMap((host) => [
    `curl -sS --max-time 5 --noproxy '' http://${host}:${near.port}/`,
    `curl -sS --max-time 5 --noproxy '' -p http://${host}:${near.port}/`,
    `curl -sS --max-time 5 --noproxy '' --proxy $ALL_PROXY http://${host}:${near.port}/`,
  ]);
  const past = [
    ...asked.map((host) => `curl -sS --max-time 3 --noproxy '*' http://${host}:${near.port}/`),
    ...["0x7f.1", "2130706433", "127.1"].map(
      (host) => `curl -sS --max-time 5 --noproxy '' http://${host}:${near.port}/`,
    ),
    `env -i curl -sS --max-time 3 http://${hostAddress}:${web.port}/`,
    `exec 3<>/dev/tcp/${hostAddress}/${web.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`,
    `exec 3<>/dev/tcp/127.0.0.1/${near.port} && cat <&3`,
    `echo x > /dev/udp/${hostAddress}/53; getent hosts web.example; ping -c1 -W1 ${hostAddress}`,
    `curl -sS --max-time 3 --unix-socket ${foreign} http://x/`,
  ].map((line) => `( ${line} )`);
  const { output, violations = [] } = await run([...through, ...past].join("\n"));
  expect(output).not.toContain("INSIDE");
  expect(output).not.toContain("the web");
  expect({ near: near.connections(), web: web.connections() - before, ...calls }).toEqual({
    near: 0,
    web: 0,
    foreign: 0,
  });
  const told = violations.flatMap(({ kind, target }) => (kind === "network" ? [target] : []));
  const plain = new Map([
    ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
    ["[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]"],
  ]);
  for (const host of asked) expect(told, host).toContain(`${plain.get(host) ?? host}:${near.port}`);
});

test("while a command runs, who is there is asked about a host that nobody decided; the answer is told, and then nobody asks any more", async () => {
  verifies("S2.48");
  const told: unknown[] = [];
  const answered = Promise.withResolvers<void>();
  const session = await openTestSession({
    tools: builtInTools(),
    clock: realClock,
    workspace: {
      ...realWorkspace({ cwd: root }),
      sandbox: {
        autoAllow: false,
        mayLeave: true,
        excluded: [],
        note: (_command, violations) => violations,
        refused: () => [],
        answering(ask) {
          void ask({ host: "a.example", port: 443 }).then((verdict) => {
            told.push(verdict);
            answered.resolve();
          });
          return () => told.push("over");
        },
      },
    },
    script: { replies: [reply(toolUse("Bash", { command: "sleep 0.3" })), reply("done")] },
    answer: ({ title }) => ({ verdict: title.startsWith("Let commands reach") ? "deny" : "allow" }),
  });
  await session.say("go");
  await answered.promise;
  expect(told).toEqual(["deny", "over"]);
  expect(session.all("ask.opened").map(({ ask: { title, tool } }) => [title, tool])).toContainEqual([
    "Let commands reach a.example:443?",
    "Bash",
  ]);
});
