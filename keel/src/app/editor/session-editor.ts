/**
 * A session and the editor of its folder. What the person has selected or points at goes to the model as a reminder, at
 * most once a turn and behind all that was said; a change of a file that is asked about is shown in the editor too, and
 * its yes or no is an answer like any other. Whoever answers first counts.
 */
import { note } from "../../core/context/blocks.ts";
import { enclose } from "../../core/context/enclose.ts";
import { fault } from "../../kernel/fault.ts";
import { asObject, type Json } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import { applyHunks } from "../../protocol/apply-hunks.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import type { Command } from "../../protocol/command.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import { EditorLink, type EditorState, type PlaceInFile } from "./editor-link.ts";
import { type EditorLock, editorsOf, lockFolders, runningEditors } from "./editor-locks.ts";

export type EditorSite = {
  readonly cwd: string;
  /** Keel's own folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "random">;
  onEvent(listener: (event: Envelope) => void): () => void;
  openAsks(): readonly Ask[];
  submit(command: Command): Promise<unknown>;
  /** Undefined for a file that the model may not read unasked either. */
  readFile(path: string, limits: { maxBytes: number }): Promise<{ readonly bytes: Uint8Array } | undefined>;
  /** Why the model is not told of a file; undefined where it may be. */
  whyNotTold(path: string): Promise<string | undefined>;
  say(level: "info" | "warning", text: string): void;
};

/** What a screen says of it. */
export type EditorStatus = EditorState & { readonly file?: string | undefined };

/** What is shown as a whole; of a longer file the terminal asks. */
const maxShownBytes = 1024 * 1024;
const maxMentions = 20;
/** What a reminder may take of a conversation. */
const maxToldCharacters = 4_000;
/** How long the first request waits for an editor that is being connected. */
const firstWaitMs = 1_000;

export class SessionEditor {
  readonly #site: EditorSite;
  readonly #shown = new Map<string, AbortController>();
  readonly #undo: () => void;
  #link: EditorLink | undefined;
  #mentions: PlaceInFile[] = [];
  #turn: string | undefined;
  #told = "";
  #lost: string | undefined;

