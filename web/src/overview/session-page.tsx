/** A session by itself: an old one, or that of an agent. It is read, and can be taken up into a workspace. */
import { lazy, type ReactElement, useState } from "react";
import { Button } from "../kit/button.tsx";
import { useNavigation } from "../live/navigation.ts";
import { faultOf, useWorkspaces, useWorld } from "../live/world.ts";
import type { Route } from "../route.ts";
import { words } from "../words.ts";
import { isConversation } from "./switch-view.ts";

const Conversation = lazy(async () => ({
  default: (await import("../conversation/conversation.tsx")).Conversation,
}));

type SessionPageProps = { readonly route: Extract<Route, { page: "session" }>; readonly onRail: () => void };

export function SessionPage({ route, onRail }: SessionPageProps): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const { all } = useWorkspaces();
  const [problem, setProblem] = useState("");
  const { session } = route;
  const owner = all
    .flatMap(({ workers }) => workers)
    .find((worker) => isConversation(worker) && worker.session === session);
  const takeUp = async (): Promise<void> => {
    try {
      if (owner) return go({ page: "worker", workspace: owner.workspace, worker: owner.id });
      const entry = (await world.client.sessions({})).find(({ id }) => id === session);
      const made = await world.client.workspaces.createWorkspace({
        cwd: entry?.cwd ?? "/",
        title: entry?.title ?? entry?.firstInput?.slice(0, 60) ?? words.untitled,
        workers: [{ kind: "agent", name: words.workers.agent, session }],
      });
      go({ page: "worker", workspace: made.id, worker: made.workers[0]?.id });
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
    }
  };
  return (
    <Conversation
      key={session}
      session={session}
      route={route}
      onRail={onRail}
      reading={
        <div className="reading">
          <p className="quiet">{owner ? words.readingOwned : words.readingOld}</p>
          {problem !== "" && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
          <Button look="main" onClick={() => void takeUp()}>
            {owner ? words.goThere : words.takeUp}
          </Button>
        </div>
      }
    />
  );
}
