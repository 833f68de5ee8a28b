// A file layer that notes every call and fails those that a test names: the Nth, or all from the Nth on.
import type { FileLayer, OpenFile } from "../../keel/src/store/jsonl/files.ts";

export type Call = { readonly operation: string; readonly path: string };

export type FailingFiles = FileLayer & {
  /** Every call so far, in order. */
  readonly calls: Call[];
  /** Decides about each call before it is made: an error code fails it, "short" writes one byte less than given. */
  plan: (call: Call, index: number) => string | undefined;
};

/** Operations that change nothing are not failed by `failNth`: reading is tested apart. */
const changing = [
  "open create",
  "open write",
  "write",
  "truncate",
  "datasync",
  "makeDirectory",
  "syncDirectory",
  "rename",
  "makePrivate",
  "remove",
  "removeTree",
];

export function failingFiles(real: FileLayer): FailingFiles {
  const files: FailingFiles = {
    calls: [],
    plan: () => undefined,
    open: async (path, how) => {
      await decide(`open ${how}`, path);
      return watched(await real.open(path, how), path);
    },
    makeDirectory: (path) => decided("makeDirectory", path, () => real.makeDirectory(path)),
    syncDirectory: (path) => decided("syncDirectory", path, () => real.syncDirectory(path)),
    facts: (path) => decided("facts", path, () => real.facts(path)),
    factsNow: (path) => {
      decide("facts", path);
      return real.factsNow(path);
    },
    openNow: (path) => {
      decide("open read", path);
      const file = real.openNow(path);
      return {
        read: (buffer, position) => decided("read", path, () => file.read(buffer, position)),
        [Symbol.dispose]: () => file[Symbol.dispose](),
      };
    },
    names: (path) => decided("names", path, () => real.names(path)),
    rename: (from, to) => decided("rename", from, () => real.rename(from, to)),
    makePrivate: (path) => decided("makePrivate", path, () => real.makePrivate(path)),
    remove: (path) => decided("remove", path, () => real.remove(path)),
    removeTree: (path) => decided("removeTree", path, () => real.removeTree(path)),
    realPath: (path) => real.realPath(path),
    namesNow: (path) => real.namesNow(path),
    existsNow: (path) => real.existsNow(path),
  };

  function decide(operation: string, path: string): string | undefined {
    const call = { operation, path };
    files.calls.push(call);
    const verdict = files.plan(call, files.calls.length - 1);
    if (verdict !== undefined && verdict !== "short") throw failure(verdict, call);
    return verdict;
  }

  async function decided<T>(operation: string, path: string, work: () => Promise<T>): Promise<T> {
    decide(operation, path);
    return work();
  }

  function watched(file: OpenFile, path: string): OpenFile {
    return {
      read: (buffer, position) => decided("read", path, () => file.read(buffer, position)),
      write: async (bytes, position) => {
        const verdict = decide("write", path);
        return file.write(verdict === "short" ? bytes.subarray(0, bytes.length - 1) : bytes, position);
      },
      truncate: (length) => decided("truncate", path, () => file.truncate(length)),
      datasync: () => decided("datasync", path, () => file.datasync()),
      facts: () => file.facts(),
      close: () => file.close(),
      [Symbol.asyncDispose]: () => file.close(),
    };
  }
  return files;
}

/** Fails the Nth changing call, counted from now. `reached` says whether there was one. */
export function failNth(files: FailingFiles, nth: number, code: string): { readonly reached: boolean } {
  const outcome = { reached: false };
  let count = 0;
  files.plan = ({ operation }) => {
    if (!changing.includes(operation)) return undefined;
    count += 1;
    if (count !== nth) return undefined;
    outcome.reached = true;
    return code;
  };
  return outcome;
}

/** Fails every call that needs room or a writable disk, as a full or read-only one does. */
export function failAll(files: FailingFiles, code: string): void {
  files.plan = ({ operation }) =>
    changing.includes(operation) && !operation.startsWith("remove") ? code : undefined;
}

function failure(code: string, { operation, path }: Call): Error {
  return Object.assign(new Error(`${code}: injected, ${operation} '${path}'`), { code });
}
