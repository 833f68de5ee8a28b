/** One line to be filled in, with its label above it. */
import type { ReactElement } from "react";

type TextFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  readonly list?: string | undefined;
  readonly isNeeded?: boolean | undefined;
  readonly onChange: (text: string) => void;
};

export const TextField = ({
  label,
  value,
  hint,
  list,
  isNeeded = false,
  onChange,
}: TextFieldProps): ReactElement => (
  <label className="field">
    <span className="label">{label}</span>
    <input
      className="input"
      required={isNeeded}
      placeholder={hint}
      list={list}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);
