/**
 * `keel` on a terminal: asks what has to be known first, opens the session, and gives it a screen; or plain lines, where
 * a screen would be in the way. Ends when the person does, and leaves the terminal as it was.
 */
import { setFlagsFromString } from "node:v8";
import { type Home, openHome } from "../../app/home.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import { nearHandle } from "../../app/sessions/near-handle.ts";
import type { KeelClient } from "../../client/connect.ts";
import { Fault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { valueAt } from "../../kernel/json.ts";
import { choose, lookFor } from "./choice.ts";
import type { ScreenDoor, ScreenWishes } from "./door.ts";
import { withoutKey } from "./first-run.ts";
import { ownMemory } from "./own-memory.ts";
import { ownSide } from "./own-side.ts";
import { fromHome } from "./rows/context.ts";
import type { ScreenEnd, ScreenEnvironment, ScreenHost, SessionsSide, SettingsSide } from "./screen/host.ts";
import { listPanel, type PanelItem } from "./screen/panel.ts";
import { runScreen } from "./screen/run.ts";
import { sayAgo } from "./screen/screen-row.ts";
import { screenSettings } from "./screen/settings.ts";
import { inertOne } from "./text/inert.ts";
import { dim, type PrintLine, words } from "./text/styled.ts";
import { trustFirst } from "./trust.ts";

export async function startScreen(
  wanted: OpenOptions,
  door: ScreenDoor,
  wishes: ScreenWishes = {},
): Promise<number> {
  const home = openHome(wanted);
  let options = wanted;
  if (wishes.pick) {
    const picked = await pickSession(home, door);
    if (picked === undefined) return exitCodes.ended;
    options = { ...wanted, which: { kind: "resume", from: { session: picked } } };
  }
  if (!wishes.rehearsal) await trustFirst(options, door);
  let more = wishes;
  for (;;) {
    const session = await openOr(home, options, door);
    if (typeof session === "number") return session;
    if (typeof session === "string") return await attachScreen(session, { ...door, home: home.path });
    const end = await show(session, home, { door, wishes: more, options });
    if (end.kind !== "switch") return await ended(session, end, { ...door, rehearsal: wishes.rehearsal });
    await session.close("ended");
    options = {
      ...wanted,
      which: { kind: "resume", from: { session: end.session } },
      unfinished: "continue",
    };
    more = {};
  }
}

/**
 * Without a key the person is told what there is to do, and what they choose may be to end: a code. The id of a session
 * that the server of the home has, to be joined there.
 */
async function openOr(
  home: Home,
  options: OpenOptions,
  door: ScreenDoor,
): Promise<OpenSession | number | string> {
  try {
    return await home.open({ ...options, letters: "asked" });
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "session_served") return String(thrown.detail["session"]);
    if (!(thrown instanceof Fault) || (thrown.code !== "key_missing" && thrown.code !== "no_model"))
      throw thrown;
    return await withoutKey(thrown, door);
  }
}

/** A session of the server of this home. It goes on when the screen has gone. Throws `link_lost` where none runs. */
async function attachScreen(id: string, door: ScreenDoor & { readonly home: string }): Promise<number> {
  const { connectHere } = await import("../../app/sessions/home-server.ts");
  const { client } = await connectHere(door.home, "keel");
  try {
    return await screenOn({ client, id, again: `keel attach ${id}` }, door);
  } finally {
    client.close();
  }
}

/** A session of a server, wherever that is. `again` is how one comes back to it. */
export async function screenOn(
  { client, id, again }: { readonly client: KeelClient; readonly id: string; readonly again: string },
  door: ScreenDoor & { readonly home: string },
): Promise<number> {
  const { farSessions, onLinkOf } = await import("./far.ts");
  const clock = { now: () => Date.now() };
  for (let session = id; ; ) {
    const handle = client.attach(session);
    const { effective } = await handle.inquire("settings");
    const end = await runOn({
      handle,
      terminal: door.terminal,
      own: ownSide({ env: door.env, home: door.home, process }),
      sessions: farSessions(client, clock.now),
      settings: screenSettings(effective),
      budgetUsd: budgetIn(effective),
      env: door.env,
      version: door.version,
      onLink: onLinkOf(client),
      signal: door.stopped.signal,
      guard: door.guard,
      clock,
    });
    if (end.kind === "stopped") return door.stopped.code();
    if (end.kind === "switch") session = end.session;
    else {
      door.say(
        end.kind === "closed"
          ? "The session was closed."
          : `Left. It goes on at the server: ${again.replace(id, session)}`,
      );
      return exitCodes.ended;
    }
  }
}

/** On the screen, or as plain lines. */
async function runOn(host: ScreenHost): Promise<ScreenEnd> {
  // It stays open all day: V8 gives back what it does not need, for a little more time (docs/decisions/0032).
  setFlagsFromString("--memory-saver-mode");
  try {
    if (!host.settings.plain && !isPlain(host.env)) return await runScreen(host);
    const { runPlain } = await import("./plain.ts");
    return await runPlain(host);
  } finally {
    await host.handle.detach();
  }
}

