import fc from "fast-check";
import { expect, test } from "vitest";
import { entries } from "../../../../../test/support/proxy-stage.ts";
import { BodySwap, Credentials, type Swap, swapped } from "./credentials.ts";

/** Few letters, so that keys are parts, starts and ends of each other. */
const letters = fc.string({ unit: fc.constantFrom("a", "b", "ä"), minLength: 1, maxLength: 6 });

test("a body that comes in pieces is swapped as if it came whole, wherever it is cut", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(letters, { minLength: 1, maxLength: 3 }),
      fc.array(letters, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 60 }),
      (reals, words, cuts) => {
        const swaps = reals.map((real, at): Swap => [real, `<${at}>`]);
        const bytes = Buffer.from(words.join(""));
        const whole = new BodySwap(swaps);
        const expected = Buffer.concat([whole.write(bytes), whole.end()]).toString();
        const pieces = new BodySwap(swaps);
        const parts: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          parts.push(pieces.write(bytes.subarray(at, at + cut)));
          at += cut;
        }
        parts.push(pieces.write(bytes.subarray(at)), pieces.end());
        expect(Buffer.concat(parts).toString()).toBe(expected);
        for (const real of reals) expect(expected.includes(real)).toBe(false);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("nothing is held back but what may still become a key", () => {
  const body = new BodySwap([["secret", "*"]]);
  expect(body.write(Buffer.from("data: 1\n\n")).toString()).toBe("data: 1\n\n");
  expect(body.write(Buffer.from("a sec")).toString()).toBe("a ");
  expect(body.write(Buffer.from("ond")).toString()).toBe("second");
  expect(body.write(Buffer.from("sesecretse")).toString()).toBe("se*");
  expect(body.end().toString()).toBe("se");
});

test("a key that is the start of another does not leave the rest of that one behind", () => {
  expect(
    swapped("abcdef abc", [
      ["abc", "1"],
      ["abcdef", "2"],
    ]),
  ).toBe("2 1");
});

test("variables hold placeholders, also where a key stands within another value; each command's set is the same", () => {
  const credentials = new Credentials([
    { name: "TOKEN", secret: "s3cret", hosts: entries(["a.example"]), place: { kind: "placeholder" } },
  ]);
  const {
    TOKEN,
    URL: url,
    PATH,
  } = credentials.masked({ TOKEN: "s3cret", URL: "https://x:s3cret@a/", PATH: "/bin" });
  expect(TOKEN).toMatch(/^keel_placeholder_[0-9a-f]{32}$/);
  expect({ url, PATH }).toEqual({ url: `https://x:${TOKEN}@a/`, PATH: "/bin" });
  expect(credentials.masked({})["TOKEN"]).toBe(TOKEN);
  expect(credentials.withoutSecrets("it said s3cret")).toBe(`it said ${TOKEN}`);
});

test("a key goes to its hosts and ports only, and a dollar sign in it means nothing", () => {
  const credentials = new Credentials([
    { name: "T", secret: "$&-$1", hosts: entries(["a.example:443"]), place: { kind: "placeholder" } },
  ]);
  const placeholder = credentials.masked({})["T"] ?? "";
  const head = { path: `/?k=${placeholder}`, headers: [["Authorization", `Bearer ${placeholder}`]] as const };
  const given = credentials.injected({ host: "a.example", port: 443 }, head).head;
  expect(given.headers).toEqual([["Authorization", "Bearer $&-$1"]]);
  // The address of a request is written into logs: it gets a key only where that is said.
  expect(given.path).toBe(head.path);
  for (const [host, port] of [
    ["a.example", 8443],
    ["b.a.example", 443],
    ["example", 443],
  ] as const)
    expect(credentials.injected({ host, port }, head)).toEqual({ head, swaps: [] });
});
