// One verdict for a host, whoever asks for it: what Keel fetches itself and what commands reach through the way out.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type NetworkSettings, webOf } from "../keel/src/app/compose/egress.ts";
import { decide, noRules, type Rules } from "../keel/src/policy/decide.ts";
import { type HostEntry, hostLists, readHostEntry } from "../keel/src/policy/network-hosts.ts";
import { parseRule } from "../keel/src/policy/rules.ts";
import { carefulTraits } from "../keel/src/ports/define-tool.ts";
import { Gatekeeper, innerOf } from "../keel/src/workspace/sandbox/proxy/gatekeeper.ts";
import { urlGuard } from "../keel/src/workspace/web/url-guard.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const names = [
  ..."a.example b.a.example c.b.a.example d.example wiki.corp.example xa.example".split(" "),
  ..."localhost app.localhost printer.local metadata.google.internal intranet".split(" "),
];
const addresses = [
  "93.184.216.34",
  "10.0.0.7",
  "127.0.0.1",
  "169.254.169.254",
  "::1",
  "2606:4700::1",
  "fd00::7",
];
const hosts = fc.constantFrom(...names, ...addresses);
const written = (host: string): string => (host.includes(":") ? `[${host}]` : host);
const listed = fc.array(
  fc.oneof(
    hosts.map(written),
    fc.constantFrom("*.a.example", "*.example.org", "*.corp.example", "*.google.internal", "A.Example."),
  ),
  { maxLength: 5 },
);
const domains = fc.array(
  fc.oneof(
    fc.constantFrom(...names).map((name) => `WebFetch(domain:${name})`),
    fc.constantFrom(
      "WebFetch(domain:*.a.example)",
      "WebFetch(domain:corp.example)",
      "Bash",
      "WebFetch(domain:[::1])",
    ),
  ),
  { maxLength: 3 },
);
const rulesOf = (texts: readonly string[]) =>
  texts.map((text) => parseRule(text, "user") ?? expect.fail(text));

type World = {
  readonly network: NetworkSettings;
  readonly allowHosts: readonly string[];
  readonly rules: Rules;
  /** What every name stands for. */
  readonly found: readonly string[];
};
type Told = "allow" | "ask" | "deny";

async function fetchedBy(host: string, { network, allowHosts, rules, found }: World): Promise<Told> {
  const web = webOf(network);
  const guard = urlGuard({ allowHosts: [...allowHosts, ...web.allowHosts], lookUp: async () => found });
  const judged = guard.judge(`https://${written(host)}/`);
  if (!judged.ok) return "deny";
  const { verdict } = decide({
    tool: "WebFetch",
    traits: carefulTraits,
    claims: [{ action: "fetch", target: judged.url.href }],
    mode: "default",
    rules: {
      ...rules,
      allow: [...rules.allow, ...rulesOf(web.allow)],
      deny: [...rules.deny, ...rulesOf(web.deny)],
    },
    paths: new Map(),
    world: { cwd: "/p", home: "/h", roots: ["/p"], isTrusted: true },
  });
  if (verdict === "deny") return "deny";
  return (await guard.reachable(judged.url)).ok ? verdict : "deny";
}

async function reachedBy(host: string, { network, allowHosts, rules, found }: World): Promise<Told> {
  const read = (texts: readonly string[] = [], list: "allowed" | "denied" = "allowed"): HostEntry[] =>
    texts.flatMap((text) => {
      const entry = readHostEntry(text, list);
      return entry.ok ? [entry.value] : [];
    });
  const allowed = read(network.allowedDomains);
  const given = {
    allowed,
    denied: read(network.deniedDomains, "denied"),
    inner: [...read(allowHosts), ...innerOf(allowed)],
  };
  let isAsked = false;
  const keeper = new Gatekeeper({
    lists: () => hostLists(given, rules),
    lookUp: async () => found,
    ask: async () => {
      isAsked = true;
      return "allow";
    },
    onViolation: () => undefined,
    limits: { askMs: 1_000, lookUpMs: 1_000 },
  });
  const passage = await keeper.passage({ host, port: 443, command: "1" }, new AbortController().signal);
  if (!passage.ok) return "deny";
  return isAsked ? "ask" : "allow";
}

test("a tool and a command get the same answer about the same host, under any lists, rules and addresses", async () => {
  verifies("S2.48");
  const seen = { allow: 0, ask: 0, deny: 0 };
  const count = countOf("same-verdicts");
  await fc.assert(
    fc.asyncProperty(
      hosts,
      fc.record({ allowedDomains: listed, deniedDomains: listed }),
      fc.array(hosts.map(written), { maxLength: 2 }),
      fc.record({ allow: domains, ask: domains, deny: domains }),
      fc.array(fc.constantFrom(...addresses), { minLength: 1, maxLength: 2 }),
      async (host, network, allowHosts, texts, found) => {
        const rules: Rules = {
          ...noRules,
          allow: rulesOf(texts.allow),
          ask: rulesOf(texts.ask),
          deny: rulesOf(texts.deny),
        };
        const world = { network, allowHosts, rules, found };
        const told = await reachedBy(host, world);
        expect(told).toBe(await fetchedBy(host, world));
        seen[told] += 1;
      },
    ),
    { numRuns: count, seed: seed() },
  );
  for (const [told, times] of Object.entries(seen)) expect(times, told).toBeGreaterThan(count / 50);
});
