/**
 * Takes a transcript of the official interface over as a session of ours, with those of its agents. It is read twice and
 * never held; it is written in a place of its own, and appears under its name only when it is whole. A session that is
 * there stays as it is, whatever the file says by now; the file is never changed.
 */
import { existsSync } from "node:fs";
import { link, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import { asObject, asText, parseJson } from "../../kernel/json.ts";
import { resultOf } from "../../kernel/one-by-one.ts";
import { fingerprint } from "../../kernel/text.ts";
import { isUuid, uuidFrom } from "../../kernel/uuid.ts";
import { catalog } from "../../models/catalog.ts";
import type { Log, Store } from "../../ports/store.ts";
import { billSince, foldBill } from "../../protocol/bill.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { type Block, textOf } from "../../protocol/message.ts";
import type { TaskData } from "../../protocol/task.ts";
import { type Bill, type ItemizedBill, noBill } from "../../protocol/usage.ts";
import { jsonlStore } from "../../store/jsonl/store.ts";
import type { HomeResources } from "../compose/home-resources.ts";
import { indexTranscript, linesOf, type RawLine, type TranscriptIndex } from "./index-transcript.ts";
import { agentTranscripts, findTranscript } from "./places.ts";
import { readLine } from "./read-line.ts";
import { LogBuilder, type OtherSession } from "./to-events.ts";

export type ImportedTranscript = {
  readonly id: string;
  /** `there`: it was imported before, or is a session of ours; nothing was changed. */
  readonly state: "new" | "there";
  readonly events: number;
  readonly agents: number;
  readonly notices: readonly string[];
};

export type ImportPlace = Pick<HomeResources, "path" | "clock" | "ids" | "store" | "logs"> & {
  readonly version: string;
  /** Where a session is that does not say its folder. */
  readonly cwd: string;
};

/** Throws `not_imported` for a file that holds no conversation; nothing is then left behind. */
export async function importTranscript(file: string, place: ImportPlace): Promise<ImportedTranscript> {
  const { store } = place;
  const named = idIn(path.basename(file));
  if (named !== undefined && (await store.list({ only: named })).length > 0) return there(named);
  const index = await indexTranscript(file, "session").catch((cause: unknown) => {
    throw fault("not_imported", { path: file, reason: "it cannot be read.", cause });
  });
  const id = named ?? idIn(`${index.sessionId}.jsonl`) ?? uuidFrom(path.resolve(file));
  if (named === undefined && (await store.list({ only: id })).length > 0) return there(id);
  if (index.kept.size === 0)
    throw fault("not_imported", { path: file, reason: "it is no log of Keel, and holds no conversation." });
  const staging = path.join(place.path, `importing-${place.ids.uuid()}`);
  try {
    const own = jsonlStore({ home: staging, clock: place.clock, ids: place.ids });
    const written = await new TranscriptImport(file, { ...place, id, index, store: own }).run();
    if (!(await appear(own.location(id) ?? "", { staging, home: place.path }))) return there(id);
    const to = await place.logs.kind();
    if (to !== "jsonl") await resultOf(place.logs.move({ to, sessions: [id] }, store.leases));
    return { id, state: "new", ...written, notices: sayDamage(index, file) };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * The session that is meant by a file, or by an id that only a transcript has: taken over if it was not yet. Undefined
 * where there is no such file.
 */
export async function takeOver(
  named: string,
  { env, ...place }: ImportPlace & { readonly env: EnvironmentVariables },
): Promise<ImportedTranscript | undefined> {
  const isPath = named.endsWith(".jsonl");
  const file = isPath ? path.resolve(place.cwd, named) : await findTranscript(env, { ...place, id: named });
  if (file === undefined || (isPath && !existsSync(file))) return undefined;
  return importTranscript(file, place);
}

const there = (id: string): ImportedTranscript => ({
  id,
  state: "there",
  events: 0,
  agents: 0,
  notices: [],
});

const idIn = (name: string): string | undefined => {
  const id = name.replace(/\.jsonl$/, "").toLowerCase();
  return isUuid(id) ? id : undefined;
};

function sayDamage({ damaged }: TranscriptIndex, file: string): string[] {
  if (damaged.length === 0) return [];
  const some = damaged.slice(0, 10).join(", ");
  const more = damaged.length > 10 ? ` and ${damaged.length - 10} more` : "";
  const lines = damaged.length === 1 ? "line" : "lines";
  return [`${file}: ${lines} ${some}${more} cannot be read and are left out; they stay in the file.`];
}

/** Its agents first, then the log itself, by a name that must be free. False when somebody was faster. */
async function appear(log: string, { staging, home }: { staging: string; home: string }): Promise<boolean> {
  const target = path.join(home, path.relative(staging, log));
  const beside = (file: string): string => file.replace(/\.jsonl$/, "");
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  await rename(beside(log), beside(target)).catch(() => undefined);
  try {
    await link(log, target);
    return true;
  } catch {
    return false;
  }
}

type ImportedAgent = { readonly taskId: string; readonly data: TaskData };

/** With where it is written before it appears. */
type ImportTarget = Omit<ImportPlace, "store"> & {
  readonly store: Store;
  readonly id: string;
  readonly index: TranscriptIndex;
};

/** Events that are written at once. */
const maxHeld = 500;

class TranscriptImport {
  readonly #file: string;
  readonly #place: ImportTarget;
  readonly #agents = new Map<string, ImportedAgent>();
  readonly #strays: ImportedAgent[] = [];
  readonly #models = catalog();

  constructor(file: string, place: ImportTarget) {
    this.#file = file;
    this.#place = place;
  }

  async run(): Promise<{ events: number; agents: number }> {
    const { id, index, store } = this.#place;
    const cwd = index.cwd ?? this.#place.cwd;
    const log = await store.create(id, { cwd });
    try {
      await this.#importAgents();
      const strays = this.#strays.map(
        (agent): DurableEvent => ({ type: "task.changed", status: "completed", ...agent }),
      );
      const about = { agentOf: (callId: string) => this.#agents.get(callId) };
      const { count } = await this.#fill(log, { file: this.#file, lines: index.kept }, about, strays);
      return { events: count, agents: this.#agents.size + strays.length };
    } finally {
      await log.close();
    }
  }

  /** Those in files of their own, and those in the same file, as old versions wrote them. */
  async #importAgents(): Promise<void> {
    const folder = agentTranscripts(this.#file);
    const names = (await readdir(folder).catch(() => [])).filter((name) => /^agent-.+\.jsonl$/.test(name));
    for (const name of names.sort()) {
      const file = path.join(folder, name);
      const index = await indexTranscript(file, "agent").catch(() => undefined);
      const meta = asObject(
        parseJson(await readFile(file.replace(/jsonl$/, "meta.json"), "utf8").catch(() => "")),
      );
      if (index && index.kept.size > 0)
        await this.#importAgent(name.slice(6, -6), { file, lines: index.kept, meta, model: index.model });
    }
    for (const [agentId, lines] of this.#place.index.agents)
      await this.#importAgent(agentId, { file: this.#file, lines, meta: {}, model: undefined });
  }

  async #importAgent(
    agentId: string,
    { file, lines, meta, model }: TranscriptPart & { meta: RawLine; model: string | undefined },
  ): Promise<void> {
    const { id, index, store } = this.#place;
    const prompt = await firstWords(file, lines);
    const { calls } = index;
    const callId = asText(meta["toolUseId"]) || calls.get(agentId) || calls.get(fingerprint(prompt)) || "";
    const session = uuidFrom(`${id}/agent/${agentId}`);
    const cwd = index.cwd ?? this.#place.cwd;
    const kind = asText(meta["agentType"]) || "agent";
    const log = await store.create(session, { cwd, parent: id });
    try {
      const about = {
        id: session,
        parent: { session: id, callId },
        agent: kind,
        ...(model ? { model } : {}),
      };
      const { bill, report } = await this.#fill(log, { file, lines }, about);
      const data: TaskData = {
        kind: "agent",
        origin: "waited",
        ...(callId === "" ? {} : { callId }),
        agent: kind,
        session,
        depth: 1,
        description: asText(meta["description"]) || kind,
        prompt,
        report,
        bill,
        by: "itself",
        told: true,
      };
      if (callId === "" || this.#agents.has(callId)) this.#strays.push({ taskId: agentId, data });
      else this.#agents.set(callId, { taskId: agentId, data });
    } finally {
      await log.close();
    }
  }

  async #fill(
    log: Log,
    { file, lines }: TranscriptPart,
    about: Partial<OtherSession>,
    more: readonly DurableEvent[] = [],
  ): Promise<{ count: number; bill: Bill; report: string }> {
    const { id, index, version } = this.#place;
    const builder = new LogBuilder({
      id,
      cwd: index.cwd ?? this.#place.cwd,
      version,
      model: index.model ?? "",
      title: about.parent ? undefined : index.title,
      prices: (model) => this.#models.info(model).prices,
      ...about,
    });
    let bill: ItemizedBill = noBill;
    let report = "";
    const write = async (): Promise<void> => {
      const events = builder.taken();
      for (const event of events) {
        bill = foldBill(bill, event);
        if (event.type === "model.finished") report = textIn(event.content) || report;
      }
      if (events.length > 0) await log.append(events);
    };
    let metadata: unknown;
    let held = 0;
    let left = lines.size;
    for await (const [number, raw] of linesOf(file)) {
      if (left === 0) break;
      if (!raw || !lines.has(number)) continue;
      left--;
      if (raw["subtype"] === "compact_boundary") metadata = raw["compactMetadata"];
      const said = raw["isCompactSummary"] === true ? { ...raw, compactMetadata: metadata } : raw;
      for (const line of readLine(said)) builder.take(line);
      if (++held % maxHeld === 0) await write();
    }
    builder.end(more);
    await write();
    return { count: builder.count, bill: billSince(bill, noBill), report };
  }
}

type TranscriptPart = { readonly file: string; readonly lines: ReadonlySet<number> };

const textIn = (content: readonly Block[]): string => textOf(content).trim();

async function firstWords(file: string, lines: ReadonlySet<number>): Promise<string> {
  for await (const [number, raw] of linesOf(file)) {
    if (!raw || !lines.has(number)) continue;
    const [said] = readLine(raw);
    if (said?.kind === "said") return textOf(said.content);
  }
  return "";
}
