/** WhatsApp's Cloud API over real HTTP, both ways: it takes texts, and it calls a webhook until that says yes. */
import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Loopback, loopback } from "./loopback.ts";

export const whatsappKeys = { token: "wa-token", secret: "wa-app-secret", verify: "wa-verify" };
export const phoneNumberId = "1055";
const ownNumber = "491700000000";

export type WhatsAppTrouble = "429" | "rate" | "500" | "400" | "cut-before" | "cut-after";

export type FakeWhatsApp = Loopback & {
  readonly sent: { readonly chat: string; readonly text: string }[];
  trouble: () => WhatsAppTrouble | undefined;
  /** Tells the webhook, again and again until it has it; `twice` once more after that. */
  say(port: number, message: Record<string, unknown>, twice?: boolean): Promise<void>;
};

export const sign = (body: string, secret = whatsappKeys.secret): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

export const callOf = (message: Record<string, unknown>, phone = phoneNumberId): string =>
  JSON.stringify({
    object: "whatsapp_business_account",
    entry: [
      {
        id: "1",
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: ownNumber, phone_number_id: phone },
              contacts: [{ wa_id: "4915111", profile: { name: "Ana" } }],
              messages: [{ from: "4915111", timestamp: "1790000000", type: "text", ...message }],
            },
          },
        ],
      },
    ],
  });

/** What the webhook answers. */
export async function callWebhook(
  port: number,
  body: string,
  signature: string | undefined = sign(body),
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/webhook`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(signature === "" ? {} : { "x-hub-signature-256": signature }),
    },
    body,
  });
  await response.text();
  return response.status;
}

export async function fakeWhatsApp(): Promise<FakeWhatsApp> {
  const sent: { chat: string; text: string }[] = [];
  const server = await loopback((response, { path, headers, body: text }) => {
    const answer = (status: number, body: object, more: Record<string, string> = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...more }).end(JSON.stringify(body));
    };
    const trouble = fake.trouble();
    if (trouble === "cut-before") return void response.destroy();
    if (headers.authorization !== `Bearer ${whatsappKeys.token}`)
      return answer(401, { error: { code: 190, message: "Invalid OAuth access token." } });
    if (trouble === "429")
      return answer(429, { error: { code: 130429, message: "Rate limit hit" } }, { "retry-after": "1" });
    if (trouble === "rate") return answer(400, { error: { code: 131056, message: "Pair rate limit hit" } });
    if (trouble === "500") return answer(500, { error: { code: 1, message: "API Unknown" } });
    if (trouble === "400") return answer(400, { error: { code: 131026, message: "Message undeliverable" } });
    const body = JSON.parse(text);
    if (path !== `/${phoneNumberId}/messages`)
      return answer(404, { error: { code: 100, message: "Unsupported" } });
    if (body.type === "text") sent.push({ chat: body.to, text: body.text.body });
    if (trouble === "cut-after") return void response.destroy();
    answer(200, { messaging_product: "whatsapp", messages: [{ id: `wamid.${sent.length}` }] });
  });
  const fake: FakeWhatsApp = {
    ...server,
    sent,
    trouble: () => undefined,
    async say(port, message, twice = false) {
      const body = callOf(message);
      for (let tries = 0; ; tries++) {
        const status = await callWebhook(port, body).catch(() => 0);
        if (status === 200) break;
        if (tries > 600) throw new Error(`the webhook does not take it: ${status}`);
        await pause(50);
      }
      if (twice) await callWebhook(port, body).catch(() => 0);
    },
  };
  return fake;
}