  constructor(site: EditorSite) {
    this.#site = site;
    this.#undo = site.onEvent((event) => {
      if (event.type === "ask.opened") void this.#show(event.ask);
      if (event.type === "ask.closed") this.#withdraw(event.askId);
    });
  }

  status(): EditorStatus {
    const link = this.#link;
    return link ? { ...link.state, file: link.selection?.path } : { state: "off" };
  }

  /** All that run, and whether they have this folder open. */
  async editors(): Promise<(EditorLock & { readonly fits: boolean })[]> {
    const { cwd, home, env } = this.#site;
    const running = await runningEditors(lockFolders(home, env));
    const { near } = await editorsOf(cwd, running);
    return running.map((lock) => ({ ...lock, fits: near.includes(lock) }));
  }

  /**
   * One by its name or its port, or the one that has the folder open. Settles after the first try; `missing` is how loud
   * it is told that none came.
   */
  async connect(which?: string, missing: "info" | "warning" = "info"): Promise<EditorStatus> {
    if (which !== undefined) await this.#choose(which);
    this.leave();
    const { clock, ids, version, say } = this.#site;
    const link: EditorLink = new EditorLink({
      find: () => this.#choose(which),
      clock,
      draw: () => ids.random(),
      version,
      onState: (state) => {
        if (state.state === "connected") {
          this.#lost = undefined;
          say("info", `Connected to ${visible(state.name)} (port ${state.port}).`);
          for (const ask of this.#site.openAsks()) void this.#show(ask);
        }
        if (state.state === "waiting") this.#sayLost(state.reason, missing);
      },
      onMention: (place) => {
        this.#mentions = [...this.#mentions, place].slice(-maxMentions);
        say("info", `Goes along with your next words: ${visible(sayPlace(place))}`);
      },
    });
    this.#link = link;
    await link.tried;
    return this.status();
  }

  leave(): void {
    this.#link?.close();
    this.#link = undefined;
    this.#mentions = [];
    for (const id of [...this.#shown.keys()]) this.#withdraw(id);
  }

  close(): void {
    this.leave();
    this.#undo();
  }

  /** What was told is gone: the conversation begins anew. */
  forget(): void {
    this.#told = "";
  }

  /** For the first request of a turn; nothing for the others, nor where nothing is new. */
  async news(turn: string | undefined): Promise<InputBlock[]> {
    const link = this.#link;
    if (!link || turn === undefined || turn === this.#turn) return [];
    this.#turn = turn;
    const { clock } = this.#site;
    const over = new AbortController();
    await Promise.race([link.tried, clock.sleep(firstWaitMs, over.signal)]);
    over.abort();
    const mentions = this.#mentions;
    this.#mentions = [];
    const { selection } = link;
    const blocks = [
      ...(await this.#allowed(mentions)).map((place) => placeBlock(place, "pointed at")),
      ...(await this.#allowed(selection ? [selection] : [])).map((place) =>
        placeBlock(place, place.text === "" ? "open" : "selected"),
      ),
    ];
    const said = JSON.stringify(blocks);
    if (blocks.length === 0 || said === this.#told) return [];
    this.#told = said;
    return [note(fromEditor), ...blocks];
  }

  /** Once, however often it is tried. */
  #sayLost(reason: string, level: "info" | "warning"): void {
    if (reason !== this.#lost) this.#site.say(level, `No editor is connected: ${visible(reason)}`);
    this.#lost = reason;
  }

  /** What the model may not read is not told either, whoever has it open. */
  async #allowed<P extends PlaceInFile>(places: readonly P[]): Promise<P[]> {
    const why = await Promise.all(places.map(({ path }) => this.#site.whyNotTold(path)));
    return places.filter((_, index) => why[index] === undefined);
  }

  /** Throws `link_lost` where none fits, or several fit as well. */
  async #choose(which: string | undefined): Promise<EditorLock> {
    const { cwd, home, env } = this.#site;
    const { near, best } = await editorsOf(cwd, await runningEditors(lockFolders(home, env)));
    const lost = (reason: string) => fault("link_lost", { reason });
    const [first] = near;
    if (!first) throw lost("none that runs has this folder open.");
    if (which !== undefined) {
      const named = near.filter(
        ({ name, port }) => name.toLowerCase() === which.toLowerCase() || String(port) === which,
      );
      if (named.length !== 1 || !named[0])
        throw lost(
          `${named.length === 0 ? "none" : "more than one"} of ${sayAll(near)} is called ${visible(which)}.`,
        );
      return named[0];
    }
    // The terminal of an editor says whose it is.
    const around = near.find(({ port }) => String(port) === env["CLAUDE_CODE_SSE_PORT"]);
    if (best > 1 && !around)
      throw lost(`${sayAll(near.slice(0, best))} have this folder open: say /ide with one of them.`);
    return around ?? first;
  }

  async #show(ask: Ask): Promise<void> {
    const link = this.#link;
    if (link?.state.state !== "connected" || this.#shown.has(ask.id)) return;
    const withdrawn = new AbortController();
    this.#shown.set(ask.id, withdrawn);
    try {
      const change = await this.#changeOf(ask);
      if (!change || withdrawn.signal.aborted) return;
      const tab = `Keel: ${change.path.slice(change.path.lastIndexOf("/") + 1)} (${ask.id.slice(-6)})`;
      const answer = await link.openDiff({ ...change, tab }, withdrawn.signal);
      if (!answer || withdrawn.signal.aborted) return;
      await this.#site.submit({ type: "answer", askId: ask.id, answer: answerOf(ask, answer, change) });
    } catch {
      // Nobody has answered: the question stands where it stood.
    } finally {
      this.#shown.delete(ask.id);
    }
  }

  #withdraw(askId: string): void {
    this.#shown.get(askId)?.abort();
    this.#shown.delete(askId);
  }

  /** The file as it is and as it would be; undefined for what is no change of one, or cannot be shown whole. */
  async #changeOf({ kind, body, tool = "", input }: Ask): Promise<WholeChange | undefined> {
    if (kind !== "permission" || body.kind !== "diff" || !(tool in editedInputs)) return undefined;
    const isNew = body.hunks.length === 1 && body.hunks[0]?.oldLines === 0 && body.hunks[0].oldStart === 0;
    const read = await this.#site.readFile(body.path, { maxBytes: maxShownBytes });
    if (!read && !isNew) return undefined;
    const before = read ? new TextDecoder().decode(read.bytes) : "";
    // A line end of two signs does not come back from every editor as it went.
    const after = before.includes("\r") ? undefined : applyHunks(before, body.hunks);
    return after === undefined || after.includes("\r")
      ? undefined
      : { path: body.path, before, after, input: asObject(input) };
  }
}

type WholeChange = {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly input: Record<string, unknown>;
};

/** How a call says that the file becomes this text. */
const editedInputs: Readonly<Record<string, (change: WholeChange, text: string) => Record<string, unknown>>> =
  {
    Write: ({ input }, content) => ({ ...input, content }),
    Edit: ({ input, before }, text) => ({
      ...input,
      old_string: before,
      new_string: text,
      replace_all: false,
    }),
    MultiEdit: ({ input, before }, text) => ({ ...input, edits: [{ old_string: before, new_string: text }] }),
  };

function answerOf(
  { options, tool = "" }: Ask,
  shown: { readonly verdict: "accepted" | "rejected"; readonly text?: string },
  change: WholeChange,
): Answer {
  const verdict = shown.verdict === "accepted" ? "allow" : "deny";
  const option = options.find((each) => each.verdict === verdict && each.rule === undefined);
  const picked = option ? { option: option.id } : {};
  if (verdict === "deny")
    return { verdict, ...picked, reason: "The user rejected this change in the editor." };
  const isSame = shown.text === undefined || withEnd(shown.text) === withEnd(change.after);
  const edited = isSame ? undefined : editedInputs[tool]?.(change, shown.text ?? "");
  return { verdict, ...picked, ...(edited ? { input: edited as Json } : {}) };
}

/** Editors end every text with a line end. */
const withEnd = (words: string): string => (words === "" || words.endsWith("\n") ? words : `${words}\n`);

const fromEditor =
  "What the person has in front of them in their editor. It is background, and may have nothing to do with what they ask; what they point at belongs to what they say.";

function placeBlock(place: PlaceInFile & { readonly text?: string }, what: string): InputBlock {
  const { path, from, to, text: words = "" } = place;
  const lines = from === undefined ? undefined : from === to ? `${from}` : `${from}-${to}`;
  const shown = words.length > maxToldCharacters ? `${words.slice(0, maxToldCharacters)}\n…` : words;
  return text(enclose("keel-editor", { path, lines, what }, shown));
}

const sayPlace = ({ path, from, to }: PlaceInFile): string =>
  `${path}${from === undefined ? "" : from === to ? ` line ${from}` : ` lines ${from} to ${to}`}`;

const sayAll = (locks: readonly EditorLock[]): string =>
  locks.map(({ name, port }) => `${visible(name)} (${port})`).join(", ");
