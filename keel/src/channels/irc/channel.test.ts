// IRC by its library, against a real ngIRCd where there is one.
import { describe, expect, onTestFinished, test } from "vitest";
import { ircPerson, ngircd, startNgircd } from "../../../../test/support/ngircd.ts";
import { notRunHere } from "../../../../test/support/not-run.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { nodeClock, nodeIds } from "../../app/node-ports.ts";
import type { ChannelMessage } from "../../ports/groups.ts";
import { ircChannel } from "./channel.ts";
import { isNamed, linesOf, messageId } from "./lines.ts";

describe("lines", () => {
  test("are as long as a server takes, between words and never within a sign", () => {
    verifies("S2.59");
    const words = `${"Grüße 👩‍👩‍👧‍👦 ".repeat(200)}end`;
    const lines = linesOf(`one\r\n\n${words}\n  two`);
    expect(lines[0]).toBe("one");
    expect(lines.at(-1)).toBe("  two");
    for (const line of lines) expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(400);
    expect(lines.slice(1, -1).join(" ")).toBe(words);
    expect(linesOf("x".repeat(1_000)).join("")).toBe("x".repeat(1_000));
    expect(linesOf("\n \n")).toEqual([]);
  });

  test("name the agent as a word of its own", () => {
    verifies("S2.59");
    for (const text of ["keel: hi", "Keel, hi", "@keel hi", "what does keel say?", "hi keel"])
      expect(isNamed(text, "keel"), text).toBe(true);
    for (const text of ["keelhaul", "keel_2: hi", "my-keel", "keel|away", "hi"])
      expect(isNamed(text, "keel"), text).toBe(false);
    expect(isNamed("a[b] hi", "a[b]")).toBe(true);
  });

  test("have the number that the server gives", () => {
    expect(messageId({ msgid: "m1" }, () => "new")).toBe("m1");
    expect(messageId({}, () => "new")).toBe("new");
    expect(messageId(undefined, () => "new")).toBe("new");
  });
});

test("a real server: people are heard, answered and answered again after it went away", async () => {
  verifies("S2.59");
  const program = ngircd();
  if (program === undefined) return notRunHere("irc", "ngIRCd absent");
  const server = await startNgircd(program);
  onTestFinished(() => server.close());
  const ending = new AbortController();
  const heard: ChannelMessage[] = [];
  const channel = ircChannel({
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    nick: "keel",
    clock: nodeClock(),
    ids: nodeIds(),
    gapMs: 20,
  });
  channel.attend?.("#Lunch");
  const listening = channel.listen(
    {
      heard: async (one) => void heard.push(one),
      mark: async () => undefined,
      keepMark: async () => undefined,
    },
    ending.signal,
  );
  onTestFinished(() => ending.abort());
  const sent = async (text: string, to = "#lunch"): Promise<void> => {
    await expect
      .poll(async () => (await channel.send(to, text).catch(() => ({ kind: "cut" }))).kind, {
        timeout: 20_000,
      })
      .toBe("sent");
  };
  const ana = await ircPerson(server.port, "ana", "#lunch");
  await sent("Here I am.");
  await expect.poll(() => ana.heard.map(({ text }) => text)).toContain("Here I am.");
  ana.say("is anybody hungry?");
  ana.say("keel: when do we go?");
  ana.say("in private", "keel");
  await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(3);
  expect(heard.map(({ chat, from, text, isMention }) => [chat, from, text, isMention])).toEqual([
    ["#lunch", "ana", "is anybody hungry?", false],
    ["#lunch", "ana", "keel: when do we go?", true],
    ["ana", "ana", "in private", true],
  ]);
  const long = Array.from({ length: 3 }, (_, at) => `Line ${at} ${"of words ".repeat(60)}end.`).join("\n");
  await sent(long);
  await expect.poll(() => ana.heard.at(-1)?.text ?? "", { timeout: 15_000 }).toMatch(/end\.$/);
  expect(
    ana.heard
      .slice(1)
      .map(({ text }) => text)
      .join(" "),
  ).toBe(long.replace(/\n/g, " "));
  await server.kill();
  expect((await channel.send("#lunch", "nobody").catch(() => ({ kind: "cut" }))).kind).not.toBe("sent");
  await server.start();
  const bo = await ircPerson(server.port, "bo", "#lunch");
  await sent("Back again.");
  await expect.poll(() => bo.heard.map(({ text }) => text)).toContain("Back again.");
  bo.say("welcome back, keel");
  await expect.poll(() => heard.at(-1)?.text).toBe("welcome back, keel");
  ending.abort();
  await listening;
}, 60_000);
