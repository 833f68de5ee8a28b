/** The first page: everything that is at work, or one field to begin with. */
import "./overview.css";
import type { SessionEntry, WorkspaceEntry } from "keel/protocol";
import { sayUsd, visible, workspacesByFolder } from "keel/view";
import { type FormEvent, memo, type ReactElement, useEffect, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { Link } from "../kit/link.tsx";
import { activitySigns, Sign } from "../kit/sign.tsx";
import { Ago } from "../kit/time.tsx";
import { useNavigation } from "../live/navigation.ts";
import { useValue } from "../live/observable.ts";
import { faultOf, useAccess, useWorkspace, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { RailButton } from "./rail-button.tsx";
import { useSearch } from "./use-search.ts";
import { workerIcons } from "./worker-tabs.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";

type OverviewProps = { readonly onCreate: () => void; readonly onRail: () => void };

export function Overview({ onCreate, onRail }: OverviewProps): ReactElement {
  const [wanted, setWanted] = useState("");
  const [withArchived, setArchived] = useState(false);
  const { workspaceList } = useWorld();
  // What they say matters only to whoever looks for words.
  const { all, isKnown } = useValue(wanted.trim() === "" ? workspaceList.ordered : workspaceList.all);
  const shown = all.filter((workspace) => (withArchived || !workspace.archived) && fits(workspace, wanted));
  const hasArchived = all.some(({ archived }) => archived);
  const said = useSearch(wanted);
  const mayCreate = useAccess() === "work";
  return (
    <main className="overview" id="main">
      <header className="head">
        <RailButton onOpen={onRail} />
        <h1>{words.overview.title}</h1>
        <div className="tools">
          {mayCreate && (
            <Button look="main" icon="plus" onClick={onCreate}>
              {words.rail.create}
            </Button>
          )}
        </div>
      </header>
      <div className="sheet">
        {all.length > 0 && (
          <div className="filter">
            <input
              className="input"
              type="search"
              aria-label={words.overview.filter}
              placeholder={words.overview.filter}
              value={wanted}
              onChange={({ target }) => setWanted(target.value)}
            />
            {hasArchived && (
              <label className="check">
                <input
                  type="checkbox"
                  checked={withArchived}
                  onChange={({ target }) => setArchived(target.checked)}
                />
                <span>{words.overview.archived}</span>
              </label>
            )}
          </div>
        )}
        {!isKnown && <p className="quiet">{words.reading}</p>}
        {isKnown &&
          all.length === 0 &&
          (mayCreate ? <Welcome onCreate={onCreate} /> : <p className="quiet">{words.rail.none}</p>)}
        {all.length > 0 && shown.length === 0 && said.found.length === 0 && (
          <p className="quiet">{words.overview.nothing(wanted)}</p>
        )}
        {workspacesByFolder(shown).map(({ folder, workspaces }) => (
          <section key={folder}>
            <h2>{visible(folder)}</h2>
            <ul className="cards">
              {workspaces.map(({ id }) => (
                <OverviewRow key={id} id={id} />
              ))}
            </ul>
          </section>
        ))}
        {said.found.length > 0 && (
          <section>
            <h2>{words.overview.said}</h2>
            <ul className="sessions found">
              {said.found.map(({ session, row, by, title, firstInput, excerpt, at }) => (
                <li key={`${session} ${row ?? ""}`}>
                  <Link to={{ page: "session", session, row }}>
                    <span className="one-line">{visible(excerpt)}</span>
                    <span className="quiet one-line">
                      {words.palette.by[by]} · {visible(title ?? firstInput ?? words.untitled)}
                    </span>
                    <span className="quiet figures">
                      <Ago at={at} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            {said.more && <p className="quiet">{words.overview.saidMore}</p>}
          </section>
        )}
        <EarlierSessions
          wanted={wanted}
          taken={all.flatMap(({ workers }) => workers.flatMap(({ session }) => session ?? []))}
        />
      </div>
    </main>
  );
}

const fits = (workspace: WorkspaceEntry, wanted: string): boolean =>
  wanted.trim() === "" || hasWords(workspace, wanted.trim().toLowerCase());

const hasWords = ({ title, cwd, branch = "", workers }: WorkspaceEntry, wanted: string): boolean => {
  const all = [title, cwd, branch, ...workers.flatMap(({ name, lastWords = "" }) => [name, lastWords])];
  return all.some((text) => text.toLowerCase().includes(wanted));
};

const OverviewRow = memo(function OverviewRow({ id }: { readonly id: string }): ReactElement | null {
  const workspace = useWorkspace(id);
  if (!workspace) return null;
  const { title, branch, worktree, added = 0, removed = 0, workers, archived, changedAt } = workspace;
  const cost = workers.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
  return (
    <li className={`card${archived ? " is-archived" : ""}`}>
      <div className="card-head">
        <Link to={{ page: "worker", workspace: id }}>{visible(title)}</Link>
        <WorkspaceMenu workspace={id} />
        <p className="facts quiet figures">
          {branch !== undefined && (
            <span className="one-line">{worktree ? words.worktree(visible(branch)) : visible(branch)}</span>
          )}
          {added + removed > 0 && (
            <span>
              <span className="added">+{added}</span> <span className="removed">−{removed}</span>
            </span>
          )}
          {cost > 0 && <span>{sayUsd(cost)}</span>}
          <span>
            <Ago at={changedAt} />
          </span>
        </p>
      </div>
      <ul>
        {workers.map(({ id: worker, kind, name, activity, lastWords, failure, asks = 0 }) => (
          <li key={worker}>
            <Link to={{ page: "worker", workspace: id, worker }} className={`worker-line is-${activity}`}>
              {kind === "agent" || activity === "failed" ? (
                <Sign kind={activitySigns[activity]} says={words.activity[activity]} />
              ) : (
                <Icon name={workerIcons[kind]} />
              )}
              <span className="name">{visible(name)}</span>
              <span className="one-line quiet">
                {asks > 0
                  ? words.rail.asks(asks)
                  : visible(failure ?? lastWords ?? (kind === "diff" ? "" : words.activity[activity]))}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </li>
  );
});

/** One field and one button; what else can be said of a workspace is behind the other. */
function Welcome({ onCreate }: { readonly onCreate: () => void }): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const [cwd, setCwd] = useState("");
  const [problem, setProblem] = useState("");
  const begin = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const made = await world.client.workspaces.createWorkspace({
        cwd: cwd.trim(),
        workers: [{ kind: "agent", name: words.workers.agent }],
      });
      go({ page: "worker", workspace: made.id, worker: made.workers[0]?.id });
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
    }
  };
  return (
    <section className="welcome">
      <h2>{words.welcome.title}</h2>
      <p>{words.welcome.about}</p>
      <form className="begin" onSubmit={(event) => void begin(event)}>
        <label className="field">
          <span className="label">{words.create.folder}</span>
          <input
            className="input"
            required
            placeholder="/home/you/project"
            value={cwd}
            onChange={({ target }) => setCwd(target.value)}
          />
        </label>
        <button type="submit" className="button main">
          {words.welcome.begin}
        </button>
      </form>
      {problem !== "" && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      <Button look="plain" onClick={onCreate}>
        {words.welcome.more}
      </Button>
      <p className="quiet">
        {words.welcome.rehearse} <code>keel rehearse --console</code>
      </p>
    </section>
  );
}

/** Those of the home that no workspace has: to read, and to take up. */
function EarlierSessions({
  taken,
  wanted,
}: {
  readonly taken: readonly string[];
  readonly wanted: string;
}): ReactElement | null {
  const { client } = useWorld();
  const [sessions, setSessions] = useState<readonly SessionEntry[]>([]);
  useEffect(() => {
    let isWanted = true;
    client.sessions({ limit: 50 }).then(
      (found) => isWanted && setSessions(found),
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [client]);
  const others = sessions.filter(
    ({ id, archived, title = "", firstInput = "", cwd }) =>
      !taken.includes(id) &&
      archived !== true &&
      [title, firstInput, cwd].some((text) => text.toLowerCase().includes(wanted.trim().toLowerCase())),
  );
  if (others.length === 0) return null;
  return (
    <section>
      <h2>{words.rail.sessions}</h2>
      <ul className="sessions">
        {others.map(({ id, title, firstInput, cwd, changedAt }) => (
          <li key={id}>
            <Link to={{ page: "session", session: id }}>
              <span className="one-line">{visible(title ?? firstInput ?? words.untitled)}</span>
              <span className="quiet one-line">{visible(cwd)}</span>
              <span className="quiet figures">
                <Ago at={changedAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
