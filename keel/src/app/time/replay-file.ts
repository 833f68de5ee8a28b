/**
 * A session as one file that replays elsewhere: its log and those of its agents, the files that it keeps, and what of the
 * person's settings a replay goes by. Without secrets; the data stands in a page that a browser shows.
 */
import { createHash } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import { asObject, asText, isObject, parseJson } from "../../kernel/json.ts";
import { parseWith } from "../../kernel/schema.ts";
import { type Durable, durableEventSchema } from "../../protocol/event/durable.ts";
import { isSurelyEvent } from "../../store/jsonl/records.ts";
import { replayLog } from "../../time/replay/replay.ts";
import { sumAgain } from "../../time/replay/sum-again.ts";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import { readSettings } from "../compose/settings.ts";
import { allSecrets } from "../maintenance/keys.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import { type ReplaySettings, replayWorld } from "./replay-world.ts";
import { scrubOf } from "./scrub-logs.ts";

const format = 1;

export type NamedEvents = { readonly name: string; readonly events: readonly Durable[] };

export type ReplayFile = {
  readonly keel: string;
  readonly settings: ReplaySettings;
  /** The session first. */
  readonly logs: readonly NamedEvents[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
};

export type WrittenReplay = {
  /** Without secrets. */
  readonly logs: readonly NamedEvents[];
  /** To stand anywhere in a page. */
  readonly block: string;
  readonly secrets: number;
  /** Logs that already go another way here, and from which event on. */
  readonly differs: readonly { readonly name: string; readonly seq: number }[];
  /** Kept files that are not there any more. */
  readonly lost: number;
};

export async function writeReplay(
  place: SettingsLocation & { readonly home: string; readonly version: string },
  logs: readonly NamedEvents[],
): Promise<WrittenReplay> {
  const { settings } = await readSettings(place);
  const kept = settingsOf(settings);
  const names = new Set(logs.flatMap(({ events }) => events.flatMap(blobsIn)));
  const store = openBlobs({ folder: path.join(place.home, "blobs"), now: () => 0 });
  const blobs = new Map<string, Uint8Array>();
  for (const name of names) {
    const content = await store.get(name);
    if (content) blobs.set(name, content);
  }
  const scrub = scrubOf(allSecrets(place), {
    values: [kept, ...logs.map(({ events }) => events)],
    files: [...blobs.values()],
  });
  const renamed = new Map<string, string>();
  const contents: Record<string, string> = {};
  for (const [name, content] of blobs) {
    const clean = scrub.bytes(content);
    const fresh = createHash("sha256").update(clean).digest("hex");
    renamed.set(name, fresh);
    contents[fresh] = Buffer.from(clean).toString("base64");
  }
  const worldOf = await replayWorld(place, {});
  const differs: { name: string; seq: number }[] = [];
  const clean: NamedEvents[] = [];
  for (const { name, events } of logs) {
    const scrubbed = scrub.value(events).map((event) => withBlobs(event, renamed));
    if (scrub.found === 0) {
      const { difference } = await replayLog(events, worldOf(events));
      if (difference) differs.push({ name, seq: difference.seq });
      clean.push({ name, events: scrubbed });
      continue;
    }
    const again = await sumAgain(events, scrubbed, worldOf(events));
    if (again.differsFrom !== undefined) differs.push({ name, seq: again.differsFrom });
    clean.push({ name, events: again.events });
  }
  const data = { format, keel: place.version, settings: scrub.value(kept), logs: clean, blobs: contents };
  return {
    logs: clean,
    block: await blockOf(JSON.stringify(data)),
    secrets: scrub.found,
    differs,
    lost: names.size - blobs.size,
  };
}

function settingsOf(settings: KeelSettings): ReplaySettings {
  const { models, modelAliases, outputStyle, limits, autoCompactEnabled, autoCompactWindow } = settings;
  return { models, modelAliases, outputStyle, limits, autoCompactEnabled, autoCompactWindow };
}

const blobsIn = (event: Durable): string[] =>
  event.type === "files.saved" ? event.files.flatMap(({ blob }) => blob ?? []) : [];

const withBlobs = (event: Durable, renamed: ReadonlyMap<string, string>): Durable =>
  event.type === "files.saved"
    ? {
        ...event,
        files: event.files.map(({ path: file, blob }) => ({
          path: file,
          blob: blob === null ? null : (renamed.get(blob) ?? blob),
        })),
      }
    : event;

const opening = '<script type="application/x-keel-replay" data-sha256="';

async function blockOf(json: string): Promise<string> {
  const packed = (await promisify(gzip)(json)).toString("base64");
  return `${opening}${sumOf(packed)}">${packed}</script>`;
}

const sumOf = (packed: string): string => createHash("sha256").update(packed).digest("hex");

/** Throws `log_unreadable` for what is no such file, or was changed. */
export async function readReplay(file: string, page: string): Promise<ReplayFile> {
  const damaged = (reason: string): never => {
    throw fault("log_unreadable", { path: file, reason });
  };
  const [, sum, packed] = page.match(block) ?? damaged("it has no recorded session in it");
  if (packed === undefined || sumOf(packed) !== sum) return damaged("it was changed after it was written");
  const json = await promisify(gunzip)(Buffer.from(packed, "base64")).catch(() => damaged("it is torn"));
  const data = asObject(parseJson(json.toString("utf8")) ?? damaged("it is torn"));
  if (data["format"] !== format) return damaged("it was written by another version of Keel");
  const logs = Array.isArray(data["logs"]) ? data["logs"] : [];
  return {
    keel: asText(data["keel"]),
    // As it was written here: the sum says so.
    settings: asObject(data["settings"]) as ReplaySettings,
    logs: logs.map((each) => {
      const { name, events } = asObject(each);
      if (!Array.isArray(events)) return damaged("a log is missing");
      const unknown = events.find((event) => !isEvent(event));
      if (unknown !== undefined) return damaged("it has an event that this Keel does not know");
      return { name: asText(name), events };
    }),
    blobs: new Map(
      Object.entries(asObject(data["blobs"])).map(([name, content]) => [
        name,
        Buffer.from(asText(content), "base64"),
      ]),
    ),
  };
}

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  typeof value["seq"] === "number" &&
  typeof value["at"] === "number" &&
  typeof value["session"] === "string" &&
  (isSurelyEvent(value) || parseWith(durableEventSchema, value).ok);

const block =
  /<script type="application\/x-keel-replay" data-sha256="([0-9a-f]{64})">([A-Za-z0-9+/=]*)<\/script>/;
