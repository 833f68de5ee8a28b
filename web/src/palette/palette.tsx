/** Finds anything and does anything by keys: workspaces, workers, sessions, questions, commands of the page. */
import "../overview/overview.css";
import type { SessionEntry } from "keel/protocol";
import { activityOfWorkspace, visible } from "keel/view";
import { type KeyboardEvent, type ReactElement, useEffect, useId, useMemo, useRef, useState } from "react";
import { fitting } from "../composer/completion.ts";
import { Icon, type IconName } from "../kit/icon.tsx";
import { type Navigation, useNavigation } from "../live/navigation.ts";
import { useAccess, useWorkspaces, useWorld } from "../live/world.ts";
import { type FoundWords, useSearch } from "../overview/use-search.ts";
import { workerIcons } from "../overview/worker-tabs.tsx";
import { settingsPages } from "../route.ts";
import { words } from "../words.ts";

type PaletteProps = { readonly onClose: () => void; readonly onCreate: () => void };

type Entry = {
  readonly key: string;
  readonly name: string;
  readonly about: string;
  readonly icon: IconName;
  readonly isAsking?: boolean | undefined;
  readonly run: () => void;
};

const most = 12;

export function Palette({ onClose, onCreate }: PaletteProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const entries = useEntries(onCreate);
  const said = useSearch(wanted, most);
  const { go } = useNavigation();
  const found = useMemo(() => {
    const named = fitting(entries, wanted.trim(), ({ name, about }) => `${name} ${about}`).slice(0, most);
    return [...named, ...said.found.map((one) => saidEntry(one, go))];
  }, [entries, wanted, said, go]);
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const pick = (entry: Entry | undefined): void => {
    onClose();
    entry?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((at + step + found.length) % Math.max(1, found.length));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      pick(found[at]);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it for keys
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label={words.rail.find}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <input
        className="wanted"
        role="combobox"
        aria-label={words.rail.find}
        placeholder={words.rail.find}
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found[at] ? `${list}-${at}` : undefined}
        value={wanted}
        onChange={({ target }) => {
          setWanted(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label={words.palette.results} className="results">
        {found.map((entry, index) => (
          // The field has the keys; here only pointers come.
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <div
            key={entry.key}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => pick(entry)}
          >
            <Icon name={entry.icon} />
            <span className="one-line">{visible(entry.name)}</span>
            <span className={`more one-line${entry.isAsking ? " asks" : ""}`}>{visible(entry.about)}</span>
          </div>
        ))}
        {found.length === 0 && <p className="quiet none">{words.palette.nothing}</p>}
      </div>
    </dialog>
  );
}

/** Something that was said, which leads to where it was. */
const saidEntry = (
  { session, row, excerpt, title, firstInput, by }: FoundWords,
  go: Navigation["go"],
): Entry => ({
  key: `said ${session} ${row ?? ""}`,
  name: excerpt,
  about: `${words.palette.by[by]} · ${(title ?? firstInput ?? words.untitled).slice(0, 40)}`,
  icon: "search",
  run: () => go({ page: "session", session, row }),
});

/** What needs a person first, then what is at work, then what can be done. */
function useEntries(onCreate: () => void): readonly Entry[] {
  const { all } = useWorkspaces();
  const { go } = useNavigation();
  const { client } = useWorld();
  const mayCreate = useAccess() === "work";
  const [sessions, setSessions] = useState<readonly SessionEntry[]>([]);
  useEffect(() => {
    let isWanted = true;
    client.sessions({ limit: 200 }).then(
      (found) => isWanted && setSessions(found),
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [client]);
  return useMemo(() => {
    const workspaces = all
      .filter(({ archived }) => !archived)
      .toSorted(
        (left, right) =>
          Number(activityOfWorkspace(right) === "asking") - Number(activityOfWorkspace(left) === "asking"),
      )
      .flatMap(({ id, title, workers }): Entry[] =>
        workers.map(({ id: worker, kind, name, activity, asks = 0 }) => ({
          key: worker,
          name: `${title} · ${name}`,
          about: asks > 0 ? words.rail.asks(asks) : kind === "diff" ? "" : words.activity[activity],
          icon: workerIcons[kind],
          isAsking: activity === "asking",
          run: () => go({ page: "worker", workspace: id, worker }),
        })),
      );
    const known = new Set(all.flatMap(({ workers }) => workers.flatMap(({ session }) => session ?? [])));
    const doable: Entry[] = [
      ...(mayCreate
        ? [{ key: "create", name: words.rail.create, about: "", icon: "plus" as const, run: onCreate }]
        : []),
      { key: "asks", name: words.inbox.title, about: "", icon: "inbox", run: () => go({ page: "asks" }) },
      {
        key: "overview",
        name: words.overview.title,
        about: "",
        icon: "list",
        run: () => go({ page: "overview" }),
      },
      {
        key: "schedules",
        name: words.schedules.title,
        about: "",
        icon: "clock",
        run: () => go({ page: "schedules" }),
      },
      {
        key: "groups",
        name: words.groups.title,
        about: "",
        icon: "group",
        run: () => go({ page: "groups" }),
      },
      ...settingsPages.map(
        (on): Entry => ({
          key: `settings-${on}`,
          name: `${words.rail.settings}: ${words.settings.pages[on]}`,
          about: "",
          icon: "settings",
          run: () => go({ page: "settings", on }),
        }),
      ),
    ];
    const earlier = sessions
      .filter(({ id }) => !known.has(id))
      .map(
        ({ id, title, firstInput, cwd }): Entry => ({
          key: id,
          name: title ?? firstInput ?? words.untitled,
          about: cwd,
          icon: "clock",
          run: () => go({ page: "session", session: id }),
        }),
      );
    return [...workspaces, ...doable, ...earlier];
  }, [all, sessions, go, onCreate, mayCreate]);
}
