// Groups of Telegram and WhatsApp by the built server: what people write is answered, through everything that goes wrong.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { asList, type JsonObject } from "../../keel/src/kernel/json.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { countOf, patienceMs, seed } from "../support/budget.ts";
import { fakeTelegram, telegramBot, telegramToken } from "../support/fake-telegram.ts";
import { fakeWhatsApp, phoneNumberId, whatsappKeys } from "../support/fake-whatsapp.ts";
import { freePort } from "../support/ngircd.ts";
import { verifies } from "../support/verifies.ts";
import { openServeStage } from "./serve-stage.ts";
import { until } from "./stage.ts";

type StageScript = Parameters<typeof openServeStage>[0];

async function openChannelStage(script: StageScript) {
  const [telegram, whatsapp, port] = await Promise.all([fakeTelegram(), fakeWhatsApp(), freePort()]);
  const stage = await openServeStage(script);
  onTestFinished(async () => {
    await telegram.close();
    await whatsapp.close();
  });
  const home = String(stage.env["KEEL_HOME"]);
  mkdirSync(home, { recursive: true });
  const groups = {
    telegram: { apiUrl: telegram.url },
    whatsapp: { phoneNumberId, apiUrl: whatsapp.url, port },
  };
  writeFileSync(path.join(home, "settings.json"), JSON.stringify({ groups }));
  Object.assign(stage.env, {
    KEEL_TELEGRAM_TOKEN: telegramToken,
    KEEL_WHATSAPP_TOKEN: whatsappKeys.token,
    KEEL_WHATSAPP_SECRET: whatsappKeys.secret,
    KEEL_WHATSAPP_VERIFY: whatsappKeys.verify,
  });
  return { stage, telegram, whatsapp, port };
}

const numbersIn = (text: string): number[] => [...text.matchAll(/number (\d+)/g)].map(([, n]) => Number(n));

const lastOf = (request: JsonObject): string => JSON.stringify(asList(request["messages"]).at(-1));

/** Says which numbers it was told last. */
const echo = (request: JsonObject) => {
  const told = numbersIn(lastOf(request)).map((n) => `number ${n}`);
  return reply(`<internal>secret thoughts</internal>I heard ${told.join(", ")}.`);
};

