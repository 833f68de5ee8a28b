import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { whyNotPublic } from "./public-address.ts";
import { urlGuard } from "./url-guard.ts";

const guard = (allowHosts: string[] = [], names: Record<string, string[]> = {}) =>
  urlGuard({ allowHosts, lookUp: async (name) => names[name] ?? [] });

/** What must be refused, by the reason: every way to write an address that is not of the public web. */
const refused: Readonly<Record<string, readonly string[]>> = {
  loopback: [
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/x",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0177.0x0.0.1/",
    "http://127.0.0.1./",
    "http://127%2e0%2e0%2e1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http:\\\\127.0.0.1\\",
    "http:127.0.0.1",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000::0001]/",
  ],
  "old address": [
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:10.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
  ],
  "of this network": ["http://0.0.0.0/", "http://0/", "http://0x0/", "http://00000/", "http://0.1.2.3/"],
  unspecified: ["http://[::]/", "http://[0::0]/"],
  private: [
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://0xc0a80101/",
    "http://0300.0250.1.1/",
    "http://[fc00::1]/",
    "http://[fd12:3456:789a::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fec0::1]/",
  ],
  "link-local": [
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://[fe80::1]/",
    "http://[febf::1]/",
  ],
  "provider's own": [
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://100.100.100.200/latest/meta-data/",
  ],
  metadata: ["http://168.63.129.16/metadata/v1"],
  multicast: ["http://224.0.0.1/", "http://239.255.255.250:1900/", "http://[ff02::1]/"],
  reserved: [
    "http://192.0.0.192/opc/v2/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[100::1]/",
    "http://[4000::1]/",
    "http://[64:ff9b:1::1]/",
  ],
  documentation: [
    "http://192.0.2.1/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://[2001:db8::1]/",
  ],
  measurements: ["http://198.18.0.1/", "http://198.19.255.255/"],
  tunnel: ["http://[2001::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/"],
  "private network": [
    "http://localhost/",
    "http://LOCALHOST:3000/",
    "http://localhost./",
    "http://app.localhost/",
    "http://printer.local/",
    "http://PRINTER.LOCAL./",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://db.corp/",
    "http://nas.lan/",
    "http://router.home.arpa/",
  ],
  "without a domain": ["http://intranet2/", "http://metadata/", "http://redis:6379/"],
  "Only http": [
    "ftp://example.org/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "gopher://example.org/",
  ],
  password: ["http://user@example.org/", "https://user:pass@example.org/", "http://example.org@127.0.0.1/"],
  "not an address": [
    "",
    "example.org/page",
    "http://",
    "http:///",
    "http://exa mple.org/",
    "http://[::1",
    "http://1.2.3.4.5.6/",
  ],
};

/** What must stay reachable: neighbours of refused ranges, and names that only look like them. */
const open = [
  "https://example.org/page?q=1",
  "http://example.org:8080/",
  "https://xn--bcher-kva.example.org/",
  "https://bücher.example.org/",
  "https://localhost.example.org/",
  "https://internal.example.org/",
  "https://127.0.0.1.example.org/",
  "http://8.8.8.8/",
  "http://9.255.255.255/",
  "http://11.0.0.0/",
  "http://100.63.255.255/",
  "http://100.128.0.0/",
  "http://126.255.255.255/",
  "http://128.0.0.0/",
  "http://169.253.255.255/",
  "http://172.15.255.255/",
  "http://172.32.0.0/",
  "http://192.167.255.255/",
  "http://192.169.0.0/",
  "http://168.63.129.17/",
  "http://223.255.255.255/",
  "http://[2606:4700:4700::1111]/",
  "http://[2001:4860:4860::8888]/",
  "http://[2a00:1450:4001::1]/",
];

describe("an address of the web", () => {
  const cases = Object.entries(refused).flatMap(([reason, urls]) =>
    urls.map((url) => [url, reason] as const),
  );
  test.each(cases)("%s is refused as %s", (url, reason) => {
    verifies("S4.10");
    const judged = guard().judge(url);
    expect(judged).toMatchObject({ ok: false, why: expect.stringContaining(reason) });
  });

  test.each(open)("%s may be fetched", (url) => {
    expect(guard().judge(url)).toMatchObject({ ok: true });
  });

  test("is told in one spelling, without its fragment", () => {
    const judged = guard().judge("HTTPS://Example.ORG:443/a/../b#part");
    expect(judged.ok && judged.url.href).toBe("https://example.org/b");
  });
});

