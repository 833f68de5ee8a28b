/** The icons of the page: one set, drawn on 16 by 16, one weight. */
import type { ReactElement } from "react";

const drawings = {
  agent: "M3 5.500h10v6.500a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1zM8 5.500V3M6 8.800v.9M10 8.800v.9",
  archive: "M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.800h3",
  back: "M9.5 3.5 5 8l4.5 4.5",
  branch:
    "M5 4.800v6.400M5 11.200a1.6 1.6 0 1 0 0 .01M5 4.800a1.6 1.6 0 1 0 0-.01M11 6.800a1.6 1.6 0 1 0 0-.01M11 6.800c0 2.4-2.5 2.9-6 3.4",
  check: "M3.5 8.5 6.5 11.5 12.5 4.5",
  chevron: "M6 3.8 10.2 8 6 12.2",
  clock: "M8 2.500a5.5 5.5 0 1 0 .01 0M8 5v3.200l2.2 1.3",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.500h7v7.500h-7zM10.5 5.500V3h-7v7.500h2",
  cross: "M4.5 4.500l7 7M11.5 4.500l-7 7",
  diff: "M8 3v6M5 6h6M5 12.500h6",
  edit: "M3 13l.6-2.800L10.9 3 13 5.1 5.8 12.400z",
  file: "M4 2.500h5L12 5.500v8H4zM9 2.500v3h3",
  folder: "M2.5 4h4l1.3 1.500h5.700v7h-11z",
  group: "M2.5 3.500h8v5.500h-4.500l-2 2v-2h-1.500zM12 6h1.500v5.500h-1.500v2l-2-2h-2.500v-1",
  image: "M2.5 3.500h11v9h-11zM3 11l3-3 2.5 2.500L10.5 8l2.8 3M10.3 6.100a.4.4 0 1 0 .01 0",
  inbox: "M2.5 9 4.5 3.500h7l2 5.500v3.500h-11zM2.5 9H6l.8 1.500h2.400L10 9h3.5",
  link: "M6.7 9.300a2.4 2.4 0 0 0 3.4 0l2.2-2.200a2.4 2.4 0 0 0-3.4-3.400l-.8.8M9.3 6.700a2.4 2.4 0 0 0-3.4 0L3.7 8.900a2.4 2.4 0 0 0 3.4 3.400l.8-.8",
  list: "M5.5 4.500h7.500M5.5 8h7.500M5.5 11.500h7.500M3 4.500h.01M3 8h.01M3 11.500h.01",
  menu: "M2.5 4.500h11M2.5 8h11M2.5 11.500h11",
  more: "M3.5 7.600a.4.4 0 1 0 .01 0M8 7.600a.4.4 0 1 0 .01 0M12.5 7.600a.4.4 0 1 0 .01 0",
  panel: "M2.5 3.500h11v9h-11zM10 3.500v9",
  phone: "M5 2.500h6v11H5zM7.5 11.500h1",
  plus: "M8 3.500v9M3.5 8h9",
  question: "M6 6.200a2 2 0 1 1 2.9 1.800c-.6.3-.9.7-.9 1.400M8 11.700h.01M8 2.200a5.8 5.8 0 1 0 .01 0",
  search: "M7 3a4 4 0 1 0 .01 0M10 10l3.2 3.2",
  send: "M8 13V3.500M4 7.3 8 3.300l4 4",
  settings:
    "M3 5h5.500M11.5 5H13M3 11h1.500M7.5 11H13M10 3.500a1.5 1.5 0 1 0 .01 0M6 9.500a1.5 1.5 0 1 0 .01 0",
  stop: "M4.5 4.500h7v7h-7z",
  terminal: "M2.5 3.500h11v9h-11zM5 6.3 6.8 8 5 9.700M8.3 10h2.5",
  trash: "M3.5 4.500h9M6.3 4.500v-1.500h3.400v1.500M4.5 4.500l.5 8.500h6l.5-8.5",
  undo: "M5.5 3 3 5.5 5.5 8M3 5.500h6a3.5 3.5 0 0 1 0 7H6",
  warning: "M8 3 2.5 12.800h11zM8 6.500v3M8 11.300h.01",
} as const;

export type IconName = keyof typeof drawings;

/** Decoration beside words, or the picture of a button that has a name. */
export const Icon = ({ name }: { readonly name: IconName }): ReactElement => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={drawings[name]} />
  </svg>
);
