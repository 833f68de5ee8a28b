/** A conversation: its rows, the field below them, and what stands beside it. */
import type { Ask, WorkspaceEntry } from "keel/protocol";
import { type Row, rowsOf } from "keel/view";
import { lazy, type ReactElement, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { answerAsk } from "../asks/answer-ask.ts";
import type { ComposerHandle } from "../composer/composer.tsx";
import { useAnnounce } from "../kit/announce.tsx";
import { Button } from "../kit/button.tsx";
import { Loaded } from "../kit/loaded.tsx";
import { useMedia } from "../kit/media.ts";
import { useNavigation } from "../live/navigation.ts";
import { useAccess, useSession, useWorld, type World } from "../live/world.ts";
import { pathOf, type Route } from "../route.ts";
import { type RowActions, RowActionsContext, TranscriptContext } from "../rows/row-actions.ts";
import { WholeRow } from "../rows/row-view.tsx";
import { SideChips } from "../side/chips.tsx";
import { words } from "../words.ts";
import { ConversationHead } from "./head.tsx";
import type { Jump } from "./items.ts";
import { RowList, type RowListHandle } from "./row-list.tsx";
import { sayActivity } from "./say-activity.ts";

const Composer = lazy(async () => ({ default: (await import("../composer/composer.tsx")).Composer }));
const AskSheet = lazy(async () => ({ default: (await import("../asks/ask-sheet.tsx")).AskSheet }));
const Side = lazy(async () => ({ default: (await import("../side/side.tsx")).Side }));
const RewindDialog = lazy(async () => ({
  default: (await import("../side/rewind-dialog.tsx")).RewindDialog,
}));
const ConversationSearch = lazy(async () => ({ default: (await import("./search.tsx")).ConversationSearch }));

type ConversationProps = {
  readonly session: string;
  readonly route: Extract<Route, { page: "worker" | "session" }>;
  readonly workspace?: WorkspaceEntry | undefined;
  /** Only to read: an old session, or an agent's. */
  readonly reading?: ReactElement | undefined;
  readonly onRail: () => void;
};

export function Conversation({
  session,
  route,
  workspace,
  reading,
  onRail,
}: ConversationProps): ReactElement {
  const world = useWorld();
  const { go } = useNavigation();
  const { feed, state } = useSession(session);
  const { view } = state;
  const list = useRef<RowListHandle>(null);
  const composer = useRef<ComposerHandle>(null);
  const [isSideOpen, setSideOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const [rewinding, setRewinding] = useState<{ readonly checkpoint?: string | undefined }>();
  const access = useAccess();
  const isReadOnly = reading !== undefined || access !== "work";
  const mayAnswer = reading === undefined && access !== "watch";
  const isPhone = useMedia("(max-width: 767px)");
  const [isLater, setLater] = useState(false);
  const rows = useMemo(() => rowsOf(view.transcript).toArray(), [view.transcript]);
  // A piece of a reply changes its row and nothing that stands around the rows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: told counts all but pieces
  const settled = useMemo(() => view, [session, view.told]);
  const now = useRef({ rows, transcript: view.transcript });
  now.current = { rows, transcript: view.transcript };
  useAnnounceActivity(sayActivity(view));
  const asks = useMemo(() => openAsksIn(rows), [rows]);
  const hasSheet = isPhone && mayAnswer && asks.length > 0;

  const jumpToFile = useCallback((path: string): void => {
    const row = now.current.rows.findLast(
      (one) => one.kind === "tool" && one.display?.kind === "diff" && one.display.path === path,
    );
    if (row) list.current?.toRow(row.id);
  }, []);
  const search = useCallback(() => setSearching(true), []);
  const jump = useCallback((to: Jump, step: 1 | -1): void => void list.current?.jump(to, step), []);
  const toggleSide = useCallback(() => setSideOpen((isOpen) => !isOpen), []);
  const closeSide = useCallback(() => setSideOpen(false), []);
  const rewind = useCallback(() => setRewinding({}), []);
  const openAgent: RowActions["openAgent"] = useCallback(
    (row) => {
      if (row.data.session !== undefined) go({ page: "session", session: row.data.session });
    },
    [go],
  );
  const { cwd } = view.standing;
  const actions = useMemo<RowActions>(
    () => ({
      session,
      cwd,
      isReadOnly,
      mayAnswer,
      hasSheet,
      renderRow: (row) => <WholeRow row={row} />,
      answer: (ask, answer, keep) => answerAsk(world, { session, ask }, answer, keep),
      dropInput: (inputId) => world.attempt(world.submit(session, { type: "drop", inputId })),
      editInput: (inputId) =>
        world.attempt(
          world.submit(session, { type: "drop", inputId }).then((receipt) => {
            const row = now.current.transcript.own.rows.get(inputId);
            if (receipt.type !== "dropped" || !receipt.found || row?.kind !== "user") return;
            composer.current?.add(
              row.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
            );
          }),
        ),
      openAgent,
      linkTo: (row) => new URL(pathOf({ ...route, row: row.id }), location.href).href,
      rewindTo: (checkpoint) => setRewinding({ checkpoint }),
      forkAt: (row) =>
        void world.attempt(
          forkBefore(world, session, row.at).then((copy) => go({ page: "session", session: copy })),
        ),
      stopTask: (taskId) => world.attempt(world.submit(session, { type: "stop", taskId })),
      whole: (id) => feed.whole(id),
    }),
    [session, cwd, isReadOnly, mayAnswer, hasSheet, world, feed, openAgent, route, go],
  );

  return (
    <RowActionsContext value={actions}>
      <div className={`worker${isReadOnly ? " is-read" : ""}`}>
        <ConversationHead
          session={session}
          view={settled}
          workspace={workspace}
          worker={route.page === "worker" ? route.worker : undefined}
          onRail={onRail}
          onSearch={search}
          onJump={jump}
          onSide={toggleSide}
        />
        <main className="conversation" id="main">
          <SideChips view={settled} onOpen={() => setSideOpen(true)} />
          {isSearching && (
            <Loaded>
              <ConversationSearch rows={rows} list={list} onClose={() => setSearching(false)} />
            </Loaded>
          )}
          {state.phase === "failed" ? (
            <div className="state">
              <p>{words.sessionFailed(state.problem?.message ?? "")}</p>
            </div>
          ) : rows.length === 0 && state.phase !== "reading" ? (
            <EmptyConversation isLoading={state.phase === "catching-up"} />
          ) : (
            <TranscriptContext value={view.transcript}>
              <RowList
                key={session}
                ref={list}
                rows={rows}
                isPart={!state.isWhole}
                label={words.conversation}
                start={route.row}
              />
            </TranscriptContext>
          )}
          <div className="foot">
            {hasSheet && isLater && (
              <Button look="plain" onClick={() => setLater(false)}>
                {words.rail.asks(asks.length)}
              </Button>
            )}
            {hasSheet && !isLater ? (
              <Loaded>
                <AskSheet
                  asks={asks}
                  session={session}
                  cwd={cwd}
                  onAnswer={actions.answer}
                  onLater={() => setLater(true)}
                />
              </Loaded>
            ) : (
              (reading ??
              (access === "work" ? (
                <Loaded meanwhile={<div className="composer-place" />}>
                  <Composer ref={composer} session={session} view={settled} />
                </Loaded>
              ) : (
                <p className="reading quiet">{words.access[access]}</p>
              )))
            )}
          </div>
        </main>
        <Loaded meanwhile={<aside className="side" />}>
          <Side
            session={session}
            view={settled}
            isReadOnly={isReadOnly}
            isOpen={isSideOpen}
            onClose={closeSide}
            onFile={jumpToFile}
            onRewind={rewind}
            onAgent={openAgent}
          />
        </Loaded>
      </div>
      {rewinding && (
        <Loaded>
          <RewindDialog
            session={session}
            view={view}
            checkpoint={rewinding.checkpoint}
            onClose={() => setRewinding(undefined)}
          />
        </Loaded>
      )}
    </RowActionsContext>
  );
}

const openAsksIn = (rows: readonly Row[]): readonly Ask[] =>
  rows.flatMap((row) => (row.kind === "ask" && !row.closed ? [row.ask] : []));

/** A copy up to the message, which is not in it. */
async function forkBefore({ client }: World, session: string, before: number): Promise<string> {
  let after = 0;
  for (;;) {
    const { events, more } = await client.history({ session, after });
    const later = events.find(({ at }) => at >= before);
    if (later) return (await client.fork({ session, upTo: later.seq - 1 })).id;
    if (!more) return (await client.fork({ session })).id;
    after = events.at(-1)?.seq ?? after;
  }
}

const EmptyConversation = ({ isLoading }: { readonly isLoading: boolean }): ReactElement => (
  <div className="state">
    <p className="quiet">{isLoading ? words.reading : words.noMessages}</p>
  </div>
);

/** What changed for somebody who cannot see it. */
function useAnnounceActivity(says: string): void {
  const announce = useAnnounce();
  const last = useRef(says);
  useEffect(() => {
    if (says !== last.current && says !== "") announce(says);
    last.current = says;
  }, [says, announce]);
}
