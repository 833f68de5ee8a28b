/**
 * Panels that plugins bring. What they show is data, drawn by the displays of this page; a form calls a command of the
 * same plugin, as if it had been typed. No code of a plugin is here.
 */
import type { PanelForm, ShownPanel } from "keel/protocol";
import { readable } from "keel/view";
import { type FormEvent, type ReactElement, useEffect, useState } from "react";
import { DisplayView } from "../displays/display-view.tsx";
import { Button } from "../kit/button.tsx";
import type { SessionView } from "../live/session-view.ts";
import { useInquiry } from "../live/use-inquiry.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

type PanelsPartProps = {
  readonly session: string;
  readonly view: SessionView;
  readonly isReadOnly: boolean;
};

export function PanelsPart({ session, view, isReadOnly }: PanelsPartProps): ReactElement {
  // Where no plugin brings a panel nobody asks for one.
  const panels = useInquiry(session, "panels", view.told > 0 ? 0 : undefined) ?? [];
  return (
    <>
      {panels.map(({ id, title }) => (
        <Panel
          key={id}
          id={id}
          title={readable(title)}
          session={session}
          stamp={view.totals.turns}
          isReadOnly={isReadOnly}
        />
      ))}
    </>
  );
}

type PanelProps = {
  readonly id: string;
  readonly title: string;
  readonly session: string;
  /** Asked again when it is another one. */
  readonly stamp: number;
  readonly isReadOnly: boolean;
};

function Panel({ id, title, session, stamp, isReadOnly }: PanelProps): ReactElement {
  const { client } = useWorld();
  const [shown, setShown] = useState<ShownPanel>();
  const [looks, setLooks] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each turn, and after each form
  useEffect(() => {
    let isWanted = true;
    const tell = (panel: ShownPanel): void => {
      if (isWanted) setShown(panel);
    };
    client
      .attach(session)
      .inquire("panel", { id })
      .then(tell, (thrown: unknown) => tell({ displays: [], problem: faultOf(thrown).message }));
    return () => {
      isWanted = false;
    };
  }, [client, session, id, stamp, looks]);
  const again = (): void => setLooks((before) => before + 1);
  return (
    <SideSection name={`panel-${id}`} title={title}>
      {shown?.problem !== undefined && <p className="hint">{words.panels.failed(readable(shown.problem))}</p>}
      {shown?.displays.map((display, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a panel is shown anew as a whole
        <DisplayView key={index} display={display} />
      ))}
      {!isReadOnly &&
        shown?.forms?.map((form) => (
          <PanelFields key={form.command} panel={id} form={form} session={session} onDone={again} />
        ))}
      <Button look="plain" onClick={again}>
        {words.panels.again}
      </Button>
    </SideSection>
  );
}

type PanelFieldsProps = {
  /** The panel, which begins with the name of its plugin. */
  readonly panel: string;
  readonly form: PanelForm;
  readonly session: string;
  readonly onDone: () => void;
};

function PanelFields({ panel, form, session, onDone }: PanelFieldsProps): ReactElement {
  const world = useWorld();
  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const target = event.currentTarget;
    const data = new FormData(target);
    const values = Object.fromEntries(
      form.fields.map(({ name, kind }) => [
        name,
        kind === "switch" ? data.has(name) : (data.get(name) ?? ""),
      ]),
    );
    const text = `/${panel.slice(0, panel.lastIndexOf(":"))}:${form.command} ${JSON.stringify(values)}`;
    await world.attempt(world.submit(session, { type: "input", content: [{ type: "text", text }] }));
    target.reset();
    onDone();
  };
  return (
    <form className="panel-form" onSubmit={(event) => void send(event)}>
      {form.fields.map((field) => (
        <div key={field.name} className="field">
          <label htmlFor={`${form.command}-${field.name}`}>{readable(field.label)}</label>
          <Field id={`${form.command}-${field.name}`} field={field} />
        </div>
      ))}
      <button type="submit" className="button">
        {readable(form.submit)}
      </button>
    </form>
  );
}

type FieldProps = { readonly id: string; readonly field: PanelForm["fields"][number] };

function Field({ id, field }: FieldProps): ReactElement {
  const { name, kind, options = [], value } = field;
  if (kind === "switch") return <input id={id} type="checkbox" name={name} defaultChecked={value === true} />;
  const given = typeof value === "string" ? value : "";
  if (kind === "text") return <input id={id} type="text" name={name} defaultValue={given} maxLength={2000} />;
  return (
    <select id={id} name={name} defaultValue={given}>
      {options.map((option) => (
        <option key={option} value={option}>
          {readable(option)}
        </option>
      ))}
    </select>
  );
}
