import { expect, test } from "vitest";
import { allDisksHere } from "./disks.ts";

const line = (place: string, kind: string) =>
  `36 35 98:0 / ${place} rw,noatime master:1 - ${kind} /dev/x rw\n`;
const own = line("/", "ext4") + line("/proc", "proc") + line("/tmp", "tmpfs");

test("disks of this machine answer at once", () => {
  expect(allDisksHere(() => own)()).toBe(true);
  expect(allDisksHere(() => own + line("/proc/sys/fs/binfmt_misc", "autofs"))()).toBe(true);
});

test.each(["nfs4", "cifs", "fuse.sshfs", "9p", "virtiofs", "autofs", "what-comes-next"])(
  "one of kind %s among them makes everything careful",
  (kind) => {
    expect(allDisksHere(() => own + line("/home/far", kind))()).toBe(false);
  },
);

test("a table that is not there, is empty, or makes no sense proves nothing", () => {
  const missing = () => {
    throw new Error("ENOENT");
  };
  for (const read of [missing, () => "", () => "\n", () => "no table at all\n"])
    expect(allDisksHere(read)()).toBe(false);
});

test("what is mounted later is seen within a minute, and the table is not read at every question", () => {
  let now = 0;
  let reads = 0;
  let mounts = own;
  const here = allDisksHere(
    () => {
      reads += 1;
      return mounts;
    },
    () => now,
  );
  for (let asked = 0; asked < 100; asked++) expect(here()).toBe(true);
  expect(reads).toBe(1);
  mounts += line("/home/far", "nfs");
  now = 60_001;
  expect(here()).toBe(false);
  expect(reads).toBe(2);
});
