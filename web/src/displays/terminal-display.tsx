/** A command and what it printed, with its colours. */
import "./ansi.css";
import type { Display } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useMemo } from "react";
import { words } from "../words.ts";
import { type AnsiLine, parseAnsi } from "./ansi.ts";
import { Folded } from "./folded.tsx";

type TerminalProps = {
  readonly display: Extract<Display, { kind: "terminal" }>;
  readonly isRunning: boolean;
};

export function TerminalDisplay({ display, isRunning }: TerminalProps): ReactElement {
  const { command, output, exitCode } = display;
  const lines = useMemo(() => parseAnsi(output.trimEnd()), [output]);
  return (
    <div className="terminal">
      <pre className="command">{visible(command)}</pre>
      {output.trim() === "" ? (
        !isRunning && <p className="quiet">{words.noOutput}</p>
      ) : (
        <Folded lines={lines} most={isRunning ? 8 : 16} keep="end">
          {(shown, from) => <AnsiLines lines={shown} from={from} />}
        </Folded>
      )}
      {exitCode !== null && exitCode !== 0 && <p className="exit">{words.exitCode(exitCode)}</p>}
    </div>
  );
}

export const AnsiLines = ({
  lines,
  from,
}: {
  readonly lines: readonly AnsiLine[];
  readonly from: number;
}): ReactElement => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
  <pre className="output" tabIndex={0}>
    {lines.map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line of an output keeps its place
      <span key={from + index}>
        {line.map(({ text, looks }, place) =>
          looks.length === 0 ? (
            text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces are those of one line
            <span key={place} className={looks.map((look) => `ansi-${look}`).join(" ")}>
              {text}
            </span>
          ),
        )}
        {"\n"}
      </span>
    ))}
  </pre>
);
