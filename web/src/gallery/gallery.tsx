/** Every row, display, question and state of the page, from recorded events: to look at, and to be tested. */
import "./gallery.css";
import type { Ask, Display, Envelope } from "keel/protocol";
import { type Row, rowsOf, transcriptOf } from "keel/view";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { App } from "../app.tsx";
import { AskCard } from "../asks/ask-card.tsx";
import { DisplayView } from "../displays/display-view.tsx";
import { Announcer } from "../kit/announce.tsx";
import { browserPorts } from "../live/browser-ports.ts";
import { keptNowhere, type UnsentInput } from "../live/kept-events.ts";
import { type Navigation, NavigationContext } from "../live/navigation.ts";
import { Cell } from "../live/observable.ts";
import { World, WorldContext } from "../live/world.ts";
import { LoginPage } from "../login/login-page.tsx";
import { PairPage } from "../login/pair-page.tsx";
import type { Route } from "../route.ts";
import { type RowActions, RowActionsContext, TranscriptContext } from "../rows/row-actions.ts";
import { WholeRow } from "../rows/row-view.tsx";
import { overs } from "./overs.tsx";
import { Parts, Sheet } from "./parts.tsx";
import { type Recording, recordedClient } from "./recorded-client.ts";
import { displaySamples, formAsk, hostileRows } from "./samples.ts";
import { recorded, scene } from "./scenes.ts";
import { comments, diff } from "./worker-samples.ts";

type Shelf = { readonly title: string; readonly show: () => ReactElement };

/** A page as a person would see it, on a recording. */
const page =
  (route: Route, recording: Recording = scene): (() => ReactElement) =>
  () => <Staged route={route} recording={recording} />;

const worker = (workspace: string, kind = "agent"): Route => ({
  page: "worker",
  workspace,
  worker: `${workspace}-${kind}`,
});

const unsent: readonly UnsentInput[] = [
  {
    id: "1",
    session: "login",
    at: 0,
    command: {
      type: "input",
      id: "1",
      content: [{ type: "text", text: "And add a test that a login of an hour ago is over." }],
      when: "now",
    },
  },
];

export const shelves: Readonly<Record<string, Shelf>> = {
  parts: { title: "Parts", show: () => <Parts /> },
  rows: { title: "Rows", show: () => <Rows /> },
  displays: { title: "Displays", show: () => <Displays /> },
  asks: { title: "Questions", show: () => <Asks /> },
  hostile: { title: "Hostile texts", show: () => <Hostile /> },
  conversation: { title: "A conversation that asks", show: page(worker("login-fix")) },
  question: { title: "A question", show: page(worker("database")) },
  failed: { title: "A turn that failed", show: page(worker("drafts")) },
  background: { title: "Shortened, with a task", show: page(worker("api")) },
  streaming: { title: "A reply that is being written", show: page(worker("prices")) },
  interrupted: { title: "A turn that was interrupted", show: page(worker("speed")) },
  begun: { title: "Nothing was said yet", show: page(worker("new")) },
  bare: { title: "A workspace without workers", show: page({ page: "worker", workspace: "bare" }) },
  old: { title: "An old session", show: page({ page: "session", session: "image" }) },
  overview: { title: "All work", show: page({ page: "overview" }) },
  inbox: { title: "All questions", show: page({ page: "asks" }) },
  diff: { title: "A diff", show: page(worker("login-fix", "diff")) },
  comments: {
    title: "Comments on a diff",
    show: page(worker("login-fix", "diff"), {
      ...scene,
      notes: { "keel.comments.login-fix-diff": JSON.stringify(comments) },
    }),
  },
  unchanged: {
    title: "A diff of nothing",
    show: page(worker("login-fix", "diff"), { ...scene, diff: { ...diff, files: [], added: 0, removed: 0 } }),
  },
  terminal: { title: "A terminal", show: page(worker("login-fix", "terminal")) },
  quiet: { title: "No question", show: page({ page: "asks" }, {}) },
  empty: { title: "Nothing yet", show: page({ page: "overview" }, {}) },
  plan: { title: "A plan", show: page(worker("plan")) },
  foreign: { title: "Another engine", show: page(worker("routes")) },
  watching: {
    title: "A device that may only watch",
    show: page(worker("login-fix"), { ...scene, access: "watch" }),
  },
  create: { title: "A new workspace", show: () => <Over what="create" /> },
  agent: { title: "A new agent", show: () => <Over what="agent" /> },
  rename: { title: "Another name", show: () => <Over what="rename" /> },
  remove: { title: "Before something is gone", show: () => <Over what="remove" /> },
  rewind: { title: "Files as they were", show: () => <Over what="rewind" /> },
  palette: { title: "The palette", show: () => <Over what="palette" /> },
  login: { title: "Not let in", show: () => <LoginPage /> },
  pairing: { title: "A device that wants to be let in", show: () => <PairPage /> },
  connecting: {
    title: "Connecting",
    show: page({ page: "overview" }, { link: { state: "connecting", since: 0 } }),
  },
  missing: { title: "A workspace that is gone", show: page(worker("gone")) },
  lost: {
    title: "The connection is lost",
    show: page(worker("login-fix"), {
      ...scene,
      link: { state: "lost", since: 0, reason: "closed" },
      unsent,
    }),
  },
  nowhere: { title: "An address that leads nowhere", show: page({ page: "lost", address: "/nowhere" }) },
  team: { title: "A team at work", show: page(worker("checkout")) },
  schedules: { title: "Schedules", show: page({ page: "schedules" }) },
  schedule: { title: "One schedule", show: page({ page: "schedules", schedule: "news" }) },
  missed: { title: "A schedule that failed", show: page({ page: "schedules", schedule: "links" }) },
  paused: { title: "A schedule that is paused", show: page({ page: "schedules", schedule: "backup" }) },
  unscheduled: {
    title: "Nothing is scheduled",
    show: page({ page: "schedules" }, { ...scene, schedules: [] }),
  },
  groups: { title: "Chat groups", show: page({ page: "groups" }) },
  group: { title: "One chat group", show: page({ page: "groups", group: "lunch" }) },
  permissions: { title: "Settings: permissions", show: page({ page: "settings", on: "permissions" }) },
  models: { title: "Settings: models", show: page({ page: "settings", on: "models" }) },
  servers: { title: "Settings: servers", show: page({ page: "settings", on: "servers" }) },
  memory: { title: "Settings: memory", show: page({ page: "settings", on: "memory" }) },
  devices: { title: "Settings: devices", show: page({ page: "settings", on: "devices" }) },
  look: { title: "Settings: look", show: page({ page: "settings", on: "look" }) },
};

