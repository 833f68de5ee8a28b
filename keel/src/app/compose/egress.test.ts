// The way out as settings have it, with a real host; and the same verdict for tools and commands.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostAddress, openHost, runBehind, testAuthority } from "../../../../test/support/proxy-stage.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { noRules, type Rules } from "../../policy/decide.ts";
import { parseRule } from "../../policy/rules.ts";
import { type EgressOptions, type OpenedEgress, openEgress } from "./egress.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "keel-egress-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = (
  settings: Pick<EgressOptions, "network"> & { sandbox?: KeelSettings["sandbox"] },
  more: { env?: Record<string, string>; rules?: Rules } = {},
): Promise<OpenedEgress> =>
  openEgress({
    settings,
    network: settings.network,
    env: more.env ?? {},
    rules: () => more.rules ?? noRules,
    folder: path.join(folder, "way-out"),
    lookUp: async () => [hostAddress],
    roots: testAuthority.cert,
  });

describe("keys of the settings", () => {
  test("come from a variable, a file or a keychain, and commands hold placeholders", async () => {
    verifies("P44");
    const file = path.join(folder, "token");
    writeFileSync(file, "from-a-file-1234\n");
    const env = { FIRST: "from-a-variable", GONE: "never-to-be-seen", COPY: "x from-a-variable x" };
    const way = await opened(
      {
        sandbox: {
          credentials: {
            envVars: [
              { name: "FIRST", mode: "mask", injectHosts: ["a.example"] },
              { name: "SECOND", mode: "mask", injectHosts: ["a.example"], file, basic: "me" },
              { name: "GONE", mode: "deny" },
              { name: "ABSENT", mode: "mask" },
              { name: "SHORT", mode: "mask" },
            ],
          },
        },
      },
      { env: { ...env, SHORT: "abc" } },
    );
    const held = way.masked({ ...env, SHORT: "abc", PATH: "/bin" });
    expect(Object.keys(held).toSorted()).toEqual(["COPY", "FIRST", "PATH", "SECOND"]);
    expect(JSON.stringify(held)).not.toMatch(/from-a-|never/);
    expect(way.unreadable).toEqual([file]);
    expect(way.problems).toEqual([
      "sandbox.credentials: ABSENT is not given to commands: ABSENT holds nothing.",
      "sandbox.credentials: SHORT is not given to commands: it is too short, too long, or no single line of plain letters.",
    ]);
    const pass = way.egress.admit({ http: 1, socks: 2 });
    expect(pass.env).toMatchObject({ FIRST: held["FIRST"], SECOND: held["SECOND"] });
    expect(JSON.stringify(pass.env)).not.toMatch(/from-a-|never/);
    await way.close();
  });
});

test("settings and live rules decide together, and what cannot be read is told", async () => {
  const web = await openHost((_asked, reply) => reply.end("there"));
  const rule = (text: string) => parseRule(text) ?? expect.fail(text);
  const rules = { ...noRules, allow: [rule("WebFetch(domain:ruled.example)")] };
  const way = await opened(
    { network: { allowedDomains: ["listed.example", hostAddress, "*"], deniedDomains: ["no.example"] } },
    { rules },
  );
  expect(way.problems).toEqual([
    'sandbox.network.allowedDomains: "*" has no effect: `*` would allow every host there is.',
  ]);
  const pass = way.egress.admit({ http: 1, socks: 1 });
  const get = async (name: string) => {
    const proxy = `socks5h://localhost${way.egress.socksSocket}`;
    const args = ["curl", "-sS", "--noproxy", "", "--proxy", proxy, `http://${name}:${web.port}/`];
    return (await runBehind({ pass, folder }, args)).out;
  };
  expect(await get("listed.example")).toBe("there");
  expect(await get("ruled.example")).toBe("there");
  expect(await get("no.example")).toBe("");
  expect(await get("other.example")).toBe("");
  // A rule that comes while it runs counts at once.
  rules.allow.push(rule("WebFetch(domain:other.example)"));
  expect(await get("other.example")).toBe("there");
  await way.close();
  await web.close();
});