test("a chat is found, registered, named and answered; what was long comes in pieces, what is internal never", async () => {
  verifies("S2.59", "S2.58");
  const prompts: string[] = [];
  const long = `${"A sentence of the answer. ".repeat(400)}\n\`\`\`ts\n${"const a = 1;\n".repeat(300)}\`\`\`\nEnd.`;
  const { stage, telegram, whatsapp, port } = await openChannelStage((request) => {
    prompts.push(JSON.stringify(request));
    return lastOf(request).includes("at length") ? reply(long) : echo(request);
  });
  await stage.serve();
  telegram.say(-100, "hello there");
  await until("the chat is known", async () =>
    (await stage.run(["groups", "chats"])).stdout.includes("telegram:-100"),
  );
  expect((await stage.run(["groups", "chats"])).stdout).toContain("Chat -100");
  // Two words are for Keel itself, also in a chat that is no group; who floods it with them is answered once.
  for (const word of ["/chatid", `/ping@${telegramBot.username}`, "/ping"]) telegram.say(-100, word);
  telegram.say(-200, "/ping");
  await until("they are answered", () => telegram.sent.length > 1);
  expect(telegram.sent).toEqual([
    { chat: "-100", text: "This chat is telegram:-100" },
    { chat: "-200", text: "Keel listens here." },
  ]);
  telegram.sent.length = 0;
  await stage.run(["groups", "register", "telegram:-100", "club", "--no-sandbox"]);
  await stage.run(["groups", "register", "whatsapp:4915111", "ana", "--no-sandbox"]);
  telegram.say(-100, "number 1");
  const name = `@${telegramBot.username}`;
  telegram.say(-100, `number 2 ${name}`, { entities: [{ type: "mention", offset: 9, length: name.length }] });
  await until("it is answered", () => telegram.sent.length > 0);
  expect(telegram.sent).toEqual([{ chat: "-100", text: "I heard number 1, number 2." }]);
  expect(prompts.join()).not.toMatch(/\/ping|\/chatid/);
  await whatsapp.say(port, { id: "w1", text: { body: "number 3" } }, true);
  await until("it is answered there", () => whatsapp.sent.length > 0);
  expect(whatsapp.sent).toEqual([{ chat: "4915111", text: "I heard number 3." }]);
  telegram.say(-100, "@keel at length");
  await until("all of it is there", () => telegram.sent.at(-1)?.text.endsWith("End.") === true);
  const pieces = telegram.sent.slice(1).map(({ text }) => text);
  expect(pieces.length).toBeGreaterThan(3);
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(4_096);
    expect(piece.match(/```/g)?.length ?? 0).toSatisfy((count: number) => count % 2 === 0);
  }
  const log = (await stage.run(["groups", "log", "club"])).stdout;
  expect(log).not.toContain("secret thoughts");
  expect(telegram.seen.some((call) => call.path.endsWith("/sendChatAction"))).toBe(true);
});

test("many groups, cuts, 429s, duplicates and kill -9: each message is answered, in its order, and none is lost", async () => {
  verifies("S2.57", "S2.59");
  const count = countOf("group-storm");
  const groups = Math.min(20, Math.max(4, Math.floor(count / 20)));
  const kills = Math.max(2, Math.floor(count / 10));
  const { stage, telegram, whatsapp, port } = await openChannelStage(echo);
  let state = seed() >>> 0;
  const chance = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const chats = Array.from({ length: groups }, (_, at) =>
    at % 2 === 0
      ? { channel: "telegram", chat: String(-1_000 - at) }
      : { channel: "whatsapp", chat: `49151${1_000 + at}` },
  );
  for (const [at, { channel, chat }] of chats.entries())
    await stage.run(["groups", "register", `${channel}:${chat}`, `g${at}`, "--no-sandbox"]);
  /** What the channel itself makes unavoidable: it took a text, and nobody heard that it did. */
  let unheard = 0;
  telegram.trouble = (method) => {
    const dice = chance();
    if (method === "sendMessage" && dice < 0.05) {
      unheard++;
      return "cut-after";
    }
    return dice < 0.1 ? "cut-before" : dice < 0.13 ? "429" : dice < 0.16 ? "500" : undefined;
  };
  whatsapp.trouble = () => {
    const dice = chance();
    if (dice < 0.05) unheard++;
    return dice < 0.05 ? "cut-after" : dice < 0.1 ? "cut-before" : dice < 0.13 ? "429" : undefined;
  };
  let server = (await stage.serve()).child;
  const meant = new Map<string, number[]>(chats.map(({ chat }) => [chat, []]));
  const telling: Promise<void>[] = [];
  for (let number = 1; number <= count; number++) {
    const { channel, chat } = chats[Math.floor(chance() * groups)] ?? { channel: "", chat: "" };
    const isMeant = chance() < 0.7;
    const text = `${isMeant ? "@keel " : ""}number ${number}`;
    // A message that calls nobody is told with the next that does, or stays.
    if (isMeant) meant.get(chat)?.push(number);
    if (channel === "telegram") {
      const more = { message_id: 10_000 + number };
      telegram.say(Number(chat), text, more);
      if (chance() < 0.1) telegram.say(Number(chat), text, more);
    } else
      telling.push(
        whatsapp.say(port, { id: `w${number}`, from: chat, text: { body: text } }, chance() < 0.1),
      );
    // Of one chat, one after the other: whoever calls does so in order.
    if (channel === "whatsapp") await telling.at(-1);
    if (number % Math.max(1, Math.floor(count / kills)) === 0) {
      await pause(chance() * 600);
      server.kill("SIGKILL");
      server = (await stage.serve()).child;
    }
  }
  await Promise.all(telling);
  const saidTo = (chat: string): string[] =>
    [...telegram.sent, ...whatsapp.sent].filter((one) => one.chat === chat).map(({ text }) => text);
  const heardIn = (chat: string): Set<number> => new Set(saidTo(chat).flatMap(numbersIn));
  const missing = (): number[] =>
    chats.flatMap(({ chat }) => (meant.get(chat) ?? []).filter((number) => !heardIn(chat).has(number)));
  const late = Date.now() + patienceMs * (1 + count / 100);
  while (missing().length > 0 && Date.now() < late) await pause(100);
  expect(missing()).toEqual([]);
  let doubled = 0;
  for (const { chat } of chats) {
    const texts = saidTo(chat);
    doubled += texts.length - new Set(texts).size;
    const inOrder = [...new Set(texts)].flatMap(numbersIn);
    expect(inOrder, chat).toEqual(inOrder.toSorted((left, right) => left - right));
    expect(new Set(inOrder).size, chat).toBe(inOrder.length);
    expect(texts.join("\n")).not.toContain("secret thoughts");
  }
  expect(doubled).toBeLessThanOrEqual(unheard + kills);
}, 3_600_000);
