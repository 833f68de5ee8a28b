/** The page: the rail, what is open, and what lies over both. Wiring only. */
import { openAsksOf } from "keel/view";
import { lazy, type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import { Announcer } from "./kit/announce.tsx";
import { keepFocus } from "./kit/keep-focus.ts";
import { Loaded } from "./kit/loaded.tsx";
import { LinkBar, ToldBar } from "./live/link-bar.tsx";
import { useNavigation } from "./live/navigation.ts";
import { useValue } from "./live/observable.ts";
import { useOrderedWorkspaces, useWorkspace, useWorld } from "./live/world.ts";
import { SessionPage } from "./overview/session-page.tsx";
import { StatePage } from "./overview/state-page.tsx";
import { WorkerPage } from "./overview/worker-page.tsx";
import type { Route } from "./route.ts";
import { useShortcuts } from "./shortcuts.ts";
import { words } from "./words.ts";

/** Beside what is open, and not before it. */
const Rail = lazy(async () => ({ default: (await import("./overview/rail.tsx")).Rail }));
const SettingsPage = lazy(async () => ({
  default: (await import("./settings/settings-page.tsx")).SettingsPage,
}));

const Overview = lazy(async () => ({ default: (await import("./overview/overview.tsx")).Overview }));
const NewWorkspace = lazy(async () => ({
  default: (await import("./overview/new-workspace.tsx")).NewWorkspace,
}));
const Palette = lazy(async () => ({ default: (await import("./palette/palette.tsx")).Palette }));
const InboxPage = lazy(async () => ({ default: (await import("./asks/inbox-page.tsx")).InboxPage }));
const GroupsPage = lazy(async () => ({ default: (await import("./groups/groups-page.tsx")).GroupsPage }));
const SchedulesPage = lazy(async () => ({
  default: (await import("./schedules/schedules-page.tsx")).SchedulesPage,
}));
const LoginPage = lazy(async () => ({ default: (await import("./login/login-page.tsx")).LoginPage }));

export function App(): ReactElement {
  const isRefused = useValue(useWorld().isRefused);
  return isRefused ? (
    <Loaded>
      <LoginPage />
    </Loaded>
  ) : (
    <WholePage />
  );
}

const preloadMs = 1_500;

function WholePage(): ReactElement {
  const { route: here, go } = useNavigation();
  const route = useValue(here);
  const [over, setOver] = useState<"palette" | "create">();
  const before = useRef(route);
  useEffect(() => {
    if (before.current !== route) keepFocus();
    before.current = route;
  }, [route]);
  const [isRailOpen, setRailOpen] = useState(false);
  useEffect(() => {
    // Whoever types at once types into it: it is there before it is asked for.
    const timer = setTimeout(() => void import("./palette/palette.tsx").catch(() => undefined), preloadMs);
    return () => clearTimeout(timer);
  }, []);
  useShortcuts(
    useMemo(
      () => [
        { key: "k", mod: true, run: () => setOver("palette") },
        { key: "j", mod: true, run: () => focusNextAsk(() => go({ page: "asks" })) },
      ],
      [go],
    ),
  );
  return (
    <Announcer>
      <PageTitle route={route} />
      <div className="page">
        <a href="#main" className="unseen skip">
          {words.rail.skip}
        </a>
        <div className="bars">
          <LinkBar />
          <ToldBar />
        </div>
        <div className={`rail-place${isRailOpen ? " is-open" : ""}`}>
          <Loaded meanwhile={<div className="rail" />}>
            <Rail
              current={route.page === "worker" ? route.workspace : undefined}
              onPalette={() => setOver("palette")}
              onCreate={() => setOver("create")}
              onPick={() => setRailOpen(false)}
            />
          </Loaded>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape and every link of the rail close it too */}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
          <div className="rail-shade" onClick={() => setRailOpen(false)} />
        </div>
        <div className="shown">
          <Loaded key={route.page} meanwhile={<p className="state quiet">{words.reading}</p>}>
            <Opened route={route} onRail={() => setRailOpen(true)} onCreate={() => setOver("create")} />
          </Loaded>
        </div>
      </div>
      {over !== undefined && (
        <Loaded key={over}>
          {over === "palette" ? (
            <Palette onClose={() => setOver(undefined)} onCreate={() => setOver("create")} />
          ) : (
            <NewWorkspace onClose={() => setOver(undefined)} />
          )}
        </Loaded>
      )}
    </Announcer>
  );
}

function Opened({
  route,
  onRail,
  onCreate,
}: {
  readonly route: Route;
  readonly onRail: () => void;
  readonly onCreate: () => void;
}): ReactElement {
  switch (route.page) {
    case "overview":
      return <Overview onCreate={onCreate} onRail={onRail} />;
    case "worker":
      return <WorkerPage route={route} onRail={onRail} />;
    case "session":
      return <SessionPage route={route} onRail={onRail} />;
    case "asks":
      return <InboxPage onRail={onRail} />;
    case "groups":
      return <GroupsPage group={route.group} onRail={onRail} />;
    case "schedules":
      return <SchedulesPage schedule={route.schedule} onRail={onRail} />;
    case "settings":
      return <SettingsPage on={route.on} onRail={onRail} />;
    case "pair":
    case "gallery":
    case "lost":
      return <StatePage onRail={onRail}>{words.noSuchPage}</StatePage>;
  }
}

/** From one to nine; more are as many as nine. */
const iconFor = (asks: number): string => (asks === 0 ? "/icon.svg" : `/icon-${Math.min(asks, 9)}.svg`);

/**
 * The count of what waits stands where it is seen from elsewhere: in the title and in the icon. It is by itself, so that
 * a change of any workspace draws nothing else.
 */
function PageTitle({ route }: { readonly route: Route }): null {
  const about = useWorkspace(route.page === "worker" ? route.workspace : "")?.title ?? "";
  const asks = openAsksOf(useOrderedWorkspaces().all);
  const title = words.title(asks, about);
  useEffect(() => {
    document.title = title;
    document.querySelector("link[rel=icon]")?.setAttribute("href", iconFor(asks));
    // A page that is installed as an app wears the count on its own icon.
    if ("setAppBadge" in navigator)
      void (asks > 0 ? navigator.setAppBadge(asks) : navigator.clearAppBadge()).catch(() => undefined);
  }, [title, asks]);
  return null;
}

/** The first question on this page; else the page of all of them. */
function focusNextAsk(otherwise: () => void): void {
  const asks = [...document.querySelectorAll<HTMLElement>("[data-ask]")];
  const now = asks.findIndex((ask) => ask.contains(document.activeElement));
  const next = asks[(now + 1) % Math.max(1, asks.length)];
  if (!next) return otherwise();
  next.scrollIntoView({ block: "nearest" });
  next.focus();
}
