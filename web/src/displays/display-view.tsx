/** One table: what a tool shows of its work → how this screen shows it. The page knows no tool. */
import type { Display } from "keel/protocol";
import { readable } from "keel/view";
import { lazy, type ReactElement } from "react";
import { Icon } from "../kit/icon.tsx";
import { Loaded } from "../kit/loaded.tsx";
import { Sign } from "../kit/sign.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import { Folded } from "./folded.tsx";

const DiffDisplay = lazy(async () => ({ default: (await import("./diff-display.tsx")).DiffDisplay }));
/** What a command printed is read when it is opened. */
const TerminalDisplay = lazy(async () => ({
  default: (await import("./terminal-display.tsx")).TerminalDisplay,
}));

type DisplayOf<Kind extends Display["kind"]> = Extract<Display, { kind: Kind }>;
type Shown<Kind extends Display["kind"]> = {
  readonly display: DisplayOf<Kind>;
  /** More of it may come. */
  readonly isRunning: boolean;
};

const displays: { readonly [Kind in Display["kind"]]: (shown: Shown<Kind>) => ReactElement } = {
  text: ({ display }) => <PlainText text={display.text} />,
  markdown: ({ display }) => <Markdown text={readable(display.text)} />,
  diff: ({ display }) => (
    <Loaded meanwhile={<pre className="plain">{readable(display.path)}</pre>}>
      <DiffDisplay display={display} />
    </Loaded>
  ),
  terminal: (shown) => (
    <Loaded meanwhile={<pre className="plain">{readable(shown.display.command)}</pre>}>
      <TerminalDisplay {...shown} />
    </Loaded>
  ),
  files: FilesDisplay,
  todo: ({ display }) => <TodoItems items={display.items} />,
  agent: ({ display }) => <Markdown text={readable(display.text)} />,
  table: ({ display }) => <TableDisplay {...display} />,
};

export function DisplayView({
  display,
  isRunning = false,
}: {
  readonly display: Display;
  readonly isRunning?: boolean;
}): ReactElement {
  // By its own kind a display finds only the component that takes it.
  const Component = displays[display.kind] as (shown: {
    display: Display;
    isRunning: boolean;
  }) => ReactElement;
  return <Component display={display} isRunning={isRunning} />;
}

/** What is worth seeing without being asked for: changes. A list that is worked off stands beside the conversation. */
export const opensByItself = (display: Display): boolean => display.kind === "diff";

export const PlainText = ({ text }: { readonly text: string }): ReactElement => (
  <Folded lines={readable(text).trimEnd().split("\n")} most={16} keep="start">
    {(shown) => (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
      <pre className="plain" tabIndex={0}>
        {shown.join("\n")}
      </pre>
    )}
  </Folded>
);

const mostRows = 200;

/** Plain words in cells: nothing in them is read as Markdown or HTML. */
const TableDisplay = ({ columns, rows }: DisplayOf<"table">): ReactElement => (
  <div className="prose">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys */}
    <section className="wide" tabIndex={0} aria-label={words.table}>
      <table>
        <thead>
          <tr>
            {columns.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same words
              <th key={column} scope="col">
                {readable(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostRows).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same words
            <tr key={index}>
              {columns.map((_, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same words
                <td key={column}>{readable(row[column] ?? "")}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
    {rows.length > mostRows && <p className="quiet">{words.moreRows(rows.length - mostRows)}</p>}
  </div>
);

function FilesDisplay({ display }: Shown<"files">): ReactElement {
  if (display.paths.length === 0) return <p className="quiet">{words.noFiles}</p>;
  return (
    <Folded lines={display.paths} most={12} keep="start">
      {(shown) => (
        <ul className="files">
          {shown.map((path) => (
            <li key={path}>
              <Icon name="file" />
              <code>{readable(path)}</code>
            </li>
          ))}
          {display.truncated && <li className="quiet">{words.moreFiles}</li>}
        </ul>
      )}
    </Folded>
  );
}

type TodoStatus = DisplayOf<"todo">["items"][number]["status"];
const todoSigns = { pending: "waiting", in_progress: "active", completed: "done" } as const satisfies Record<
  TodoStatus,
  string
>;

export const TodoItems = ({
  items,
}: {
  readonly items: readonly { readonly text: string; readonly status: TodoStatus }[];
}): ReactElement => (
  <ul className="todo">
    {items.map(({ text, status }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same words
      <li key={index} className={status}>
        <Sign kind={todoSigns[status]} says={words.todo[status]} />
        <span>{readable(text)}</span>
      </li>
    ))}
  </ul>
);
