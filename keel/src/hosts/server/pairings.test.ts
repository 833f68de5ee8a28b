import { expect, test } from "vitest";
import type { Access } from "../../protocol/operation.ts";
import { readCode, spelled } from "../../protocol/pairing.ts";
import type { Device } from "./devices.ts";
import { Pairings } from "./pairings.ts";

const minute = 60_000;

/** A clock that is moved, and devices that are only counted. */
function stage() {
  const clock = { now: 0 };
  const added: Device[] = [];
  const add = async (name: string, access: Access) => {
    const device = { id: `d${added.length + 1}`, name, access, sum: "", createdAt: clock.now };
    added.push(device);
    return { device, secret: `secret of ${device.id}` };
  };
  const pairings = new Pairings({ add, now: () => clock.now, waitMs: 1 });
  const claim = (code: string, from = "192.0.2.1") => pairings.claim({ code, name: "A phone", from });
  return { clock, added, pairings, claim };
}
const wrong = (code: string): string => (code.startsWith("2") ? "3" : "2") + code.slice(1);

test("a device is let in by its code after a yes, once, with the access that the person named", async () => {
  const { pairings, claim, added } = stage();
  const { pairing, code } = pairings.begin({ access: "watch" });
  const { claim: claimed, digits } = claim(spelled(code).toLowerCase());
  expect(await pairings.look(pairing)).toMatchObject({ state: "claimed", name: "A phone", digits });
  expect(await pairings.collect(claimed)).toBe("waiting");
  pairings.answer(pairing, "allow");
  const [first, second] = await Promise.all([pairings.collect(claimed), pairings.collect(claimed)]);
  expect([first, second]).toMatchObject([{ secret: "secret of d1", device: { access: "watch" } }, "over"]);
  expect(await pairings.look(pairing)).toEqual({ state: "paired", device: "d1", name: "A phone" });
  expect(added).toHaveLength(1);
});

test("a code that was claimed is no good for anybody else", () => {
  const { pairings, claim } = stage();
  const { code } = pairings.begin({});
  claim(code);
  expect(() => claim(code, "192.0.2.2")).toThrow(expect.objectContaining({ code: "code_refused" }));
});

test("a no ends it, before somebody came and after", async () => {
  const { pairings, claim, added } = stage();
  const [early, late] = [pairings.begin({}), pairings.begin({})];
  pairings.answer(early.pairing, "deny");
  expect(() => claim(early.code)).toThrow(expect.objectContaining({ code: "code_refused" }));
  const { claim: claimed } = claim(late.code);
  pairings.answer(late.pairing, "deny");
  expect(await pairings.collect(claimed)).toBe("over");
  expect(() => pairings.answer(late.pairing, "allow")).toThrow(expect.objectContaining({ code: "usage" }));
  expect(added).toEqual([]);
});

test("nobody is let in to whom a person did not say yes", () => {
  const { pairings } = stage();
  const { pairing } = pairings.begin({});
  expect(() => pairings.answer(pairing, "allow")).toThrow(expect.objectContaining({ code: "usage" }));
});

test("after five wrong codes of anybody the right one is no good either", async () => {
  const { pairings, claim } = stage();
  const { pairing, code } = pairings.begin({});
  for (let count = 1; count <= 5; count += 1)
    expect(() => claim(wrong(code), `192.0.2.${count}`)).toThrow(
      expect.objectContaining({ code: "code_refused" }),
    );
  expect(() => claim(code)).toThrow(expect.objectContaining({ code: "code_refused" }));
  expect(await pairings.look(pairing)).toEqual({ state: "over", why: "wrong-codes" });
});

test("who tried ten wrong codes is not listened to for ten minutes, and others are", () => {
  const { pairings, claim, clock } = stage();
  for (let count = 0; count < 10; count += 1)
    expect(() => claim("no code at all")).toThrow(expect.objectContaining({ code: "code_refused" }));
  const first = pairings.begin({});
  expect(() => claim(first.code)).toThrow(expect.objectContaining({ code: "too_many_tries" }));
  expect(claim(first.code, "192.0.2.2")).toMatchObject({ digits: expect.stringMatching(/^\d{6}$/) });
  clock.now += 11 * minute;
  expect(claim(pairings.begin({}).code)).toMatchObject({ digits: expect.stringMatching(/^\d{6}$/) });
});

test("what takes longer than five minutes is over, wherever it stands", async () => {
  const { pairings, claim, clock, added } = stage();
  const [open, claimed, allowed] = [pairings.begin({}), pairings.begin({}), pairings.begin({})];
  const claims = [claim(claimed.code).claim, claim(allowed.code).claim];
  pairings.answer(allowed.pairing, "allow");
  clock.now += 5 * minute + 1;
  expect(() => claim(open.code)).toThrow(expect.objectContaining({ code: "code_refused" }));
  expect(() => pairings.answer(claimed.pairing, "allow")).toThrow(expect.objectContaining({ code: "usage" }));
  for (const one of claims) expect(await pairings.collect(one)).toBe("over");
  expect(await pairings.look(open.pairing)).toEqual({ state: "over", why: "too-late" });
  expect(added).toEqual([]);
  clock.now += 5 * minute;
  await expect(pairings.look(open.pairing)).rejects.toMatchObject({ code: "device_unknown" });
});

test("who waits for news hears of it at once", async () => {
  const { clock, added } = stage();
  const pairings = new Pairings({
    add: async (name, access) => {
      const device = { id: "d", name, access, sum: "", createdAt: 0 };
      added.push(device);
      return { device, secret: "s" };
    },
    now: () => clock.now,
    waitMs: 600_000,
  });
  const { pairing, code } = pairings.begin({});
  const heard = pairings.look(pairing, "open");
  const { claim } = pairings.claim({ code, name: "x", from: "y" });
  expect(await heard).toMatchObject({ state: "claimed" });
  const secret = pairings.collect(claim);
  pairings.answer(pairing, "allow");
  expect(await secret).toMatchObject({ secret: "s" });
});

test("there are no more than five open codes", () => {
  const { pairings, clock } = stage();
  for (let count = 0; count < 5; count += 1) pairings.begin({});
  expect(() => pairings.begin({})).toThrow(expect.objectContaining({ code: "usage" }));
  clock.now += 6 * minute;
  expect(pairings.begin({}).code).toHaveLength(8);
});

test("a name moves nothing on the screen where it is compared", async () => {
  const { pairings } = stage();
  const { pairing, code } = pairings.begin({});
  pairings.claim({ code, name: `\u001b[2J My\nphone\u202e${"x".repeat(200)}`, from: "y" });
  const told = await pairings.look(pairing);
  const name = told.state === "claimed" ? told.name : "";
  expect(name).toMatch(/^⟨ESC⟩\[2J My phone⟨/);
  expect(name.length).toBeLessThanOrEqual(80);
});

test.each([
  ["k7qf-2mpx", "K7QF2MPX"],
  [" K7QF 2MPX ", "K7QF2MPX"],
  ["K7QF2MP", undefined],
  ["K7QF2MP0", undefined],
  ["", undefined],
])("%j is read as the code %j", (typed, code) => expect(readCode(typed)).toBe(code));
