/** Markdown as elements. Only the part of a text that still grows is read anew. */
import { visible } from "keel/view";
import { Fragment, memo, type ReactElement, type ReactNode, useEffect, useState } from "react";
import { Icon } from "../kit/icon.tsx";
import { words } from "../words.ts";
import { type Block, parseBlocks } from "./blocks.ts";
import { CodeBlock } from "./code-block.tsx";
import { type Inline, parseInline } from "./inline.ts";
import { partText } from "./parts.ts";

/** `isLive`: more may come, so that marks without an end are closed for now. */
export const Markdown = memo(function Markdown({
  text,
  isLive = false,
}: {
  readonly text: string;
  readonly isLive?: boolean;
}): ReactElement {
  const { parts } = partText(text);
  return (
    <div className="prose">
      {parts.map((part, index) => (
        // A part keeps its place for as long as the text grows.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Part key={index} text={part} isLive={isLive && index === parts.length - 1} />
      ))}
    </div>
  );
});

export const Part = memo(function Part({
  text,
  isLive,
}: {
  readonly text: string;
  readonly isLive: boolean;
}): ReactElement {
  const close = useClosing(isLive);
  return <>{blocks(parseBlocks(isLive ? close(text) : text))}</>;
});

type Closing = (text: string) => string;
const asItIs: Closing = (text) => text;

/** Closes the marks of a text that is still written; loaded with the first one. */
function useClosing(isLive: boolean): Closing {
  const [closing, setClosing] = useState<{ readonly close: Closing }>();
  useEffect(() => {
    if (!isLive || closing) return;
    let isWanted = true;
    import("remend").then(
      ({ default: remend }) =>
        isWanted &&
        setClosing({
          close: (text) =>
            remend(text, { linkMode: "text-only", htmlTags: false, images: false, katex: false }),
        }),
      // Marks without an end are shown as they are written.
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [isLive, closing]);
  return closing?.close ?? asItIs;
}

/** Words of one line, such as a title. */
export const InlineMarkdown = ({ text }: { readonly text: string }): ReactElement => (
  <>{inlines(parseInline(text))}</>
);

const blocks = (all: readonly Block[]): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: a part is read anew as a whole
  all.map((block, index) => <Fragment key={index}>{blockOf(block)}</Fragment>);

function blockOf(block: Block): ReactElement {
  switch (block.kind) {
    case "paragraph":
      return <p>{inlines(block.content)}</p>;
    case "heading":
      // Below the headings of the page; how large it is says the rest.
      return <h3 className={`h-${block.level}`}>{inlines(block.content)}</h3>;
    case "code":
      return <CodeBlock language={block.language} text={block.text} isWhole={block.isClosed} />;
    case "quote":
      return <blockquote>{blocks(block.blocks)}</blockquote>;
    case "list": {
      const items = block.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is read anew as a whole
        <li key={index} className={item.checked === null ? undefined : "task"}>
          {item.checked !== null && (
            <span className="box" role="img" aria-label={item.checked ? words.done : words.notDone}>
              {item.checked && <Icon name="check" />}
            </span>
          )}
          {itemBody(item.blocks)}
        </li>
      ));
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return <Table {...block} />;
    case "rule":
      return <hr />;
  }
}

/** An item of one paragraph is its words. */
const itemBody = (inside: readonly Block[]): ReactNode => {
  const [first, ...rest] = inside;
  if (first?.kind !== "paragraph") return blocks(inside);
  return (
    <div className="item">
      {inlines(first.content)}
      {blocks(rest)}
    </div>
  );
};

const Table = ({ aligns, head, rows }: Extract<Block, { kind: "table" }>): ReactElement => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
  <section className="wide" tabIndex={0} aria-label={words.table}>
    <table>
      <thead>
        <tr>
          {head.map((cell, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is read anew as a whole
            <th key={column} scope="col" className={aligns[column] ?? undefined}>
              {inlines(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is read anew as a whole
          <tr key={index}>
            {row.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is read anew as a whole
              <td key={column} className={aligns[column] ?? undefined}>
                {inlines(cell)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const inlines = (all: readonly Inline[]): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: a part is read anew as a whole
  all.map((one, index) => <Fragment key={index}>{inlineOf(one)}</Fragment>);

function inlineOf(one: Inline): ReactNode {
  switch (one.kind) {
    case "text":
      return one.text;
    case "code":
      return <code>{one.text}</code>;
    case "strong":
      return <strong>{inlines(one.children)}</strong>;
    case "emphasis":
      return <em>{inlines(one.children)}</em>;
    case "deleted":
      return <del>{inlines(one.children)}</del>;
    case "break":
      return "\n";
    case "image":
      return (
        <span className="picture">
          <Icon name="image" />
          {linkTo(one.href, one.text === "" ? words.image : one.text)}
        </span>
      );
    case "link":
      return linkTo(one.href, inlines(one.children), wordsOf(one.children));
  }
}

/** A link says where it leads where its words say another place. */
function linkTo(href: string, children: ReactNode, said = ""): ReactNode {
  if (href === "") return <span>{children}</span>;
  const host = /^mailto:/i.test(href) ? "" : new URL(href).host;
  const isElsewhere = /[\w-]\.[a-z]{2}/i.test(said) && !said.toLowerCase().includes(host.toLowerCase());
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={visible(href)}>
      {children}
      {isElsewhere && <span className="host"> ({host})</span>}
    </a>
  );
}

const wordsOf = (all: readonly Inline[]): string =>
  all.map((one) => ("text" in one ? one.text : "children" in one ? wordsOf(one.children) : " ")).join("");
