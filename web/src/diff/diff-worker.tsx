/** What has changed in a folder: files with counts first, hunks of a file when it is opened, comments on its lines. */
import "./diff.css";
import type { DiffFile, DiffSummary, WorkerEntry, WorkspaceEntry } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useCallback, useEffect, useState } from "react";
import { VList } from "virtua";
import { useAnnounced } from "../kit/announce.tsx";
import { Button } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { useNavigation } from "../live/navigation.ts";
import { faultOf, useWorld, type World } from "../live/world.ts";
import { isConversation } from "../overview/switch-view.ts";
import { words } from "../words.ts";
import {
  asMessage,
  type DiffComment,
  keepComments,
  type PlacedComment,
  placeOf,
  readComments,
} from "./comments.ts";
import { FileDiffView } from "./file-diff.tsx";
import { LineComment } from "./line-comments.tsx";

type DiffWorkerProps = { readonly workspace: WorkspaceEntry; readonly worker: WorkerEntry };

export function DiffWorker({ workspace, worker }: DiffWorkerProps): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const [diff, setDiff] = useState<DiffSummary>();
  const [chosen, setChosen] = useState<string>();
  const [problem, setProblem] = useState("");
  const [undo, setUndo] = useState<string>();
  const [comments, setComments] = useState(() => readComments(world.notes, worker.id));
  const { client } = world;
  useEffect(() => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const summary of client.workspaces.watchDiff(worker.id, stop.signal)) setDiff(summary);
    };
    follow().catch((thrown: unknown) => setProblem(faultOf(thrown).message));
    return () => stop.abort();
  }, [client, worker.id]);

  const change = useCallback(
    async (question: {
      action: "stage" | "unstage" | "revert" | "undo";
      path?: string;
      hunk?: string;
      undo?: string;
    }) => {
      try {
        const done = await client.workspaces.changeDiff({ worker: worker.id, ...question });
        setProblem("");
        setUndo(question.action === "revert" ? done.undo : question.action === "undo" ? undefined : undo);
      } catch (thrown) {
        setProblem(faultOf(thrown).message);
      }
    },
    [client, worker.id, undo],
  );
  useAnnounced(undo === undefined ? "" : words.diffs.reverted);
  const write = (next: readonly DiffComment[]): void => {
    setComments(next);
    keepComments(world.notes, worker.id, next);
  };
  const agent = workspace.workers.find(isConversation);
  const [isSending, setSending] = useState(false);
  const send = async (): Promise<void> => {
    if (agent?.session === undefined) return;
    setSending(true);
    const placed = await placedNow(world, worker.id, comments);
    void world.say(agent.session, [{ type: "text", text: asMessage(placed) }], "now");
    write([]);
    go({ page: "worker", workspace: workspace.id, worker: agent.id });
  };
  if (!diff) return <p className="state quiet">{problem === "" ? words.reading : problem}</p>;
  if (diff.problem !== undefined) return <p className="state">{visible(diff.problem)}</p>;
  const file = diff.files.find(({ path }) => path === chosen) ?? diff.files[0];
  const shown = new Set(diff.files.map(({ path }) => path));
  if (diff.files.length === 0 && comments.length === 0)
    return <p className="state quiet">{words.diffs.none}</p>;
  const elsewhere = diff.more > 0 ? [] : comments.filter(({ path }) => !shown.has(path));
  return (
    <div className="diff-worker" style={{ ["--files" as string]: Math.max(1, diff.files.length) }}>
      <section className="diff-files" aria-label={words.diffs.files}>
        <header>
          <span className="figures">
            {words.diffs.counted(diff.files.length + diff.more)}{" "}
            {diff.counting ? <span className="quiet">{words.diffs.counting}</span> : <Lines of={diff} />}
          </span>
        </header>
        {diff.files.length === 0 ? (
          <p className="quiet none">{words.diffs.none}</p>
        ) : (
          <FileList diff={diff} comments={comments} current={file?.path} onPick={setChosen} />
        )}
      </section>
      <section className="diff-body" aria-label={words.diff}>
        {problem !== "" && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {undo !== undefined && (
          <div className="undo">
            <span>{words.diffs.reverted}</span>
            <Button icon="undo" onClick={() => void change({ action: "undo", undo })}>
              {words.diffs.undo}
            </Button>
          </div>
        )}
        {file && (
          <FileDiffView
            key={file.path}
            worker={worker.id}
            file={file}
            comments={comments}
            onComments={write}
            onChange={change}
          />
        )}
      </section>
      {elsewhere.length > 0 && (
        <section className="comments-elsewhere" aria-label={words.diffs.notHere}>
          <p className="quiet">{words.diffs.notHere}</p>
          {elsewhere.map((comment) => (
            <LineComment
              key={comment.id}
              comment={comment}
              place={undefined}
              path={comment.path}
              onDrop={() => write(comments.filter(({ id }) => id !== comment.id))}
            />
          ))}
        </section>
      )}
      {comments.length > 0 && (
        <footer className="comments-bar">
          <span>{words.diffs.comments(comments.length)}</span>
          <Button look="plain" icon="trash" onClick={() => write([])}>
            {words.drop}
          </Button>
          <Button look="main" disabled={!agent || isSending} onClick={() => void send()}>
            {words.diffs.send}
          </Button>
        </footer>
      )}
    </div>
  );
}

