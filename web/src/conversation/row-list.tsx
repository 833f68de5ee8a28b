/**
 * The rows of a conversation as a virtual list. It stays at the end only while the reader is there; rows that come
 * before what is seen move nothing.
 */
import type { Row } from "keel/view";
import {
  type ReactElement,
  type Ref,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { Button } from "../kit/button.tsx";
import { RowView } from "../rows/row-view.tsx";
import { words } from "../words.ts";
import { type Item, type Items, itemOfRow, itemsOf, type Jump, jumps, nextItem, noItems } from "./items.ts";

export type RowListHandle = {
  toEnd(): void;
  /** False where the row is not there. */
  toRow(id: string): boolean;
  jump(to: Jump, step: 1 | -1): boolean;
};

type RowListProps = {
  readonly rows: readonly Row[];
  /** Others come before them, which are not there yet. */
  readonly isPart?: boolean;
  readonly label: string;
  readonly ref?: Ref<RowListHandle>;
  /** The row that the address names: it is gone to once it is there; until then, and where none is named, the end is shown. */
  readonly start?: string | undefined;
};

/** Nearer than this to the end is at the end. */
const nearPx = 48;

export function RowList({ rows, isPart = false, label, ref, start }: RowListProps): ReactElement {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [isFollowing, setFollowing] = useState(true);
  const list = useRef<VirtualizerHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const items = useItems(rows);
  const isPrepended = usePrepended(items.items);
  const lastOffset = useRef(0);
  const follows = useRef(isFollowing);
  follows.current = isFollowing;

  const toEnd = useCallback((): void => {
    const { current } = scroller;
    if (current) current.scrollTop = current.scrollHeight;
  }, []);
  const onToggle = useCallback(
    (id: string, isOpen: boolean) => setOpened((before) => new Map(before).set(id, isOpen)),
    [],
  );
  const toItem = useCallback((index: number): void => {
    // At once: whatever is measured on the way there must not go back to the end.
    follows.current = false;
    setFollowing(false);
    list.current?.scrollToIndex(index, { align: "start", offset: -24 });
    focusOnceDrawn(scroller.current, index);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are others
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  }, [items, toEnd]);
  // The end of a long session is there before the rest of it: a row that is not known yet is gone to later, once.
  const sought = useRef<string>(undefined);
  const lastStart = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (lastStart.current !== start) sought.current = start;
    lastStart.current = start;
    const index = sought.current === undefined ? undefined : itemOfRow(items, sought.current);
    if (index === undefined) return;
    sought.current = undefined;
    toItem(index);
  }, [start, items, toItem]);

  useImperativeHandle(ref, () => ({
    toEnd: () => {
      setFollowing(true);
      toEnd();
    },
    toRow: (id) => {
      const index = itemOfRow(items, id);
      if (index !== undefined) toItem(index);
      return index !== undefined;
    },
    jump: (to, step) => {
      const handle = list.current;
      const from = handle ? handle.findItemIndex(handle.scrollOffset + 40) : 0;
      const found = nextItem(items, from, { step, fits: jumps[to] });
      if (found !== undefined) toItem(found);
      return found !== undefined;
    },
  }));

  const onScroll = (): void => {
    const { current } = scroller;
    if (!current) return;
    const { scrollTop, scrollHeight, clientHeight } = current;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < nearPx;
    // Only who scrolls up leaves the end: growing alone does not.
    if (isAtEnd) setFollowing(true);
    else if (scrollTop < lastOffset.current - 1) setFollowing(false);
    lastOffset.current = scrollTop;
  };
  const row = (item: Item, index: number): ReactElement => (
    <article className={`item kind-${item.row.kind}`} data-item={index} data-row={item.row.id} tabIndex={-1}>
      <RowView row={item.row} part={item.part} isOpen={opened.get(item.row.id)} onToggle={onToggle} />
    </article>
  );
  return (
    <div className="row-list">
      <h2 className="unseen">{label}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys */}
      <section ref={scroller} className="scroller" tabIndex={0} aria-label={label} onScroll={onScroll}>
        <div className="fill" />
        <Virtualizer
          ref={list}
          scrollRef={scroller}
          data={items.items}
          shift={isPrepended}
          bufferSize={200}
          onResize={() => {
            if (follows.current) toEnd();
          }}
        >
          {row}
        </Virtualizer>
      </section>
      {isPart && <p className="earlier quiet">{words.readingEarlier}</p>}
      {!isFollowing && (
        <div className="to-end">
          <Button
            icon="chevron"
            onClick={() => {
              setFollowing(true);
              toEnd();
            }}
          >
            {words.toEnd}
          </Button>
        </div>
      )}
    </div>
  );
}

/** A row that was far away is drawn some frames later, and seen once it was measured. */
function focusOnceDrawn(scroller: HTMLElement | null, index: number, frames = 20): void {
  requestAnimationFrame(() => {
    const item = scroller?.querySelector<HTMLElement>(`[data-item="${index}"]`);
    item?.focus({ preventScroll: true });
    if (frames > 0 && (!item || document.activeElement !== item)) focusOnceDrawn(scroller, index, frames - 1);
  });
}

/** Each list of rows is made into items from the one before. */
function useItems(rows: readonly Row[]): Items {
  const last = useRef(noItems);
  last.current = itemsOf(rows, last.current);
  return last.current;
}

/** Whether the items that were there now have others before them. */
function usePrepended(items: readonly Item[]): boolean {
  const first = useRef<string>(undefined);
  const before = first.current;
  first.current = items[0]?.key;
  return before !== undefined && before !== first.current && items.some(({ key }) => key === before);
}
