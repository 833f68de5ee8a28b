/** Programs and words that remove or empty data, drop history, end processes, or change rights of whole trees. */
import { own } from "../../kernel/json.ts";

const always = new Set(
  "rm rmdir unlink shred truncate kill pkill killall killall5 skill xkill wipefs mkfs fdformat shutdown reboot halt poweroff userdel groupdel deluser delgroup dropdb srm wipe blkdiscard".split(
    " ",
  ),
);

type DestroyTest = (words: readonly string[]) => boolean;

const any =
  (pattern: RegExp): DestroyTest =>
  (words) =>
    words.some((word) => pattern.test(word));

const recursive = any(/^(?:-[a-zA-Z]*R[a-zA-Z]*|--recursive)$/);
const verb =
  (pattern: RegExp): DestroyTest =>
  (words) =>
    pattern.test(words.filter((word) => !word.startsWith("-")).join(" "));

const programs: Readonly<Record<string, DestroyTest>> = {
  chmod: recursive,
  chown: recursive,
  chgrp: recursive,
  setfacl: recursive,
  dd: any(/^of=/),
  find: any(/^-delete$/),
  rsync: any(/^--(?:delete|remove-source-files)/),
  tar: any(/^--remove-files$/),
  crontab: any(/^-r$/),
  history: any(/^-c$/),
  cp: (words) => words.includes("/dev/null"),
  docker: verb(
    /^(?:rm|rmi|kill|stop|system prune|image (?:rm|prune)|container (?:rm|prune|kill|stop)|volume (?:rm|prune)|network (?:rm|prune)|builder prune|compose (?:down|rm|kill|stop))\b/,
  ),
  podman: verb(/^(?:rm|rmi|kill|stop|system (?:prune|reset)|volume (?:rm|prune))\b/),
  kubectl: verb(/^(?:delete|drain|replace)\b/),
  helm: verb(/^(?:uninstall|delete)\b/),
  terraform: verb(/^destroy\b/),
  systemctl: verb(/^(?:stop|kill|disable|mask|poweroff|reboot|halt)\b/),
  service: verb(/ stop$/),
  tmux: verb(/^kill-/),
  screen: any(/^quit$/),
  apt: verb(/^(?:remove|purge|autoremove)\b/),
  "apt-get": verb(/^(?:remove|purge|autoremove)\b/),
  git: isGitLoss,
};

/** `shows` are the words of a command without its program. */
export function destroys(program: string, words: readonly string[]): boolean {
  if (always.has(program) || program.startsWith("mkfs.")) return true;
  return own(programs, program)?.(words) ?? false;
}

function isGitLoss(all: readonly string[]): boolean {
  const at = all.findIndex(
    (word, index) => !word.startsWith("-") && !/^(?:-C|-c|--git-dir|--work-tree)$/.test(all[index - 1] ?? ""),
  );
  const [subcommand = "", ...words] = all.slice(Math.max(0, at));
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  const [first = ""] = words.filter((word) => !word.startsWith("-"));
  switch (subcommand) {
    case "reset":
      return has(/^--(?:hard|merge|keep)$/);
    case "clean":
      return !has(/^(?:-[a-z]*n[a-z]*|--dry-run)$/);
    case "checkout":
      return has(/^(?:--|\.|-f|--force|--ours|--theirs|-B)$/);
    case "switch":
      return has(/^(?:-f|--force|--discard-changes|-C)$/);
    case "restore":
      return !has(/^(?:--staged|-S)$/) || has(/^(?:--worktree|-W)$/);
    case "branch":
      return has(/^(?:-[a-zA-Z]*[dD][a-zA-Z]*|--delete|-M|-f|--force)$/);
    case "tag":
      return has(/^(?:-d|--delete|-f|--force)$/);
    case "push":
      return has(/^(?:-f|-[a-z]*f[a-z]*|--force.*|--delete|-d|--mirror|--prune|\+.*|:.+)$/);
    case "stash":
      return /^(?:drop|clear)$/.test(first);
    case "update-ref":
      return has(/^(?:-d|--stdin)$/);
    case "reflog":
      return /^(?:expire|delete|drop)$/.test(first);
    case "worktree":
      return /^(?:remove|prune)$/.test(first);
    case "remote":
      return /^(?:rm|remove|prune)$/.test(first);
    case "gc":
    case "prune":
    case "rm":
    case "filter-branch":
    case "filter-repo":
      return true;
    default:
      return false;
  }
}

/** Code of other languages that is known to remove something. */
export const isDestructiveCode = (code: string): boolean =>
  /\b(?:os\.(?:remove|unlink|rmdir|removedirs|kill|truncate)|shutil\.(?:rmtree|move)|rmSync|rmdirSync|unlinkSync|truncateSync|fs\.(?:rm|rmdir|unlink|truncate)|unlink|rmtree|remove_tree|FileUtils\.(?:rm|remove)|File\.delete|Dir\.(?:rmdir|delete)|process\.kill|DROP\s+(?:TABLE|DATABASE|SCHEMA)|TRUNCATE\s|DELETE\s+FROM|rm\s+-)/i.test(
    code,
  );
