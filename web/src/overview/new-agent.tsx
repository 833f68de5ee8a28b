/** One more agent in a workspace: which engine, which kind, and what it is told first. */
import "./overview.css";
import type { WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useState } from "react";
import { Dialog } from "../kit/dialog.tsx";
import { useNavigation } from "../live/navigation.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { AgentFields, PromptField, plainAgent, sayFirst, useChoices, workerOf } from "./agent-form.tsx";

type NewAgentProps = { readonly workspace: WorkspaceEntry; readonly onClose: () => void };

export function NewAgent({ workspace, onClose }: NewAgentProps): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const [wish, setWish] = useState(plainAgent);
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const choices = useChoices(workspace.cwd);
  const create = async (): Promise<void> => {
    setSending(true);
    setProblem("");
    try {
      const worker = await world.client.workspaces.createWorker({
        workspace: workspace.id,
        worker: workerOf(wish, choices),
      });
      sayFirst(world, worker.session, wish);
      onClose();
      go({ page: "worker", workspace: workspace.id, worker: worker.id });
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
      setSending(false);
    }
  };
  return (
    <Dialog title={words.create.agentTitle} onClose={onClose}>
      <form
        className="create"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <PromptField wish={wish} onChange={setWish} onProblem={setProblem} />
        <div className="columns">
          <AgentFields wish={wish} choices={choices} onChange={setWish} />
        </div>
        {problem !== "" && (
          <p className="problem" role="alert">
            {visible(problem)}
          </p>
        )}
        <div className="answers">
          <button type="submit" className="button main" disabled={isSending}>
            {words.create.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
