/** A form that a server wants filled in. Nothing is sent before somebody agrees. */
import type { Ask } from "keel/protocol";
import { type AskForm, type Field, type FieldValue, fillFields, formAnswer, readable } from "keel/view";
import { type ReactElement, useId, useState } from "react";
import { words } from "../words.ts";
import type { AnswerAsk } from "./answer-ask.ts";
import { Choices } from "./choices.tsx";

type FieldsFormProps = {
  readonly ask: Ask;
  readonly form: Extract<AskForm, { kind: "fields" }>;
  readonly onAnswer: AnswerAsk;
};

export function FieldsForm({ ask, form, onAnswer }: FieldsFormProps): ReactElement {
  const [values, setValues] = useState<Readonly<Record<string, FieldValue | undefined>>>({});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const { fields } = form;
  if (!fields.ok)
    return (
      <>
        <p className="quiet">{words.formImpossible(fields.error)}</p>
        <Choices
          ask={{ ...ask, options: ask.options.filter(({ verdict }) => verdict === "deny") }}
          onAnswer={onAnswer}
        />
      </>
    );
  return (
    <div className="fields">
      {fields.value.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={Object.hasOwn(values, field.name) ? values[field.name] : field.preset}
          problem={problems[field.name]}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      <Choices
        ask={ask}
        onAnswer={onAnswer}
        onAllow={(option) => {
          const filled = fillFields(fields.value, values);
          if (!filled.ok) return setProblems(filled.error);
          const answer = formAnswer({ kind: "filled", values: filled.value });
          void onAnswer({ ...answer, option: option.id });
        }}
      />
    </div>
  );
}

type OneFieldProps = {
  readonly field: Field;
  readonly value: FieldValue | undefined;
  readonly problem: string | undefined;
  readonly onChange: (value: FieldValue | undefined) => void;
};

function OneField(props: OneFieldProps): ReactElement {
  const { field, value, problem, onChange } = props;
  const id = useId();
  const { kind, title, description, isNeeded } = field;
  const label = `${readable(title)}${isNeeded ? "" : words.optional}`;
  const about = { id, "aria-describedby": `${id}-about`, "aria-invalid": problem !== undefined };
  if (kind.type === "yes-no")
    return (
      <div className="field">
        <label className="check">
          <input
            type="checkbox"
            checked={value === true}
            onChange={({ target }) => onChange(target.checked)}
            {...about}
          />
          <span>{label}</span>
        </label>
        <About id={id} description={description} problem={problem} />
      </div>
    );
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {kind.type === "choice" ? (
        <select
          className="input"
          value={typeof value === "string" ? value : ""}
          onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
          {...about}
        >
          <option value="">{words.pickOne}</option>
          {kind.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {readable(choice.label)}
            </option>
          ))}
        </select>
      ) : kind.type === "choices" ? (
        <div className="boxes" {...about}>
          {kind.choices.map((choice) => {
            const picked = Array.isArray(value) ? value : [];
            return (
              <label key={choice.value} className="check">
                <input
                  type="checkbox"
                  checked={picked.includes(choice.value)}
                  onChange={({ target }) =>
                    onChange(
                      target.checked
                        ? [...picked, choice.value]
                        : picked.filter((one) => one !== choice.value),
                    )
                  }
                />
                <span>{readable(choice.label)}</span>
              </label>
            );
          })}
        </div>
      ) : (
        <input
          className="input"
          type={kind.type === "number" ? "number" : (inputTypes[kind.format] ?? "text")}
          step={kind.type === "number" && !kind.whole ? "any" : undefined}
          value={value === undefined ? "" : String(value)}
          onChange={({ target }) => onChange(typed(target.value, kind.type))}
          {...about}
        />
      )}
      <About id={id} description={description} problem={problem} />
    </div>
  );
}

const inputTypes: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date" };

/** Nothing written is nothing said. */
function typed(text: string, kind: "text" | "number"): FieldValue | undefined {
  if (text === "") return undefined;
  return kind === "number" ? Number(text) : text;
}

const About = ({
  id,
  description,
  problem,
}: {
  id: string;
  description: string;
  problem: string | undefined;
}): ReactElement => (
  <span id={`${id}-about`} className={problem === undefined ? "hint" : "problem"}>
    {problem ?? readable(description)}
  </span>
);
