/** One group: what was said, where it stands, and a place to write where its people write here. */
import type { AnswerTo } from "keel/protocol";
import { visible } from "keel/view";
import { type FormEvent, type ReactElement, useCallback, useEffect, useRef, useState } from "react";
import { Link } from "../kit/link.tsx";
import { Ago } from "../kit/time.tsx";
import { useLooked } from "../live/use-looked.ts";
import { faultOf, useAccess, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { type GroupEntry, GroupSign } from "./group-look.tsx";

const shown = 200;
/** So near to the end somebody reads what is new. */
const nearEnd = 80;

export function GroupChat({ group }: { readonly group: GroupEntry }): ReactElement {
  const { client } = useWorld();
  const { id } = group;
  const { answer, problem, look } = useLooked(
    useCallback(() => client.groups.log({ group: id, last: shown }), [client, id]),
  );
  const lines = answer?.lines ?? [];
  const place = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new is shown to whoever reads the end
  useEffect(() => {
    if (isAtEnd.current && place.current) place.current.scrollTop = place.current.scrollHeight;
  }, [lines.length]);
  return (
    <>
      <GroupFacts group={group} />
      {problem !== "" && <p role="status">{problem}</p>}
      <div
        className="group-log"
        ref={place}
        role="log"
        aria-label={words.groups.said}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
        }}
      >
        <ol>
          {lines.map((line, at) => (
            <GroupLine
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and none moves
              key={at}
              line={line}
            />
          ))}
          {answer && lines.length === 0 && <li className="quiet">{words.groups.nothing}</li>}
        </ol>
      </div>
      <GroupWriter group={group} onSaid={() => void look()} />
    </>
  );
}

function GroupLine({ line }: { readonly line: AnswerTo<"groupLog">["lines"][number] }): ReactElement {
  const { from, text, at, isSent } = line;
  return (
    <li className={from === undefined ? "is-agent" : ""}>
      <span className="who">
        <b>{from === undefined ? words.groups.agent : visible(from)}</b>{" "}
        <span className="quiet">
          <Ago at={at} />
          {!isSent && ` · ${words.groups.unsent}`}
        </span>
      </span>
      <span className="line">{visible(text)}</span>
    </li>
  );
}

function GroupFacts({ group }: { readonly group: GroupEntry }): ReactElement {
  return (
    <div className="group-facts">
      <span>
        <GroupSign state={group.state} /> {words.groups.states[group.state]}
      </span>
      <span className="quiet">{words.groups.queue(group)}</span>
      <span className="quiet">{words.groups.meant(group)}</span>
      <span className="quiet">{words.groups.boxes[group.box]}</span>
      <span className="quiet one-line" title={visible(group.folder)}>
        {visible(group.folder)}
      </span>
      {group.box !== "container" && group.lastAt !== undefined && (
        <Link to={{ page: "session", session: group.session }}>{words.groups.session}</Link>
      )}
      {group.refusedMounts.map((why) => (
        <span key={why} className="quiet">
          {words.groups.refused(visible(why))}
        </span>
      ))}
    </div>
  );
}

function GroupWriter({
  group,
  onSaid,
}: {
  readonly group: GroupEntry;
  readonly onSaid: () => void;
}): ReactElement {
  const { client } = useWorld();
  const mayWrite = useAccess() === "work";
  const [text, setText] = useState("");
  const [from, setFrom] = useState("");
  const [problem, setProblem] = useState("");
  /** Sent again after a failure it is the same message. */
  const message = useRef(crypto.randomUUID());
  if (group.channel !== "local") return <p className="quiet">{words.groups.elsewhere(group.channel)}</p>;
  if (!mayWrite) return <p className="quiet">{words.groups.readOnly}</p>;
  const say = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (text.trim() === "") return;
    try {
      const who = from.trim();
      await client.groups.say({
        group: group.id,
        text,
        id: message.current,
        ...(who === "" ? {} : { from: who }),
      });
      message.current = crypto.randomUUID();
      setText("");
      setProblem("");
      onSaid();
    } catch (thrown) {
      setProblem(faultOf(thrown).message);
    }
  };
  return (
    <form className="group-writer" onSubmit={(event) => void say(event)}>
      {problem !== "" && <p role="status">{problem}</p>}
      <label className="field who">
        <span className="label">{words.groups.from}</span>
        <input
          className="input"
          value={from}
          maxLength={100}
          placeholder={words.groups.you}
          onChange={({ target }) => setFrom(target.value)}
        />
      </label>
      <label className="field words">
        <span className="label">{words.groups.say(group)}</span>
        <input className="input" value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <button type="submit" className="button main">
        {words.groups.send}
      </button>
    </form>
  );
}