/** As the files are now, also those that nobody has opened; one that can no longer be seen counts as changed. */
async function placedNow(
  { client }: World,
  worker: string,
  comments: readonly DiffComment[],
): Promise<readonly PlacedComment[]> {
  const paths = [...new Set(comments.map(({ path }) => path))];
  const linesOf = new Map(
    await Promise.all(
      paths.map(async (path) => {
        const found = await client.workspaces.fileDiff({ worker, path }).catch(() => undefined);
        return [path, found?.hunks.flatMap(({ lines }) => lines) ?? []] as const;
      }),
    ),
  );
  return comments.map((comment) => ({ comment, place: placeOf(comment, linesOf.get(comment.path) ?? []) }));
}

type FileListProps = {
  readonly diff: DiffSummary;
  readonly comments: readonly DiffComment[];
  readonly current: string | undefined;
  readonly onPick: (path: string) => void;
};

function FileList({ diff, comments, current, onPick }: FileListProps): ReactElement {
  const commentsOn = (path: string): number => comments.filter((comment) => comment.path === path).length;
  return (
    <div className="file-list">
      <VList data={diff.files}>
        {(file: DiffFile) => (
          <button
            key={file.path}
            type="button"
            className={`changed-file is-${file.change}`}
            aria-current={file.path === current}
            title={`${visible(file.path)} · ${words.diffs.changes[file.change]} · ${words.diffs.staged[file.staged]}`}
            onClick={() => onPick(file.path)}
          >
            <span className="letter" aria-hidden="true">
              {words.diffs.letters[file.change]}
            </span>
            <span className="path">
              <span className="one-line name">{visible(nameOf(file.path))}</span>
              <span className="one-line quiet">{visible(folderOf(file.path))}</span>
            </span>
            {file.staged !== "unstaged" && <Icon name="check" />}
            {commentsOn(file.path) > 0 && (
              <span className="count" title={words.diffs.comments(commentsOn(file.path))}>
                {commentsOn(file.path)}
              </span>
            )}
            <span className="figures">{!diff.counting && <Lines of={file} />}</span>
          </button>
        )}
      </VList>
      {diff.more > 0 && <p className="quiet none">{words.diffs.more(diff.more)}</p>}
    </div>
  );
}

const Lines = ({ of }: { of: Pick<DiffFile, "added" | "removed"> }) => (
  <>
    <span className="added">+{of.added}</span> <span className="removed">−{of.removed}</span>
  </>
);

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
