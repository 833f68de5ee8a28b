/** A new workspace: a folder, a worktree of it or not, who works there, and what they are told first. */
import "./overview.css";
import { visible } from "keel/view";
import { type ReactElement, useId, useState } from "react";
import { Dialog } from "../kit/dialog.tsx";
import { useNavigation } from "../live/navigation.ts";
import { faultOf, useWorkspaces, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { AgentFields, PromptField, plainAgent, sayFirst, useChoices, workerOf } from "./agent-form.tsx";
import { TextField } from "./text-field.tsx";

export function NewWorkspace({ onClose }: { readonly onClose: () => void }): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const { all } = useWorkspaces();
  const folders = [...new Set(all.map(({ folder }) => folder))];
  const id = useId();
  const [typed, setCwd] = useState<string>();
  const cwd = typed ?? folders[0] ?? "";
  const [title, setTitle] = useState("");
  const [hasWorktree, setWorktree] = useState(false);
  const [wish, setWish] = useState(plainAgent);
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const [joins, setJoins] = useState(true);
  const choices = useChoices(cwd);
  /** A worktree is held by one workspace: whoever means to work there joins it, or is refused. */
  const holder = all.find(({ worktree }) => worktree !== undefined && isWithin(cwd.trim(), worktree.path));

  const create = async (): Promise<void> => {
    setSending(true);
    setProblem("");
    const agent = workerOf(wish, choices);
    try {
      if (holder && joins) {
        const worker = await world.client.workspaces.createWorker({ workspace: holder.id, worker: agent });
        sayFirst(world, worker.session, wish);
        onClose();
        return go({ page: "worker", workspace: holder.id, worker: worker.id });
      }
      const made = await world.client.workspaces.createWorkspace({
        cwd: cwd.trim(),
        ...(title.trim() === "" ? {} : { title: title.trim() }),
        ...(hasWorktree ? { worktree: {} } : {}),
        workers: [agent],
      });
      const worker = made.workers[0];
      sayFirst(world, worker?.session, wish);
      onClose();
      go({ page: "worker", workspace: made.id, worker: worker?.id });
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
      setSending(false);
    }
  };

  return (
    <Dialog title={words.create.title} onClose={onClose}>
      <form
        className="create"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <div className="columns">
          <TextField
            label={words.create.folder}
            hint="/home/you/project"
            isNeeded
            list={`${id}-folders`}
            value={cwd}
            onChange={setCwd}
          />
          <TextField
            label={words.create.titleLabel}
            hint={words.create.titleHint}
            value={title}
            onChange={setTitle}
          />
        </div>
        <datalist id={`${id}-folders`}>
          {folders.map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
        {holder && (
          <label className="check">
            <input type="checkbox" checked={joins} onChange={({ target }) => setJoins(target.checked)} />
            <span>
              {words.create.join(visible(holder.title))}{" "}
              <span className="quiet">{words.create.joinHint}</span>
            </span>
          </label>
        )}
        <label className="check">
          <input
            type="checkbox"
            checked={hasWorktree}
            onChange={({ target }) => setWorktree(target.checked)}
          />
          <span>
            {words.create.worktree} <span className="quiet">{words.create.worktreeHint}</span>
          </span>
        </label>
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
          <button type="submit" className="button main" disabled={isSending || cwd.trim() === ""}>
            {words.create.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
