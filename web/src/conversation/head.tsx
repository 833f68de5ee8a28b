/** The head of a conversation: its title, where it works, what it took, and its workers as tabs. */
import type { WorkspaceEntry } from "keel/protocol";
import { sayCost, visible } from "keel/view";
import { lazy, memo, type ReactElement } from "react";
import { useAnnounce } from "../kit/announce.tsx";
import { IconButton } from "../kit/button.tsx";
import { Loaded } from "../kit/loaded.tsx";
import { MenuButton, type MenuItem } from "../kit/menu.tsx";
import { Sign, type SignKind } from "../kit/sign.tsx";
import { useNavigation } from "../live/navigation.ts";
import type { SessionView } from "../live/session-view.ts";
import { useInquiry } from "../live/use-inquiry.ts";
import { useWorld } from "../live/world.ts";
import { RailButton } from "../overview/rail-button.tsx";
import { toTerminal } from "../overview/switch-view.ts";
import { WorkerTabs } from "../overview/worker-tabs.tsx";
import { WorkspaceFacts } from "../overview/workspace-facts.tsx";
import { words } from "../words.ts";
import type { Jump } from "./items.ts";
import { sayActivity } from "./say-activity.ts";

const WorkspaceMenu = lazy(async () => ({
  default: (await import("../overview/workspace-menu.tsx")).WorkspaceMenu,
}));

type ConversationHeadProps = {
  readonly session: string;
  readonly view: SessionView;
  readonly workspace: WorkspaceEntry | undefined;
  readonly worker: string | undefined;
  readonly onRail: () => void;
  readonly onSearch: () => void;
  readonly onJump: (to: Jump, step: 1 | -1) => void;
  readonly onSide: () => void;
};

const signs = { idle: "done", running: "active", asking: "asking" } as const satisfies Record<
  string,
  SignKind
>;

export const ConversationHead = memo(function ConversationHead(props: ConversationHeadProps): ReactElement {
  const { session, view, workspace, worker, onRail, onSearch, onJump, onSide } = props;
  const { standing, totals, activity } = view;
  const world = useWorld();
  const { go } = useNavigation();
  const announce = useAnnounce();
  const context = useInquiry(session, "context", view.told > 0 ? view.cache.requests : undefined);
  const hasFailed =
    activity.state === "idle" && workspace?.workers.find(({ id }) => id === worker)?.activity === "failed";
  const copyAll = async (): Promise<void> => {
    const { sessionAsMarkdown } = await import("./copy-session.ts");
    await navigator.clipboard.writeText(await sessionAsMarkdown(world.client, session));
    announce(words.copied);
  };
  const copy: MenuItem = {
    label: words.workers.copyAll,
    icon: "copy",
    onPick: () => void world.attempt(copyAll()),
  };
  const title = workspace?.title ?? standing.settings?.title ?? firstWords(view);
  const percent =
    context && context.windowTokens > 0
      ? Math.round((context.totalTokens / context.windowTokens) * 100)
      : undefined;
  return (
    <header className="head">
      <RailButton onOpen={onRail} />
      <div className="about">
        <h1 className="one-line">{visible(title)}</h1>
        <p className="facts">
          <span className="doing">
            <Sign kind={hasFailed ? "failed" : signs[activity.state]} />
            {hasFailed ? words.activity.failed : visible(sayActivity(view))}
          </span>
          <WorkspaceFacts workspace={workspace} cwd={standing.cwd} />
          {totals.turns > 0 && <span className="figures">{sayCost(totals)}</span>}
          {percent !== undefined && <span className="figures">{percent} %</span>}
        </p>
      </div>
      <div className="tools">
        {workspace && <WorkerTabs workspace={workspace} current={worker} />}
        <IconButton icon="search" label={words.searchHere} onClick={onSearch} />
        <MenuButton
          icon="list"
          label={words.jump.label}
          items={(["message", "change", "question", "error"] as const).flatMap((to) => [
            { label: words.jump.next[to], onPick: () => onJump(to, 1) },
            { label: words.jump.previous[to], onPick: () => onJump(to, -1) },
          ])}
        />
        {workspace ? (
          <Loaded meanwhile={<span className="button plain icon-only" />}>
            <WorkspaceMenu
              workspace={workspace.id}
              worker={worker}
              items={[
                copy,
                {
                  label: words.workers.inTerminal,
                  icon: "terminal",
                  onPick: () => void world.attempt(toTerminal(world, { workspace, session }).then(go)),
                },
              ]}
            />
          </Loaded>
        ) : (
          <MenuButton icon="more" label={words.change.menu} items={[copy]} />
        )}
        <span className="only-medium">
          <IconButton icon="panel" label={words.rail.openSide} onClick={onSide} />
        </span>
      </div>
    </header>
  );
});

function firstWords({ transcript }: SessionView): string {
  const first = transcript.own.rows.at(0);
  if (first?.kind !== "user") return words.untitled;
  const text = first.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  return text.slice(0, 80) || words.untitled;
}
