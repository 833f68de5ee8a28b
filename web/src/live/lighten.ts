/**
 * What a page holds of an event in memory. A long session has hundreds of megabytes of results that nobody looks at: of
 * those the page holds the start and the end, and reads the rest from the browser's store when a row is opened.
 */
import type { Display, Envelope, InputBlock, ResultPart } from "keel/protocol";

/** Of what the model saw of a result, which only the raw view shows. */
const maxResult = 1_000;
/** Of what a row shows when it is opened. */
const maxDisplay = 12_000;
/** Of an image or a document, as base64. */
const maxData = 100_000;

/** `whole` is the id of the call or the input of which something was left out. */
export type Light<Told extends Envelope = Envelope> = {
  readonly event: Told;
  readonly whole?: string | undefined;
};

export function lightened<Told extends Envelope>(event: Told): Light<Told> {
  if (event.type === "tool.finished") {
    const content = lightParts(event.content);
    const display = lightDisplay(event.display);
    if (content === event.content && display === event.display) return { event };
    // What programs are told of a result is as long as what the model saw, and no row shows it.
    return { event: { ...event, content, display, data: undefined }, whole: event.callId };
  }
  if (event.type === "input.accepted") {
    const content = lightInput(event.input.content);
    if (content === event.input.content) return { event };
    return { event: { ...event, input: { ...event.input, content } }, whole: event.input.id };
  }
  return { event };
}

function lightParts(parts: ResultPart[]): ResultPart[] {
  if (parts.every((part) => sizeOf(part) <= (part.type === "text" ? maxResult : maxData))) return parts;
  return parts.map((part) =>
    part.type === "text"
      ? { ...part, text: middleOut(part.text, maxResult) }
      : sizeOf(part) <= maxData
        ? part
        : { ...part, data: "" },
  );
}

function lightInput(parts: InputBlock[]): InputBlock[] {
  if (parts.every((part) => part.type === "text" || sizeOf(part) <= maxData)) return parts;
  return parts.map((part) =>
    part.type === "text" || sizeOf(part) <= maxData ? part : { ...part, data: "" },
  );
}

const sizeOf = (part: ResultPart | InputBlock): number =>
  part.type === "text" ? part.text.length : part.data.length;

function lightDisplay(display: Display): Display {
  switch (display.kind) {
    case "text":
    case "markdown":
    case "agent":
      return display.text.length <= maxDisplay
        ? display
        : { ...display, text: middleOut(display.text, maxDisplay) };
    case "terminal":
      return display.output.length <= maxDisplay
        ? display
        : { ...display, output: middleOut(display.output, maxDisplay) };
    case "files":
      return display.paths.length <= 200
        ? display
        : { ...display, paths: display.paths.slice(0, 200), truncated: true };
    case "table":
      return display.rows.length <= 200 ? display : { ...display, rows: display.rows.slice(0, 200) };
    // A diff is what people look at most, and it has bounds of its own.
    case "diff":
    case "todo":
      return display;
  }
}

/** Copied, so that the whole text is not held by its parts. */
function middleOut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = most / 2;
  const left = text.length - 2 * half;
  const said = `${text.slice(0, half)}\n… ${left.toLocaleString("en-US")} characters are not shown here …\n${text.slice(-half)}`;
  return JSON.parse(JSON.stringify(said)) as string;
}
