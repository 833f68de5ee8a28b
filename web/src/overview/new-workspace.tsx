/** A new workspace: a folder, a worktree of it or not, who works there, and what they are told first. */
import "./overview.css";
import type { JsonObject, NewWorker, PermissionMode } from "keel/protocol";
import { type ReactElement, useId, useState } from "react";
import { filesIn, type Picture, takeFiles } from "../composer/pictures.ts";
import { Attachments } from "../displays/attachments.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { useNavigation } from "../live/navigation.ts";
import { faultOf, useWorkspaces, useWorld } from "../live/world.ts";
import { words } from "../words.ts";

/** Those that the server has for an agent. */
const engines = ["keel", "sdk", "pty"] as const;
type Engine = (typeof engines)[number];
const modes: readonly PermissionMode[] = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"];

export function NewWorkspace({ onClose }: { readonly onClose: () => void }): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const { all } = useWorkspaces();
  const folders = [...new Set(all.map(({ folder }) => folder))];
  const id = useId();
  const [cwd, setCwd] = useState(folders[0] ?? "");
  const [title, setTitle] = useState("");
  const [hasWorktree, setWorktree] = useState(false);
  const [engine, setEngine] = useState<Engine>("keel");
  const [model, setModel] = useState("");
  const [mode, setMode] = useState<PermissionMode>("default");
  const [command, setCommand] = useState("");
  const [prompt, setPrompt] = useState("");
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const [joins, setJoins] = useState(true);
  /** A worktree is held by one workspace: whoever means to work there joins it, or is refused. */
  const holder = all.find(({ worktree }) => worktree !== undefined && isWithin(cwd.trim(), worktree.path));

  const take = async (files: readonly File[]): Promise<void> => {
    const taken = await takeFiles(files);
    setProblem(taken.problem);
    setPictures((before) => [...before, ...taken.pictures]);
    if (taken.text !== "") setPrompt((before) => [before.trimEnd(), taken.text].filter(Boolean).join("\n\n"));
  };
  const sayWith = (session: string | undefined, said: string): void => {
    if (pictures.length === 0 || session === undefined) return;
    const text = said === "" ? [] : [{ type: "text" as const, text: said }];
    void world.say(session, [...pictures, ...text], "now");
  };
  const create = async (): Promise<void> => {
    setSending(true);
    setProblem("");
    const said = prompt.trim();
    const options: JsonObject = {
      permissionMode: mode,
      ...(model.trim() === "" ? {} : { model: model.trim() }),
    };
    const agent: NewWorker = {
      kind: "agent",
      name: engine === "keel" ? words.workers.agent : words.create.engines[engine],
      engine,
      ...(engine === "pty" ? { command: command.trim().split(/\s+/) } : { options }),
      // With images it is said as soon as there is a session.
      ...(said !== "" && pictures.length === 0 ? { prompt: said } : {}),
    };
    try {
      if (holder && joins) {
        const worker = await world.client.workspaces.createWorker({ workspace: holder.id, worker: agent });
        sayWith(worker.session, said);
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
      sayWith(worker?.session, said);
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
        <label className="field">
          <span className="label">{words.create.folder}</span>
          <input
            className="input"
            required
            list={`${id}-folders`}
            placeholder="/home/you/project"
            value={cwd}
            onChange={({ target }) => setCwd(target.value)}
          />
          <datalist id={`${id}-folders`}>
            {folders.map((folder) => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
        </label>
        {holder && (
          <label className="check">
            <input type="checkbox" checked={joins} onChange={({ target }) => setJoins(target.checked)} />
            <span>
              {words.create.join(holder.title)} <span className="quiet">{words.create.joinHint}</span>
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
        <label className="field">
          <span className="label">{words.create.prompt}</span>
          <textarea
            className="input"
            rows={3}
            value={prompt}
            placeholder={words.create.promptHint}
            onChange={({ target }) => setPrompt(target.value)}
            onPaste={(event) => {
              const files = filesIn(event.clipboardData);
              if (files.length === 0) return;
              event.preventDefault();
              void take(files);
            }}
            onDrop={(event) => {
              const files = filesIn(event.dataTransfer);
              if (files.length === 0) return;
              event.preventDefault();
              void take(files);
            }}
          />
        </label>
        <Attachments parts={pictures} />
        <div className="columns">
          <label className="field">
            <span className="label">{words.create.titleLabel}</span>
            <input className="input" value={title} onChange={({ target }) => setTitle(target.value)} />
          </label>
          <label className="field">
            <span className="label">{words.create.engine}</span>
            <select
              className="input"
              value={engine}
              onChange={({ target }) => setEngine(target.value as Engine)}
            >
              {engines.map((one) => (
                <option key={one} value={one}>
                  {words.create.engines[one]}
                </option>
              ))}
            </select>
          </label>
          {engine === "pty" ? (
            <label className="field">
              <span className="label">{words.create.command}</span>
              <input
                className="input"
                required
                value={command}
                onChange={({ target }) => setCommand(target.value)}
              />
            </label>
          ) : (
            <>
              <label className="field">
                <span className="label">{words.create.model}</span>
                <input
                  className="input"
                  placeholder={words.create.modelHint}
                  value={model}
                  onChange={({ target }) => setModel(target.value)}
                />
              </label>
              <label className="field">
                <span className="label">{words.composer.mode}</span>
                <select
                  className="input"
                  value={mode}
                  onChange={({ target }) => setMode(target.value as PermissionMode)}
                >
                  {modes.map((one) => (
                    <option key={one} value={one}>
                      {words.modes[one]}
                    </option>
                  ))}
                </select>
                <span className="hint">{words.modeHints[mode]}</span>
              </label>
            </>
          )}
        </div>
        {problem !== "" && (
          <p className="problem" role="alert">
            {problem}
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
