/** A worker, by its kind: a conversation, a terminal or a diff. */
import type { WorkerEntry, WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import { lazy, type ReactElement, type ReactNode } from "react";
import { Conversation } from "../conversation/conversation.tsx";
import { Button } from "../kit/button.tsx";
import { useNavigation } from "../live/navigation.ts";
import { useWorkspaces, useWorld } from "../live/world.ts";
import type { Route } from "../route.ts";
import { words } from "../words.ts";
import { RailButton } from "./rail.tsx";
import { isConversation, toConsole } from "./switch-view.ts";
import { WorkerTabs } from "./worker-tabs.tsx";

const TerminalWorker = lazy(async () => ({
  default: (await import("../terminal/terminal-worker.tsx")).TerminalWorker,
}));
const ForeignAgent = lazy(async () => ({
  default: (await import("../foreign/foreign-agent.tsx")).ForeignAgent,
}));
const DiffWorker = lazy(async () => ({ default: (await import("../diff/diff-worker.tsx")).DiffWorker }));

type WorkerPageProps = { readonly route: Extract<Route, { page: "worker" }>; readonly onRail: () => void };

export function WorkerPage({ route, onRail }: WorkerPageProps): ReactElement {
  const { all, isKnown } = useWorkspaces();
  const workspace = all.find(({ id }) => id === route.workspace);
  const worker = workspace?.workers.find(({ id }) => id === route.worker) ?? workspace?.workers[0];
  if (!workspace)
    return (
      <main className="state" id="main">
        <h1 className="unseen">{words.product}</h1>
        <p className="quiet">{isKnown ? words.noWorkspace : words.reading}</p>
      </main>
    );
  if (!worker)
    return (
      <Frame workspace={workspace} worker={undefined} onRail={onRail}>
        <p className="state quiet">{words.workers.none}</p>
      </Frame>
    );
  if (isConversation(worker) && worker.session !== undefined)
    return (
      <Conversation
        key={worker.session}
        session={worker.session}
        route={{ ...route, worker: worker.id }}
        workspace={workspace}
        onRail={onRail}
      />
    );
  return (
    <Frame workspace={workspace} worker={worker} onRail={onRail}>
      {worker.kind === "diff" ? (
        <DiffWorker key={worker.id} workspace={workspace} worker={worker} />
      ) : worker.kind === "terminal" || worker.engine === "pty" ? (
        <TerminalWorker key={worker.id} worker={worker} />
      ) : (
        <ForeignAgent key={worker.id} worker={worker} />
      )}
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
            <span className="one-line">{visible(workspace.cwd)}</span>
            {worker && worker.kind !== "diff" && <span>{words.activity[worker.activity]}</span>}
          </p>
        </div>
        <div className="tools">
          {worker?.engine === "pty" && worker.session !== undefined && (
            <Button
              onClick={() =>
                void toConsole(world, { workspace, session: worker.session ?? "" }).then(go, () => undefined)
              }
            >
              {words.workers.inConsole}
            </Button>
          )}
          <WorkerTabs workspace={workspace} current={worker?.id} />
        </div>
      </header>
      <main className="worker-main" id="main">
        {children}
      </main>
    </div>
  );
}
