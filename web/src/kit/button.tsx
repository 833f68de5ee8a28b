/** Buttons: a verb, perhaps with the key that does the same. */
import type { ButtonHTMLAttributes, ReactElement, ReactNode, Ref } from "react";
import { Icon, type IconName } from "./icon.tsx";

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className" | "type"> & {
  readonly look?: "main" | "plain" | "danger" | undefined;
  readonly icon?: IconName | undefined;
  /** The key that does the same, as it is written on keyboards. */
  readonly hint?: string | undefined;
  readonly children: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
};

export const Button = ({ look, icon, hint, children, ...rest }: ButtonProps): ReactElement => (
  <button type="button" className={`button${look ? ` ${look}` : ""}`} {...rest}>
    {icon && <Icon name={icon} />}
    {children}
    {hint !== undefined && (
      <span className="key" aria-hidden="true">
        {hint}
      </span>
    )}
  </button>
);

type IconButtonProps = Omit<ButtonProps, "children" | "hint" | "look" | "icon"> & {
  readonly icon: IconName;
  readonly label: string;
};

export const IconButton = ({ icon, label, ...rest }: IconButtonProps): ReactElement => (
  <button type="button" className="button plain icon-only" aria-label={label} title={label} {...rest}>
    <Icon name={icon} />
  </button>
);
