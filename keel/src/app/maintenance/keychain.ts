/**
 * The system's keychain, where the optional package for it is installed beside Keel. It is no dependency: it brings a
 * binary for each system, and a private file does without.
 */
import { createRequire } from "node:module";

export type Keychain = {
  get(account: string): string | undefined;
  set(account: string, secret: string): void;
  remove(account: string): void;
};

const packageName = "@napi-rs/keyring";
const service = "keel";

type KeyringEntry = {
  getPassword(): string | null;
  setPassword(secret: string): void;
  deletePassword(): boolean;
};
type KeyringModule = { readonly Entry: new (service: string, account: string) => KeyringEntry };

/** Undefined where it is not installed or cannot be used here. */
export async function openKeychain(): Promise<Keychain | undefined> {
  try {
    const { Entry }: KeyringModule = createRequire(import.meta.url)(packageName);
    const entry = (account: string): KeyringEntry => new Entry(service, account);
    // On a machine without one the first question already fails.
    entry("probe").getPassword();
    return {
      get: (account) => entry(account).getPassword() ?? undefined,
      set: (account, secret) => entry(account).setPassword(secret),
      remove: (account) => void entry(account).deletePassword(),
    };
  } catch {
    return undefined;
  }
}
