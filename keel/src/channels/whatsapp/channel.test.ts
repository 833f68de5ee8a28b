// WhatsApp's Cloud API, both ways over HTTP, against a server of ours.
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  callOf,
  callWebhook,
  type FakeWhatsApp,
  fakeWhatsApp,
  phoneNumberId,
  sign,
  whatsappKeys,
} from "../../../../test/support/fake-whatsapp.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ChannelMessage } from "../../ports/groups.ts";
import { whatsappChannel } from "./channel.ts";
import { readCall } from "./read-call.ts";

let server: FakeWhatsApp;
const ending = { now: new AbortController() };

beforeEach(async () => {
  server = await fakeWhatsApp();
  ending.now = new AbortController();
});
afterEach(async () => {
  ending.now.abort();
  await server.close();
});

const open = (tell?: (what: string, facts: Readonly<Record<string, string | number>>) => void) =>
  whatsappChannel({
    phoneNumberId,
    token: whatsappKeys.token,
    appSecret: whatsappKeys.secret,
    verifyToken: whatsappKeys.verify,
    apiUrl: server.url,
    port: 0,
    tell,
  });

async function listening(heard: (message: ChannelMessage) => Promise<void>): Promise<number> {
  const port = Promise.withResolvers<number>();
  const channel = open(
    (what, facts) => void (what === "channel.listens" && port.resolve(Number(facts["port"]))),
  );
  void channel.listen(
    { heard, mark: async () => undefined, keepMark: async () => undefined },
    ending.now.signal,
  );
  return port.promise;
}

test("hears what is signed, and nothing else", async () => {
  verifies("S2.59");
  const heard: string[] = [];
  const port = await listening(async ({ text }) => void heard.push(text));
  const body = callOf({ id: "w1", text: { body: "hello" } });
  expect(await callWebhook(port, body)).toBe(200);
  for (const signature of [
    "",
    "sha256=",
    sign(body, "another secret"),
    sign(`${body} `),
    sign(body).toUpperCase(),
    sign(body).replace("sha256", "sha1"),
    `${sign(body)}00`,
  ])
    expect(await callWebhook(port, body, signature), signature).toBe(401);
  const changed = body.replace("hello", "hullo");
  expect(await callWebhook(port, changed, sign(body))).toBe(401);
  expect(heard).toEqual(["hello"]);
});

test("answers Meta's question only where it knows the word", async () => {
  verifies("S2.59");
  const port = await listening(async () => undefined);
  const ask = async (token: string): Promise<[number, string]> => {
    const query = `hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`;
    const response = await fetch(`http://127.0.0.1:${port}/webhook?${query}`);
    return [response.status, await response.text()];
  };
  expect(await ask(whatsappKeys.verify)).toEqual([200, "1158201444"]);
  expect(await ask("wrong")).toEqual([403, ""]);
  expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
});

test("says yes only once a message is kept: Meta tells it again", async () => {
  verifies("S2.59");
  let tries = 0;
  const heard: string[] = [];
  const port = await listening(async ({ id }) => {
    if (tries++ < 2) throw new Error("no room");
    heard.push(id);
  });
  await server.say(port, { id: "w1", text: { body: "hello" } });
  expect(heard).toEqual(["w1"]);
  expect(tries).toBe(3);
});

test("sends, waits as it is told, and says what will never go", async () => {
  verifies("S2.59");
  const channel = open();
  expect(await channel.send("4915111", "hi")).toEqual({ kind: "sent" });
  expect(server.sent).toEqual([{ chat: "4915111", text: "hi" }]);
  const outcome = async (trouble: ReturnType<FakeWhatsApp["trouble"]>) => {
    server.trouble = () => trouble;
    return channel.send("4915111", "x");
  };
  expect(await outcome("429")).toEqual({ kind: "later", afterMs: 1_000 });
  expect((await outcome("rate")).kind).toBe("later");
  expect((await outcome("500")).kind).toBe("later");
  expect(await outcome("400")).toEqual({ kind: "never", why: "Message undeliverable" });
  await expect(outcome("cut-before")).rejects.toThrow();
});

test.each([
  [{ text: { body: "hello" } }, "hello"],
  [{ type: "image", image: { caption: "look" } }, "look [Photo]"],
  [{ type: "video", video: {} }, "[Video]"],
  [{ type: "document", document: { filename: "plan.pdf" } }, "[File: plan.pdf]"],
  [{ type: "audio", audio: { voice: true } }, "[Voice message]"],
  [{ type: "audio", audio: {} }, "[Audio]"],
  [{ type: "sticker", sticker: {} }, "[Sticker]"],
  [{ type: "location", location: { latitude: 1, longitude: 2 } }, "[Location: 1, 2]"],
  [{ type: "contacts", contacts: [{ name: { formatted_name: "Bo" } }] }, "[Contact: Bo]"],
  [{ type: "order" }, "[order]"],
  [{ type: "reaction" }, undefined],
])("placeholders, seed 002: %j is told as %j", (message, words) => {
  verifies("S2.59");
  expect(readCall(JSON.parse(callOf({ id: "w1", ...message })), phoneNumberId)[0]?.text).toBe(words);
});

test("a message is of its group, and of the number that was written to", () => {
  verifies("S2.59");
  const read = (message: object, phone = phoneNumberId) =>
    readCall(JSON.parse(callOf({ id: "w1", text: { body: "x" }, ...message }, phone)), phoneNumberId);
  expect(read({})[0]).toMatchObject({ chat: "4915111", from: "Ana", isMention: true, at: 1_790_000_000_000 });
  expect(read({ group_id: "Y2FwaV9n" })[0]).toMatchObject({ chat: "Y2FwaV9n", isMention: false });
  expect(read({ group_id: "g1", context: { from: "491700000000" } })[0]?.isMention).toBe(true);
  expect(read({}, "other")).toEqual([]);
  expect(readCall({ object: "page" }, phoneNumberId)).toEqual([]);
});
