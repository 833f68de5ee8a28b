import { describe, expect, test } from "vitest";
import { hostileHosts } from "../../../test/support/hostile-hosts.ts";
import { type HostEntry, hostLists, isNamed, judgeHost, readHost, readHostEntry } from "./network-hosts.ts";
import { parseRule } from "./rules.ts";

const entry = (text: string, list: "allowed" | "denied" = "allowed"): HostEntry => {
  const read = readHostEntry(text, list);
  return read.ok ? read.value : expect.fail(`${text}: ${read.error}`);
};
const verdict = (lists: { allowed?: string[]; denied?: string[] }, host: string, port = 443): string =>
  judgeHost(
    {
      allowed: (lists.allowed ?? []).map((text) => entry(text)),
      denied: (lists.denied ?? []).map((text) => entry(text, "denied")),
      asked: [],
      inner: [],
    },
    { host, port },
  ).verdict;

describe("an entry", () => {
  test.each([
    ["example.org", "example.org", 443, true],
    ["example.org", "example.org", 8443, true],
    ["Example.ORG.", "example.org", 443, true],
    ["example.org", "www.example.org", 443, false],
    ["*.example.org", "www.example.org", 443, true],
    ["*.example.org", "a.b.example.org", 443, true],
    ["*.example.org", "example.org", 443, false],
    ["*.example.org", "evilexample.org", 443, false],
    ["example.org:8443", "example.org", 8443, true],
    ["example.org:8443", "example.org", 443, false],
    ["*.example.org:22", "git.example.org", 22, true],
    ["bücher.example", "xn--bcher-kva.example", 443, true],
    ["10.0.0.7", "10.0.0.7", 80, true],
    ["[::1]:3000", "::1", 3000, true],
    ["[::1]:3000", "::1", 3001, false],
    ["::1", "::1", 1, true],
    ["0:0:0:0:0:0:0:1", "::1", 1, true],
    ["localhost:5432", "localhost", 5432, true],
  ])("%s allows %s:%s: %s", (text, host, port, expected) => {
    expect(verdict({ allowed: [text] }, host, port)).toBe(expected ? "allow" : "open");
  });

  test.each([
    ["*", "every host"],
    ["*.com", "top-level domain"],
    ["*.10.0.0.1", "below an address"],
    ["http://example.org", "no host"],
    ["example.org/path", "no host"],
    ["a*.example.org", "no host"],
    ["example.org:0", "no host"],
    ["example.org:99999", "no host"],
    ["0x7f.1", "no host"],
    ["", "no host"],
  ])("%j is none: %s", (text, why) => {
    expect(readHostEntry(text, "allowed")).toMatchObject({ ok: false, error: expect.stringContaining(why) });
  });
});

test("a deny wins, is about what is below too, and may be about everything", () => {
  expect(verdict({ allowed: ["a.example.org"], denied: ["example.org"] }, "a.example.org")).toBe("deny");
  expect(verdict({ allowed: ["example.org"], denied: ["*.example.org"] }, "example.org")).toBe("deny");
  expect(verdict({ allowed: ["example.org"], denied: ["example.org:22"] }, "example.org")).toBe("allow");
  expect(verdict({ denied: ["*.com"] }, "a.com")).toBe("deny");
  expect(verdict({ allowed: ["example.org"], denied: ["*"] }, "example.org")).toBe("deny");
});

test("only what stands there in full is named", () => {
  const list = [entry("*.example.org"), entry("b.example.org")];
  expect(isNamed(list, { host: "a.example.org", port: 1 })).toBe(false);
  expect(isNamed(list, { host: "b.example.org", port: 1 })).toBe(true);
});

test("a host has one spelling; what a resolver could read otherwise has none", () => {
  expect(
    ["EXAMPLE.org.", "[0:0:0:0:0:0:0:1]", "::FFFF:1.2.3.4", "1.2.3.4", "_a.b-c.d"].map(readHost),
  ).toEqual(["example.org", "::1", "::ffff:102:304", "1.2.3.4", "_a.b-c.d"]);
  for (const odd of ["0x7f.1", "127.1", "2130706433", "010.0.0.1", "1.2.3.4.5", "1.2.3.256", "fe80::1%eth0"])
    expect(readHost(odd), odd).toBeUndefined();
});

test("no odd spelling is let through by a name or a star, nor by a spelling of its own", () => {
  const lists = {
    allowed: [entry("good.example"), entry("*.wide.example")],
    denied: [],
    asked: [],
    inner: [],
  };
  const through = hostileHosts.filter((text) => {
    const host = readHost(text);
    return host !== undefined && judgeHost(lists, { host, port: 443 }).verdict === "allow";
  });
  expect(through).toEqual([]);
});

test("rules about domains count as the lists do, and a question stays one", () => {
  const rule = (text: string) => parseRule(text) ?? expect.fail(text);
  const lists = hostLists(
    { allowed: [entry("a.example")], denied: [], inner: [] },
    {
      allow: [rule("WebFetch(domain:*.b.example)"), rule("Bash"), rule("WebFetch(domain:[::1])")],
      ask: [rule("WebFetch(domain:a.example)")],
      deny: [rule("WebFetch(domain:c.example)")],
    },
  );
  const told = (host: string) => judgeHost(lists, { host, port: 443 }).verdict;
  expect(["a.example", "x.b.example", "b.example", "x.c.example", "::1"].map(told)).toEqual([
    "open",
    "allow",
    "open",
    "deny",
    "allow",
  ]);
});
