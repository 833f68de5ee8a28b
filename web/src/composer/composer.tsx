/** Where a person writes: to begin a turn, to steer one that runs, or to wait for its end. */
import "./composer.css";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  memo,
  type ReactElement,
  type Ref,
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { Attachments } from "../displays/attachments.tsx";
import { Button, IconButton } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { useMedia } from "../kit/media.ts";
import type { SessionView } from "../live/session-view.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { type Completing, complete, completingAt } from "./completion.ts";
import { CompletionList } from "./completion-list.tsx";
import { useDraft } from "./draft.ts";
import { noRecall, recall } from "./history.ts";
import { filesIn, type Picture, takeFiles } from "./pictures.ts";
import { SessionControls } from "./session-controls.tsx";
import { Unsent } from "./unsent.tsx";
import { useSuggestions } from "./use-completion.ts";

export type ComposerHandle = { focus(): void; put(text: string): void; add(text: string): void };

type ComposerProps = {
  readonly session: string;
  readonly view: SessionView;
  readonly ref?: Ref<ComposerHandle>;
};

export const Composer = memo(function Composer({ session, view, ref }: ComposerProps): ReactElement {
  const world = useWorld();
  const [text, setText] = useDraft(session);
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const [problem, setProblem] = useState("");
  const [when, setWhen] = useState<"now" | "after">("now");
  const [recalled, setRecalled] = useState(noRecall);
  const [completing, setCompleting] = useState<Completing>();
  const [at, setAt] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number>(undefined);
  const listId = useId();
  const isTouch = useMedia("(pointer: coarse)");
  const suggestions = useSuggestions(session, completing);
  const isRunning = view.activity.state !== "idle";
  const isEmpty = text.trim() === "" && pictures.length === 0;

  useImperativeHandle(ref, () => ({
    focus: () => field.current?.focus(),
    put: (given) => write(given),
    add: (given) => write(text.trim() === "" ? given : `${text.trimEnd()}\n\n${given}`),
  }));
  useEffect(() => {
    if (caret.current === undefined) return;
    field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  });

  const write = (next: string, place = next.length): void => {
    setText(next);
    caret.current = place;
    field.current?.focus();
  };
  const look = (): void => {
    const { current } = field;
    if (!current) return;
    setCompleting(completingAt(current.value, current.selectionStart));
    setAt(0);
  };
  const choose = (name: string): void => {
    if (!completing) return;
    const next = complete(text, completing, name);
    write(next.text, next.caret);
    setCompleting(undefined);
  };
  const send = (): void => {
    if (isEmpty) return;
    const said = text.trim();
    const content = [...pictures, ...(said === "" ? [] : [{ type: "text" as const, text: said }])];
    setText("");
    setPictures([]);
    setRecalled(noRecall);
    setCompleting(undefined);
    void world.say(session, content, isRunning ? when : "now");
  };
  const interrupt = (): void => void world.attempt(world.submit(session, { type: "interrupt" }));
  const take = async (files: readonly File[]): Promise<void> => {
    const taken = await takeFiles(files);
    setProblem(taken.problem);
    setPictures((before) => [...before, ...taken.pictures]);
    if (taken.text !== "") write(text.trim() === "" ? taken.text : `${text.trimEnd()}\n\n${taken.text}`);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.nativeEvent.isComposing) return;
    if (suggestions.length > 0) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        return setAt((at + step + suggestions.length) % suggestions.length);
      }
      const suggestion = suggestions[at];
      const isWhole = completing?.typed === suggestion?.name;
      if (suggestion && (event.key === "Tab" || (event.key === "Enter" && !isWhole))) {
        event.preventDefault();
        return choose(suggestion.name);
      }
      if (event.key === "Escape") {
        event.stopPropagation();
        return setCompleting(undefined);
      }
    }
    if (event.key === "Enter" && !event.shiftKey && (!isTouch || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return send();
    }
    if (event.key === "Escape" && isRunning) {
      event.preventDefault();
      return interrupt();
    }
    const step = { ArrowUp: 1 as const, ArrowDown: -1 as const }[event.key];
    const { current } = field;
    if (step === undefined || !current) return;
    const isAtEdge = step === 1 ? current.selectionStart === 0 : current.selectionEnd === text.length;
    if (!isAtEdge || (recalled.steps === 0 && text !== "" && step === 1 && current.selectionStart > 0))
      return;
    const found = recall(saidIn(view), recalled, { step, text });
    if (!found) return;
    event.preventDefault();
    setRecalled(found.recall);
    write(found.text, step === 1 ? 0 : found.text.length);
  };

  return (
    <form
      className="composer"
      aria-label={words.composer.label}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event: DragEvent) => event.preventDefault()}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        void take(filesIn(event.dataTransfer));
      }}
    >
      <Unsent session={session} onEdit={write} />
      {suggestions.length > 0 && (
        <CompletionList id={listId} suggestions={suggestions} at={at} onPick={({ name }) => choose(name)} />
      )}
      {pictures.length > 0 && (
        <div className="attached">
          <Attachments parts={pictures} />
          <Button look="plain" icon="trash" onClick={() => setPictures([])}>
            {words.composer.removePictures}
          </Button>
        </div>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder={
          isRunning ? (when === "now" ? words.composer.steer : words.composer.queue) : words.composer.say
        }
        aria-label={isRunning ? words.composer.steerLabel : words.composer.sayLabel}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={suggestions.length > 0 ? listId : undefined}
        aria-activedescendant={suggestions.length > 0 ? `${listId}-${at}` : undefined}
        onChange={({ target }) => {
          setText(target.value);
          setRecalled(noRecall);
          look();
        }}
        onSelect={look}
        onBlur={() => setCompleting(undefined)}
        onKeyDown={onKeyDown}
        onPaste={(event: ClipboardEvent) => {
          const files = filesIn(event.clipboardData);
          if (files.length === 0) return;
          event.preventDefault();
          void take(files);
        }}
      />
      {problem !== "" && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="controls">
        <div className="chosen">
          <SessionControls session={session} view={view} />
        </div>
        <div className="doing">
          <PictureButton onFiles={(files) => void take(files)} />
          {isRunning && (
            <>
              <fieldset className="when">
                <legend className="unseen">{words.composer.when}</legend>
                {(["now", "after"] as const).map((one) => (
                  <label key={one} title={words.composer.whenHint[one]}>
                    <input
                      type="radio"
                      name={`${listId}-when`}
                      checked={when === one}
                      onChange={() => setWhen(one)}
                    />
                    <span>{words.composer.whenName[one]}</span>
                  </label>
                ))}
              </fieldset>
              <Button icon="stop" hint="Esc" onClick={interrupt}>
                <span className="when-wide">{words.composer.interrupt}</span>
              </Button>
            </>
          )}
          <button
            type="submit"
            className="button main send"
            disabled={isEmpty}
            aria-label={words.composer.send}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
});

function PictureButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="image" label={words.composer.addPicture} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = "";
        }}
      />
    </>
  );
}

/** What people said in this session, the newest last. */
const saidIn = ({ transcript }: SessionView): readonly string[] =>
  transcript.own.rows.toArray().flatMap((row) => {
    if (row.kind !== "user" || row.from.kind !== "person") return [];
    const text = row.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    return text === "" ? [] : [text];
  });
