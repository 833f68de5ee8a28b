/** A worker, by its kind: a conversation, a terminal or a diff. */
import type { WorkerEntry, WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import { lazy, type ReactElement, type ReactNode, useMemo } from "react";
import { Button } from "../kit/button.tsx";
import { Loaded } from "../kit/loaded.tsx";
import { useNavigation } from "../live/navigation.ts";
import { useOrderedWorkspaces, useWorkspace, useWorld } from "../live/world.ts";
import type { Route } from "../route.ts";
import { words } from "../words.ts";
import { RailButton } from "./rail-button.tsx";
import { StatePage } from "./state-page.tsx";
import { isConversation, toConsole } from "./switch-view.ts";
import { NoWorkers, WorkerTabs } from "./worker-tabs.tsx";
import { WorkspaceFacts } from "./workspace-facts.tsx";

const Conversation = lazy(async () => ({
  default: (await import("../conversation/conversation.tsx")).Conversation,
}));
const TerminalWorker = lazy(async () => ({
  default: (await import("../terminal/terminal-worker.tsx")).TerminalWorker,
}));
const ForeignAgent = lazy(async () => ({
  default: (await import("../foreign/foreign-agent.tsx")).ForeignAgent,
}));
const DiffWorker = lazy(async () => ({ default: (await import("../diff/diff-worker.tsx")).DiffWorker }));

const WorkspaceMenu = lazy(async () => ({
  default: (await import("./workspace-menu.tsx")).WorkspaceMenu,
}));

type WorkerPageProps = { readonly route: Extract<Route, { page: "worker" }>; readonly onRail: () => void };

export function WorkerPage({ route, onRail }: WorkerPageProps): ReactElement {
  const { isKnown } = useOrderedWorkspaces();
  const workspace = useWorkspace(route.workspace);
  const worker = workspace?.workers.find(({ id }) => id === route.worker) ?? workspace?.workers[0];
  const workerId = worker?.id;
  // The same for as long as it leads to the same place: a change of any workspace draws no row anew.
  const here = useMemo(() => ({ ...route, worker: workerId }), [route, workerId]);
  if (!workspace)
    return isKnown ? (
      <StatePage onRail={onRail}>{words.noWorkspace}</StatePage>
    ) : (
      <main className="state" id="main">
        <h1 className="unseen">{words.product}</h1>
        <p className="quiet">{words.reading}</p>
      </main>
    );
  if (!worker)
    return (
      <Frame workspace={workspace} worker={undefined} onRail={onRail}>
        <NoWorkers workspace={workspace} />
      </Frame>
    );
  if (isConversation(worker) && worker.session !== undefined)
    return (
      <Conversation
        key={worker.session}
        session={worker.session}
        route={here}
        workspace={workspace}
        onRail={onRail}
      />
    );
  return (
    <Frame workspace={workspace} worker={worker} onRail={onRail}>
      <Loaded key={worker.id} meanwhile={<p className="state quiet">{words.reading}</p>}>
        {worker.kind === "diff" ? (
          <DiffWorker workspace={workspace} worker={worker} />
        ) : worker.kind === "terminal" || worker.engine === "pty" ? (
          <TerminalWorker worker={worker} />
        ) : (
          <ForeignAgent worker={worker} />
        )}
      </Loaded>
    </Frame>
  );
}

type FrameProps = {
  readonly workspace: WorkspaceEntry;
  readonly worker: WorkerEntry | undefined;
  readonly onRail: () => void;
  readonly children: ReactNode;
};

function Frame({ workspace, worker, onRail, children }: FrameProps): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  return (
    <div className="worker">
      <header className="head">
        <RailButton onOpen={onRail} />
        <div className="about">
          <h1 className="one-line">{visible(workspace.title)}</h1>
          <p className="facts">
            {worker && worker.kind !== "diff" && (
              <span className="doing">{words.activity[worker.activity]}</span>
            )}
            <WorkspaceFacts workspace={workspace} />
          </p>
        </div>
        <div className="tools">
          {worker?.engine === "pty" && worker.session !== undefined && (
            <Button
              onClick={() =>
                void world.attempt(toConsole(world, { workspace, session: worker.session ?? "" }).then(go))
              }
            >
              {words.workers.inConsole}
            </Button>
          )}
          <WorkerTabs workspace={workspace} current={worker?.id} />
          <Loaded meanwhile={<span className="button plain icon-only" />}>
            <WorkspaceMenu workspace={workspace.id} worker={worker?.id} />
          </Loaded>
        </div>
      </header>
      <main className="worker-main" id="main">
        {children}
      </main>
    </div>
  );
}