async function show(
  session: OpenSession,
  home: Home,
  { door, wishes, options }: { door: ScreenDoor; wishes: ScreenWishes; options: OpenOptions },
): Promise<ScreenEnd> {
  const { env } = door;
  const { effective } = await session.inquire("settings");
  const settings = screenSettings(effective);
  const handle = nearHandle(session);
  const clock = { now: () => Date.now() };
  // A turn that an earlier process left unfinished goes on.
  if (session.hasWork()) session.run().catch(() => undefined);
  const host: ScreenHost = {
    handle,
    terminal: door.terminal,
    own: ownSide({ env, home: home.path, process }),
    sessions: {
      ...nearSessions(home, session, clock.now),
      settings: ownSettings(options),
      memory: ownMemory(home, session, options),
    },
    settings,
    budgetUsd: options.maxBudgetUsd ?? budgetIn(effective),
    env,
    version: door.version,
    welcome: [...(wishes.welcome ?? opening(session, door)), ...notices(session, door)],
    draft: wishes.draft,
    prompt: wishes.prompt,
    signal: door.stopped.signal,
    guard: door.guard,
    clock,
  };
  return await runOn(host);
}

/** Terminals that cannot be drawn on, and readers that read out what is drawn. */
export const isPlain = (env: ScreenEnvironment): boolean =>
  env["TERM"] === "dumb" || (env["TERM"] ?? "") === "" || env["KEEL_PLAIN"] === "1";

function opening(session: OpenSession, { version, env }: ScreenDoor): PrintLine[] {
  const { signs } = lookFor(env);
  const { cwd, model } = session.info;
  const place = fromHome(cwd, env["HOME"] ?? "");
  return [words([dim(`Keel ${version} ${signs.dot} ${model} ${signs.dot} ${inertOne(place)}`)])];
}

function notices({ notices: all }: OpenSession, { env }: ScreenDoor): PrintLine[] {
  const { signs } = lookFor(env);
  return all
    .filter(({ level }) => level === "warning")
    .map(({ text }) => words([dim(`${signs.warning} ${text.replaceAll("\n", " ")}`)], 2));
}

async function pickSession(
  home: Home,
  { terminal, env, cwd, stopped }: ScreenDoor,
): Promise<string | undefined> {
  const items = await listSessions(home, cwd, Date.now());
  const { previewSession } = await import("./screen/perform.ts");
  const picked = await choose({
    ports: terminal,
    env,
    panel: listPanel("resume", "Which session?", items, "Enter goes on with it, Esc leaves"),
    preview: (item, context) => previewSession(home.sessions.read(item.id), context),
    signal: stopped.signal,
  });
  return picked?.id;
}

/** A session in which nothing was said leaves nothing behind to come back to. */
async function ended(
  session: OpenSession,
  end: ScreenEnd,
  { say, stopped, rehearsal }: ScreenDoor & Pick<ScreenWishes, "rehearsal">,
): Promise<number> {
  const hasSaid = session.bill().costUsd > 0 || (await hasInputs(session));
  await session.close(end.kind === "stopped" ? "stopped" : "ended");
  if (end.kind === "stopped") return stopped.code();
  if (rehearsal) for (const line of rehearsal(session.id)) say(line);
  else if (hasSaid) say(`Ended. The session is kept: keel --resume ${session.id}`);
  return exitCodes.ended;
}

async function hasInputs(session: OpenSession): Promise<boolean> {
  for await (const event of session.history()) if (event.type === "input.accepted") return true;
  return false;
}

const maxListed = 200;

function nearSessions(home: Home, session: OpenSession, now: () => number): SessionsSide {
  return {
    list: () => listSessions(home, session.info.cwd, now()),
    read: (id) => (id === session.id ? session.history() : home.sessions.read(id)),
    async keepRule(rule, to) {
      const { file } = await session.keepRule(rule, to);
      return `Written: ${file}`;
    },
    async dropRule(rule, list, from) {
      await session.changePermissions([{ type: "rules", change: "remove", list, rules: [rule], to: from }]);
      return "Taken away, here and from its settings file.";
    },
  };
}

/** The person's own settings, by name; what is written counts for the screen at once, for the rest with the next session. */
function ownSettings({ cwd, env, home }: OpenOptions): SettingsSide {
  const place = { cwd, env, ...(home === undefined ? {} : { home }) };
  const configure = () => import("../../app/maintenance/configure.ts");
  return {
    schema: async () => (await configure()).settingsSchema(),
    async write(name, text) {
      const { setSetting, unsetSetting } = await configure();
      const { file } =
        text === undefined
          ? await unsetSetting(place, { name, from: "user" })
          : await setSetting(place, { name, text, to: "user" });
      return `Written: ${file}`;
    },
    read: async () => (await (await configure()).resolveSettingsOf(place)).effective,
  };
}

function budgetIn(effective: unknown): number | undefined {
  const found = valueAt(effective, ["limits", "maxBudgetUsd"]);
  return typeof found === "number" ? found : undefined;
}

/** Those of the folder first, then the others of the home. */
async function listSessions(home: Home, cwd: string, now: number): Promise<readonly PanelItem[]> {
  const all = await home.sessions.list({ limit: maxListed });
  const here = all.filter((one) => one.cwd === cwd);
  const elsewhere = all.filter((one) => one.cwd !== cwd);
  return [...here, ...elsewhere]
    .filter(({ firstInput, title }) => firstInput !== undefined || title !== undefined)
    .map(({ id, title, firstInput, changedAt, cwd: folder }) => ({
      id,
      label: (title ?? firstInput ?? "").replace(/\s+/g, " ").trim(),
      note: folder === cwd ? sayAgo(now - changedAt) : `${folder}, ${sayAgo(now - changedAt)}`,
    }));
}
