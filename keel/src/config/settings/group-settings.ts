/** Settings of chat groups: how many agents work at once, what their boxes are, and where their channels stand. */
import * as z from "zod/mini";
import { amount, positive, setting, texts } from "./permission-settings.ts";

const allowedMount = z.object({
  path: z
    .string()
    .check(z.minLength(1), z.describe("A folder; it and what is below may be given to groups.")),
  write: setting(
    z.enum(["nobody", "main", "all"]),
    "Whose agents may write there, where their group asks for it; `nobody` if left out.",
  ),
});

const telegram = z.object({
  apiUrl: setting(z.string(), "Where the Bot API stands; Telegram's own address if left out."),
});

const irc = z.object({
  host: z.string().check(z.minLength(1), z.describe("The server.")),
  port: setting(positive, "Its port; 6697 if left out, or 6667 without TLS."),
  tls: setting(z.boolean(), "`false`: the connection is not encrypted."),
  nick: setting(z.string(), "What the agent is called there; `keel` if left out."),
});

const whatsapp = z.object({
  phoneNumberId: z.string().check(z.regex(/^\d{1,32}$/), z.describe("The id of the number that answers.")),
  apiUrl: setting(z.string(), "Where the Cloud API stands; Meta's own address if left out."),
  port: setting(
    z.int().check(z.minimum(0), z.maximum(65_535)),
    "Where Meta's calls come in, on 127.0.0.1 behind a tunnel of yours; 8317 if left out.",
  ),
});

export const groups = z.object({
  maxConcurrent: setting(
    positive,
    "How many agents of groups work at once; 5 if left out, or what MAX_CONCURRENT_CONTAINERS says.",
  ),
  idleMinutes: setting(amount, "A box ends so long after its last query; 30 if left out."),
  hardMinutes: setting(amount, "An agent that has said nothing for so long is stopped; 60 if left out."),
  mounts: setting(
    z.array(allowedMount),
    "Folders that groups may be given beside their own; none if left out.",
  ),
  runtime: setting(
    z.string(),
    "What runs containers: `docker`, `podman`, `container`, or the path of one; the first that is found if left out.",
  ),
  image: setting(z.string(), "The image of containers, with `keel` in it."),
  env: setting(texts, "Variables that containers see beside the keys of providers, by name."),
  telegram: setting(telegram, "The channel Telegram."),
  irc: setting(irc, "The channel IRC."),
  whatsapp: setting(whatsapp, "The channel WhatsApp, by its Cloud API."),
});