export function Gallery({ shelf }: { readonly shelf?: string | undefined }): ReactElement {
  const chosen = shelf !== undefined && Object.hasOwn(shelves, shelf) ? shelves[shelf] : undefined;
  if (chosen) return chosen.show();
  return (
    <main className="gallery" id="main">
      <h1>Gallery</h1>
      <ul>
        {Object.entries(shelves).map(([name, { title }]) => (
          <li key={name}>
            <a href={`/dev/gallery/${name}`}>{title}</a>
          </li>
        ))}
      </ul>
    </main>
  );
}

function Staged({
  route,
  recording,
  children,
}: {
  route: Route;
  recording: Recording;
  children?: ReactNode;
}): ReactElement {
  const navigation = useMemo<Navigation>(() => {
    const cell = new Cell(route);
    return { route: cell, go: (to) => cell.set(to) };
  }, [route]);
  const world = useMemo(() => {
    const notes = new Map(Object.entries(recording.notes ?? {}));
    return new World({
      client: recordedClient(recording),
      kept: { ...keptNowhere(), unsent: async () => [...(recording.unsent ?? [])] },
      notes: {
        getItem: (key) => notes.get(key) ?? null,
        setItem: (key, value) => void notes.set(key, value),
        removeItem: (key) => void notes.delete(key),
      },
      ...browserPorts(),
      isSentAway: async () => false,
    });
  }, [recording]);
  return (
    <NavigationContext value={navigation}>
      <WorldContext value={world}>{children ?? <App />}</WorldContext>
    </NavigationContext>
  );
}

/** What lies over a page. */
const Over = ({ what }: { readonly what: keyof typeof overs }): ReactElement => (
  <Staged route={what === "rewind" ? loginRoute : overviewRoute} recording={scene}>
    <App />
    {overs[what]()}
  </Staged>
);

const overviewRoute: Route = { page: "overview" };
const loginRoute = worker("login-fix");

const never = async (): Promise<never> => {
  throw new Error("This is a recording: nothing can be done in it.");
};

function Stage({
  events,
  children,
}: {
  readonly events: readonly Envelope[];
  readonly children: ReactNode;
}): ReactElement {
  const actions = useMemo<RowActions>(
    () => ({
      session: "recorded",
      cwd: "/home/ada/shop",
      isReadOnly: false,
      mayAnswer: true,
      hasSheet: false,
      renderRow: (row) => <WholeRow row={row} />,
      answer: never,
      dropInput: never,
      editInput: never,
      openAgent: () => undefined,
      linkTo: () => "",
      rewindTo: () => undefined,
      forkAt: () => undefined,
      stopTask: never,
      whole: async () => undefined,
    }),
    [],
  );
  const transcript = useMemo(() => transcriptOf(events), [events]);
  return (
    <Staged route={{ page: "overview" }} recording={scene}>
      <Announcer>
        <RowActionsContext value={actions}>
          <TranscriptContext value={transcript}>{children}</TranscriptContext>
        </RowActionsContext>
      </Announcer>
    </Staged>
  );
}

const RowsOf = ({ rows }: { readonly rows: readonly Row[] }): ReactElement => (
  <>
    {rows.map((row) => (
      <article key={row.id} className={`item kind-${row.kind}`}>
        <WholeRow row={row} />
      </article>
    ))}
  </>
);

const Rows = (): ReactElement => (
  <Sheet title="Rows">
    {Object.entries(recorded).map(([name, events]) => (
      <section key={name}>
        <h2>{name}</h2>
        <Stage events={events}>
          <RowsOf rows={rowsOf(transcriptOf(events)).toArray()} />
        </Stage>
      </section>
    ))}
  </Sheet>
);

const Displays = (): ReactElement => (
  <Sheet title="Displays">
    <Stage events={[]}>
      {Object.entries(displaySamples).map(([name, display]) => (
        <section key={name} className="sample">
          <h2>{name}</h2>
          <DisplayView display={display as Display} />
        </section>
      ))}
    </Stage>
  </Sheet>
);

const asksIn = (events: readonly Envelope[]): readonly Ask[] =>
  events.flatMap((event) => (event.type === "ask.opened" ? [event.ask] : []));

const Asks = (): ReactElement => (
  <Sheet title="Questions">
    <Stage events={[]}>
      {[...Object.values(recorded).flatMap(asksIn), formAsk].map((ask) => (
        <section key={ask.id} className="sample">
          <h2>{ask.kind}</h2>
          <AskCard ask={ask} session="login" cwd="/home/ada/shop" isReadOnly={false} onAnswer={never} />
        </section>
      ))}
    </Stage>
  </Sheet>
);

const Hostile = (): ReactElement => (
  <Sheet title="Hostile texts">
    <section>
      <h2>Rows</h2>
      <Stage events={[]}>
        <RowsOf rows={hostileRows} />
      </Stage>
    </section>
  </Sheet>
);
