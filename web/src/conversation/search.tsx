/** Looks for words in the rows of a conversation, and goes from one to the next. */
import { callLine, type Row } from "keel/view";
import { type ReactElement, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { useAnnounced } from "../kit/announce.tsx";
import { IconButton } from "../kit/button.tsx";
import { words } from "../words.ts";
import type { RowListHandle } from "./row-list.tsx";

type ConversationSearchProps = {
  readonly rows: readonly Row[];
  readonly list: RefObject<RowListHandle | null>;
  readonly onClose: () => void;
};

export function ConversationSearch({ rows, list, onClose }: ConversationSearchProps): ReactElement {
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const found = useMemo(() => {
    const lower = wanted.trim().toLowerCase();
    return lower === "" ? [] : rows.filter((row) => textOfRow(row).toLowerCase().includes(lower));
  }, [rows, wanted]);
  useHighlights(wanted.trim());
  const counted =
    wanted.trim() === "" ? "" : words.found(found.length === 0 ? 0 : Math.max(0, at) + 1, found.length);
  useAnnounced(counted);
  const go = (step: 1 | -1): void => {
    if (found.length === 0) return;
    const next = (Math.max(0, at) + (at === -1 ? 0 : step) + found.length) % found.length;
    setAt(next);
    list.current?.toRow(found[next]?.id ?? "");
    field.current?.focus();
  };
  return (
    <search className="search">
      <input
        ref={field}
        className="input"
        type="search"
        aria-label={words.searchHere}
        placeholder={words.searchHere}
        value={wanted}
        onChange={({ target }) => {
          setWanted(target.value);
          setAt(-1);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") onClose();
        }}
      />
      <span className="quiet figures">{counted}</span>
      <IconButton icon="back" label={words.previous} onClick={() => go(-1)} />
      <IconButton icon="chevron" label={words.next} onClick={() => go(1)} />
      <IconButton icon="close" label={words.close} onClick={onClose} />
    </search>
  );
}

/** What of a row can be found. */
export function textOfRow(row: Row): string {
  switch (row.kind) {
    case "user":
      return row.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    case "text":
    case "thinking":
    case "notice":
      return row.text;
    case "tool": {
      const { tool, about } = callLine(row);
      const shown = row.display && "output" in row.display ? row.display.output : "";
      return `${tool} ${about} ${shown}`;
    }
    case "ask":
      return row.ask.title;
    case "compaction":
      return row.summary;
    case "agent":
    case "task":
      return row.title;
    case "turn-end":
      return row.fault?.message ?? "";
  }
}

/** Marks the words where they are on the page; nothing of the page is changed for it. */
function useHighlights(wanted: string): void {
  useEffect(() => {
    const registry = CSS.highlights;
    if (!registry) return;
    const mark = (): void => {
      registry.delete("found");
      const scroller = document.querySelector(".scroller");
      if (wanted === "" || !scroller) return;
      const ranges: Range[] = [];
      const walker = document.createTreeWalker(scroller, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
        const text = node.textContent?.toLowerCase() ?? "";
        for (
          let at = text.indexOf(wanted.toLowerCase());
          at !== -1;
          at = text.indexOf(wanted.toLowerCase(), at + 1)
        ) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + wanted.length);
          ranges.push(range);
        }
      }
      registry.set("found", new Highlight(...ranges));
    };
    mark();
    const timer = setInterval(mark, 400);
    return () => {
      clearInterval(timer);
      registry.delete("found");
    };
  }, [wanted]);
}
