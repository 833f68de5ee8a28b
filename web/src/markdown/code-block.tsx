/** A block of code: plain at once, with colours when they are there. */
import { memo, type ReactElement, useEffect, useState } from "react";
import { CopyButton } from "../kit/copy-button.tsx";
import { words } from "../words.ts";
import { type CodeLine, highlight } from "./highlight.ts";

type CodeBlockProps = {
  readonly language: string;
  readonly text: string;
  /** No more of it comes. */
  readonly isWhole: boolean;
};

export const CodeBlock = memo(function CodeBlock({ language, text, isWhole }: CodeBlockProps): ReactElement {
  return (
    <figure className="code">
      <figcaption>
        <span>{language === "" ? words.text : language}</span>
        <CopyButton text={text} label={words.copyCode} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys */}
      <pre tabIndex={0}>
        <code>
          <Coloured language={language} text={text} isWhole={isWhole} />
        </code>
      </pre>
    </figure>
  );
});

export function Coloured({ language, text, isWhole }: CodeBlockProps): ReactElement {
  const lines = useHighlight(language, text, isWhole);
  if (!lines) return <>{text}</>;
  return (
    <>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are those of one text
        <span key={index}>
          <Tokens line={line} />
          {index < lines.length - 1 ? "\n" : ""}
        </span>
      ))}
    </>
  );
}

export const Tokens = ({ line }: { readonly line: CodeLine }): ReactElement => (
  <>
    {line.map(({ text, look }, index) =>
      look === "" ? (
        text
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces are those of one line
        <span key={index} className={`tok-${look}`}>
          {text}
        </span>
      ),
    )}
  </>
);

/** Undefined until it is known. */
export function useHighlight(
  language: string,
  text: string,
  isWhole: boolean,
): readonly CodeLine[] | undefined {
  const [found, setFound] = useState<{ readonly of: string; readonly lines: readonly CodeLine[] }>();
  useEffect(() => {
    if (!isWhole || language === "") return;
    let isWanted = true;
    highlight(language, text).then(
      (lines) => {
        if (isWanted && lines) setFound({ of: text, lines });
      },
      // Code without colours is code.
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [language, text, isWhole]);
  return found?.of === text ? found.lines : undefined;
}
