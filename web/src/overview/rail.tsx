/** All workspaces with their workers, as they are right now; what needs a person stands first. */
import { activityOfWorkspace, openAsksOf, visible, workspacesByFolder } from "keel/view";
import { memo, type ReactElement } from "react";
import { Button } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { Link } from "../kit/link.tsx";
import { activitySigns, Sign } from "../kit/sign.tsx";
import { useAccess, useOrderedWorkspaces, useWorkspace } from "../live/world.ts";
import { modKey } from "../shortcuts.ts";
import { words } from "../words.ts";

type RailProps = {
  /** The workspace that is open. */
  readonly current: string | undefined;
  readonly onPalette: () => void;
  readonly onCreate: () => void;
  readonly onPick: () => void;
};

export function Rail({ current, onPalette, onCreate, onPick }: RailProps): ReactElement {
  const { all, isKnown } = useOrderedWorkspaces();
  const shown = all.filter(({ archived }) => !archived);
  const asks = openAsksOf(shown);
  const mayCreate = useAccess() === "work";
  return (
    <nav className="rail" aria-label={words.rail.label}>
      <header>
        <Link to={{ page: "overview" }} className="brand" onClick={onPick}>
          <Mark />
          <span>{words.product}</span>
        </Link>
        {asks > 0 && (
          <Link to={{ page: "asks" }} className="waiting" onClick={onPick} aria-label={words.rail.asks(asks)}>
            <span className="count asks">{asks}</span>
          </Link>
        )}
      </header>
      <button type="button" className="find" onClick={onPalette}>
        <Icon name="search" />
        <span>{words.rail.find}</span>
        <kbd className="key">{modKey} K</kbd>
      </button>
      <div className="folders">
        {workspacesByFolder(shown).map(({ folder, workspaces }) => (
          <section key={folder}>
            <h2 title={visible(folder)}>{visible(lastName(folder))}</h2>
            <ul>
              {workspaces.map(({ id }) => (
                <RailRow key={id} id={id} isCurrent={id === current} onPick={onPick} />
              ))}
            </ul>
          </section>
        ))}
        {isKnown && shown.length === 0 && <p className="quiet none">{words.rail.none}</p>}
      </div>
      <footer>
        {mayCreate ? (
          <Button icon="plus" onClick={onCreate}>
            {words.rail.create}
          </Button>
        ) : (
          <span />
        )}
        <Link
          to={{ page: "schedules" }}
          className="button plain icon-only"
          aria-label={words.rail.schedules}
          title={words.rail.schedules}
          onClick={onPick}
        >
          <Icon name="clock" />
        </Link>
        <Link
          to={{ page: "groups" }}
          className="button plain icon-only"
          aria-label={words.rail.groups}
          title={words.rail.groups}
          onClick={onPick}
        >
          <Icon name="group" />
        </Link>
        <Link
          to={{ page: "settings", on: "permissions" }}
          className="button plain icon-only"
          aria-label={words.rail.settings}
          title={words.rail.settings}
          onClick={onPick}
        >
          <Icon name="settings" />
        </Link>
      </footer>
    </nav>
  );
}

const RailRow = memo(function RailRow({
  id,
  isCurrent,
  onPick,
}: {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly onPick: () => void;
}): ReactElement | null {
  const workspace = useWorkspace(id);
  if (!workspace) return null;
  const activity = activityOfWorkspace(workspace);
  const { title, added = 0, removed = 0, workers } = workspace;
  const last = workers.findLast(({ lastWords }) => lastWords !== undefined)?.lastWords;
  return (
    <li>
      <Link
        to={{ page: "worker", workspace: id }}
        className={`workspace is-${activity}`}
        aria-current={isCurrent ? "page" : undefined}
        onClick={onPick}
      >
        <Sign kind={activitySigns[activity]} says={words.activity[activity]} />
        <span className="title one-line">{visible(title)}</span>
        {added + removed > 0 && (
          <span className="figures lines">
            <span className="added">+{added}</span> <span className="removed">−{removed}</span>
          </span>
        )}
        <span className="words one-line">
          {activity === "idle" || activity === "active"
            ? visible(last ?? words.activity[activity])
            : words.activity[activity]}
        </span>
      </Link>
    </li>
  );
});

export const lastName = (folder: string): string =>
  folder.split(/[\\/]/).findLast((part) => part !== "") ?? folder;

const Mark = (): ReactElement => (
  <svg className="mark" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d="M3 5h14c0 6.5-2.8 10.6-7 12.300C5.8 15.6 3 11.5 3 5z" fill="currentcolor" />
    <path d="M10 5v12" stroke="var(--surface-1)" strokeWidth="1.75" strokeLinecap="round" />
  </svg>
);