describe("a host that the user's settings name", () => {
  test.each([
    ["localhost", "http://localhost:3000/", true],
    ["localhost:3000", "http://localhost:3000/", true],
    ["localhost:3000", "http://localhost:3001/", false],
    ["localhost:80", "http://localhost/", true],
    ["localhost:80", "http://localhost:8080/", false],
    ["localhost:443", "https://localhost/", true],
    ["10.0.0.7", "http://10.0.0.7:9000/", true],
    ["10.0.0.7", "http://10.0.0.8/", false],
    ["127.0.0.1", "http://2130706433/", true],
    ["[::1]:8080", "http://[::1]:8080/", true],
    ["wiki.local", "http://wiki.local/", true],
    ["wiki.local", "http://evil.wiki.local/", false],
    ["wiki.local", "http://wiki.local.evil.local/", false],
    ["http://localhost", "http://localhost/", false],
    ["", "http://localhost/", false],
  ])("%j and %s: allowed is %s", (entry, url, ok) => {
    expect(guard([entry]).judge(url).ok).toBe(ok);
  });

  test("may stand for any address, but no other name may", async () => {
    const one = guard(["wiki.local"], { "wiki.local": ["10.0.0.7"], "other.example": ["10.0.0.7"] });
    expect(await one.reachable(new URL("http://wiki.local/"))).toEqual({ ok: true, addresses: ["10.0.0.7"] });
    expect(await one.reachable(new URL("http://other.example/"))).toMatchObject({ ok: false });
  });
});

describe("what a name stands for", () => {
  test.each([
    [["93.184.215.14"], true],
    [["93.184.215.14", "2606:4700:4700::1111"], true],
    [["64:ff9b::5db8:d70e"], true],
    [["127.0.0.1"], false],
    [["93.184.215.14", "127.0.0.1"], false],
    [["::ffff:127.0.0.1"], false],
    [["::ffff:93.184.215.14"], false],
    [["64:ff9b::7f00:1"], false],
    [["64:ff9b::a9fe:a9fe"], false],
    [["fe80::1%eth0"], false],
    [["169.254.169.254"], false],
    [["nonsense"], false],
    [[], false],
  ])("%j: reachable is %s", async (addresses, ok) => {
    const reach = await guard([], { "a.example": addresses }).reachable(new URL("https://a.example/"));
    expect(reach.ok).toBe(ok);
  });

  test("is told with the name, the address and what the user can do", async () => {
    const reach = await guard([], { "a.example": ["10.1.2.3"] }).reachable(new URL("https://a.example/"));
    expect(!reach.ok && reach.why).toBe(
      'a.example leads to 10.1.2.3, which is a private address: only the public web can be fetched. The user can allow it by adding "a.example" to web.allowHosts in their settings.',
    );
  });
});

test("an old address is judged alike in every spelling that a URL knows", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const spelling = fc.constantFrom<(part: number) => string>(
    (part) => String(part),
    (part) => `0x${part.toString(16)}`,
    (part) => `0${part.toString(8)}`,
  );
  fc.assert(
    fc.property(
      fc.tuple(byte, byte, byte, byte),
      fc.tuple(spelling, spelling, spelling, spelling),
      (parts, spell) => {
        const plain = parts.join(".");
        const odd = parts.map((part, index) => spell[index]?.(part)).join(".");
        const whole = parts.reduce((sum, part) => sum * 256 + part, 0);
        const expected = whyNotPublic(plain) === undefined;
        expect(guard().judge(`http://${odd}/`).ok).toBe(expected);
        expect(guard().judge(`http://${whole}/`).ok).toBe(expected);
      },
    ),
    { numRuns: 300 },
  );
});

test.each([
  ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
  ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
  ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
  ["168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"],
  ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
  ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
  ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
  ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
  ["223.255.255.255", "224.0.0.0", "255.255.255.255", "1.0.0.0"],
])("the range between %s and its end is refused from %s to %s, and %s is public again", (...addresses) => {
  for (const spelling of ["", "64:ff9b::"]) {
    const isPublic = addresses.map((address) => whyNotPublic(`${spelling}${address}`) === undefined);
    expect(isPublic, spelling).toEqual([true, false, false, true]);
  }
});

test.each([
  ["1fff:ffff::", "2000::", "3ffe:ffff::", "4000::"],
  ["2001:1ff:ffff::", "2001:200::", "2001:db7:ffff::", "2001:db8::"],
  ["2002:ffff::", "2003::", "2620:4f:7fff::", "2620:4f:8000::"],
])("new addresses are public between %s and its end, from %s to %s, and no longer at %s", (...addresses) => {
  expect(addresses.map((address) => whyNotPublic(address) === undefined)).toEqual([false, true, true, false]);
});
