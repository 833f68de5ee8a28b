/**
 * Whether a question to the file system may have to wait for another machine or another program. Where it may not, it is
 * asked at once: to wake a thread for it costs more than the answer.
 */
import { readFileSync } from "node:fs";

/** Kinds that the kernel answers for alone. Whatever is not among them may make somebody wait. */
const answeredHere = new Set(
  (
    "ext2 ext3 ext4 xfs btrfs zfs bcachefs f2fs jfs nilfs2 vfat exfat ntfs3 iso9660 udf squashfs erofs overlay tmpfs ramfs " +
    "proc sysfs cgroup cgroup2 devpts devtmpfs mqueue hugetlbfs securityfs selinuxfs smackfs apparmorfs debugfs tracefs " +
    "configfs pstore bpf efivarfs binfmt_misc fusectl nsfs rpc_pipefs resctrl"
  ).split(" "),
);

/** Where systemd mounts it when somebody looks: it is the kernel's own. */
const kernelsOwn = "/proc/sys/fs/binfmt_misc";

/** What is mounted meanwhile is seen after so long. */
const knownForMs = 60_000;

export function allDisksHere(
  readMounts: () => string = () => readFileSync("/proc/self/mountinfo", "utf8"),
  monotonicMs: () => number = () => process.uptime() * 1000,
): () => boolean {
  let here = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = monotonicMs();
    if (now - lookedAt < knownForMs) return here;
    lookedAt = now;
    here = isAllHere(readMounts);
    return here;
  };
}

/** A system without such a table is asked as if anything could be mounted. */
function isAllHere(readMounts: () => string): boolean {
  try {
    const lines = readMounts().split("\n").filter(Boolean);
    return lines.length > 0 && lines.every(isHere);
  } catch {
    return false;
  }
}

/** `36 35 98:0 /root /where options [optional fields] - kind source options`. */
function isHere(line: string): boolean {
  const [before = "", after = ""] = line.split(" - ");
  return answeredHere.has(after.split(" ")[0] ?? "") || before.split(" ")[4] === kernelsOwn;
}
