/** Every word of the page, in one place, so that it can be translated. What a session says of itself is in `keel/view`. */
import type { AnsweredBy, ContextKind, Input, PermissionMode, TaskStatus } from "keel/protocol";
import type { BreakCause, ToolStatus } from "keel/view";

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;

const modes: Readonly<Record<PermissionMode, string>> = {
  default: "Ask",
  acceptEdits: "Edit freely",
  plan: "Plan",
  dontAsk: "Never ask",
  bypassPermissions: "Allow everything",
  auto: "Auto",
};

const modeHints: Readonly<Record<PermissionMode, string>> = {
  default: "asks before it changes anything",
  acceptEdits: "edits files here without asking",
  plan: "reads and plans, changes nothing",
  dontAsk: "refuses what it would ask for",
  bypassPermissions: "runs everything unasked; only in a place that may break",
  auto: "a model decides what it would ask for",
};

export const words = {
  product: "Keel",
  close: "Close",
  cancel: "Cancel",
  back: "Back",
  more: "More",
  copy: "Copy",
  copied: "Copied.",
  copyCode: "Copy the code",
  copyMarkdown: "Copy as Markdown",
  copyLink: "Copy a link to this",
  rewindHere: "Put files back as before this …",
  forkHere: "Fork the session before this",
  next: "Next",
  previous: "Previous",
  edit: "Edit",
  drop: "Drop",
  yes: "Yes",
  no: "No",
  text: "text",
  table: "Table",
  diff: "Changes",
  image: "image",
  done: "done",
  notDone: "not done",
  reading: "Reading …",
  broken: {
    says: "This part of the page could not be shown. What you typed is kept.",
    reload: "Load the page anew",
  },
  untitled: "Untitled",
  conversation: "Conversation",
  noMessages: "Nothing was said yet. What you type below begins the work.",
  noSuchPage: "There is no such page.",
  noWorkspace: "This workspace is gone. Its sessions are kept.",
  sessionFailed: (why: string) => `This session cannot be shown. ${why}`,
  readingOld: "You are reading an old session. Nothing runs.",
  readingOwned: "You are reading this session by itself.",
  takeUp: "Take up",
  goThere: "Go to its workspace",
  searchHere: "Search in this conversation",
  found: (at: number, all: number) => (all === 0 ? "no results" : `${at} of ${all}`),
  toEnd: "To the end",
  readingEarlier: "Reading what came before …",
  worktree: (branch: string) => `worktree ${branch}`,
  queued: "Waits for the turn to end",
  dropped: (why: string | undefined) => (why === undefined ? "Not sent" : `Not sent: ${why}`),
  unsent: {
    label: "Not sent yet",
    waits: "Not sent yet. It is kept, and goes as soon as the server answers.",
    pictures: "(images)",
  },
  thinking: "Thinking",
  thought: "Thought",
  thoughtHidden: "Thought, not shown by the provider",
  showAll: (lines: number) => `Show all ${lines.toLocaleString("en-US")} lines`,
  showLess: "Show less",
  showRaw: "Show input and result",
  hideRaw: "Hide input and result",
  input: "Input",
  seenByModel: "What the model saw",
  spilled: (path: string) => `The whole output is in ${path}`,
  noOutput: "No output",
  noFiles: "No files",
  noChanges: "No changes",
  sideBySide: "Show side by side",
  inOneColumn: "Show in one column",
  moreFiles: "and more",
  moreRows: (count: number): string => `and ${count} more`,
  exitCode: (code: number) => `Exit code ${code}`,
  background: "Background",
  openAgent: "Open its conversation",
  stopTask: "Stop it",
  earlierRows: (rows: number) => `${count(rows, "row", "rows")} before`,
  compacted: (before: string, after: string) =>
    `The conversation was shortened here, from about ${before} to ${after} tokens`,
  afterFailure: "What was done before is kept. Say what to do next, or send the last message again.",
  lineKinds: { added: "added", removed: "removed", same: "unchanged" },
  todo: { pending: "to do", in_progress: "in progress", completed: "done" },
  modes,
  modeHints,

  sender(from: Input["from"]): string {
    switch (from.kind) {
      case "person":
        return "You";
      case "hook":
        return `Hook ${from.name}`;
      case "task":
        return `Task ${from.taskId}`;
      case "agent":
        return `Agent ${from.name}`;
      case "channel":
        return `Channel ${from.name}`;
    }
  },

  call: {
    writing: "being written",
    requested: "requested",
    asking: "asks",
    running: "running",
    done: "done",
    failed: "failed",
    denied: "denied",
    interrupted: "interrupted",
    "not-run": "not run",
  } satisfies Record<ToolStatus, string>,
  task: {
    running: "running",
    completed: "done",
    failed: "failed",
    stopped: "stopped",
  } satisfies Record<TaskStatus, string>,

  readOnlyAsk: "It waits for somebody who may answer.",
  answer: "Answer",
  dontAnswer: "Don’t answer",
  optional: " (optional)",
  pickOne: "Pick one …",
  formImpossible: (why: string) => `This form cannot be shown: ${why}.`,
  answeredBy: {
    host: "by a person",
    rule: "by a rule",
    timeout: "nobody answered in time",
    interrupt: "interrupted",
    shutdown: "the server ended",
    "no-host": "nobody was there",
    hook: "by a hook",
  } satisfies Record<AnsweredBy, string>,
  answeredAt: (who: string) => `at ${who}`,
  plan: {
    read: "Read it again",
    comment: "Comment on lines",
    commentOn: (line: number) => `Comment on line ${line}`,
    sendBack: (comments: number) => `Send back with ${count(comments, "comment", "comments")}`,
  },
  why: {
    show: "Why it asks",
    wordByWord: "Word by word, and why it asks",
    hide: "Hide why",
    mode: (mode: PermissionMode) => `The mode is “${modes[mode]}”: it ${modeHints[mode]}.`,
    rule: (rule: string, list: string, source: string) => `The rule ${rule} (${list}, ${source}) matches.`,
    hook: (verdict: string, reason: string) => `A hook said ${verdict}: ${reason}`,
    untrusted: "The settings of this project do not count, because it is not trusted.",
    expanded: (names: string) => `Its patterns stand for ${names}.`,
    claim(action: string, target: string, found: FoundPath): string {
      return `It would ${verbs[action] ?? action} ${target}${foundNote(found)}.`;
    },
    path: (path: string, found: FoundPath) => `It names ${path}${foundNote(found)}.`,
  },

  title: (asks: number, about: string) =>
    `${asks > 0 ? `(${asks}) ` : ""}${about === "" ? "" : `${about} · `}Keel`,

  ago(ms: number): string {
    const minutes = Math.floor(ms / 60_000);
    if (minutes < 1) return "just now";
    if (minutes < 60) return `${minutes} min ago`;
    const hours = Math.floor(minutes / 60);
    if (hours < 24) return `${hours} h ago`;
    const days = Math.floor(hours / 24);
    return days === 1 ? "yesterday" : `${days} days ago`;
  },
  elapsed(ms: number): string {
    const seconds = Math.floor(ms / 1_000);
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    return minutes < 60
      ? `${minutes} min ${seconds % 60} s`
      : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  },

  link: {
    label: "Connection",
    connecting: "Connecting …",
    lost: "The connection is lost. You see the last state; what you type is kept. Trying again.",
    back: "Connected again.",
  },

  rail: {
    label: "Workspaces",
    skip: "Skip to what is open",
    find: "Find or do anything",
    create: "New workspace",
    none: "No workspace yet.",
    asks: (open: number) => count(open, "question waits", "questions wait"),
    sessions: "Earlier sessions",
    groups: "Groups",
    schedules: "Schedules",
    settings: "Settings",
    openRail: "Show workspaces",
    openSide: "Show what is beside the conversation",
  },

  overview: {
    title: "All work",
    filter: "Search titles, folders, branches and all that was said",
    archived: "Show archived",
    archive: "Archive",
    takeBack: "Take back",
    nothing: (wanted: string) => `Nothing fits “${wanted}”.`,
    said: "Said in sessions",
    saidMore: "There is more than is listed. Say more words to find it.",
  },
  welcome: {
    title: "Nothing is at work yet",
    about:
      "A workspace is a folder with its workers: agents, terminals and a diff. Which folder is it about?",
    begin: "Begin",
    more: "With a worktree, another engine or a first prompt …",
    rehearse: "No key at hand? A rehearsal plays a whole session on a scripted model:",
  },

  change: {
    menu: "More about this",
    name: "Name",
    rename: "Rename",
    renameWorkspace: "Rename the workspace …",
    renameWorker: "Rename this worker …",
    removeWorkspace: "Remove the workspace …",
    removeWorker: "Remove this worker …",
    renameTitle: (name: string) => `Rename “${name}”`,
    removeTitle: (name: string) => `Remove “${name}”?`,
    remove: "Remove",
    aboutWorkspace:
      "Its programs end and it leaves this list. Files stay as they are, and its conversations are kept among the earlier sessions.",
    aboutWorker: {
      agent: "What it does now ends. Its conversation is kept among the earlier sessions.",
      terminal: "Its program ends, and what is on its screen is gone.",
      diff: "Only the view goes: the files stay as they are, and a diff can be added again.",
    },
    keptWorktree: (path: string) => `The worktree holds changes and was kept: ${path}`,
  },

  create: {
    title: "New workspace",
    agentTitle: "New agent",
    kind: "Kind of agent",
    usualKind: "as usual",
    folder: "Folder",
    worktree: "In a worktree of its own",
    worktreeHint: "a copy on its own branch, which nobody else works in",
    prompt: "What is to be done?",
    promptHint: "Can be left empty. Files and images can be pasted or dropped here.",
    join: (title: string) => `This worktree is held by “${title}”. Join it as one more agent.`,
    joinHint: "Left out, it is refused: a worktree is one workspace’s at a time.",
    titleLabel: "Title",
    titleHint: "the folder’s name",
    engine: "Engine",
    engines: {
      keel: "Keel",
      sdk: "Agent SDK",
      acp: "Another agent, over ACP",
      pty: "A program in a terminal",
    },
    command: "Program and its arguments",
    model: "Model",
    modelHint: "as in the settings",
    create: "Create",
  },

  workers: {
    label: "Workers",
    add: "Add a worker",
    agent: "Agent",
    otherAgent: "Agent of another kind …",
    terminal: "Terminal",
    diff: "Diff",
    none: "Nobody works here yet. Add an agent, a terminal, or a diff of what changes.",
    restart: "Start it again",
    inTerminal: "Go on in a terminal",
    inTerminalName: "Screen",
    inConsole: "Go on in the console",
    copyAll: "Copy all as Markdown",
  },
  foreign: {
    title: (engine: string) => `What ${engine} said before cannot be shown here`,
    about: "Its history is its own. What it says from now on appears below.",
    unknown: (engine: string) => `The engine ${engine} is not known here. What it has said cannot be shown.`,
    uses: "uses",
    result: "result",
    done: (cost: string) => (cost === "" ? "Done" : `Done · ${cost}`),
  },
  access: {
    watch: "This device may only watch.",
    answer: "This device may answer questions, and nothing else.",
    bridge: "This device is a bridge: it may only offer its folder.",
  },

  composer: {
    label: "Message",
    say: "Say what is to be done …",
    steer: "Type to steer …",
    queue: "Type what comes after this turn …",
    sayLabel: "Message to the agent",
    steerLabel: "Message to the agent that works",
    send: "Send",
    interrupt: "Interrupt",
    background: "To the background",
    when: "When it is taken",
    whenName: { now: "Steer", after: "Queue" },
    whenHint: {
      now: "Joins the running turn at its next safe point",
      after: "Waits for the end of the turn and begins one of its own",
    },
    addPicture: "Add images or text files",
    removePictures: "Remove",
    notAPicture: (name: string) =>
      `${name} is not an image of a kind that can be sent (PNG, JPEG, GIF, WebP).`,
    tooLarge: (name: string) => `${name} is larger than 5 MB.`,
    tooLongFile: (name: string) => `${name} is longer than 200 kB. Name it with @ where it is in the folder.`,
    notText: (name: string) => `${name} is neither text nor an image.`,
    suggestions: "Suggestions",
    mode: "Permission mode",
    model: "Model",
    effort: "Effort",
    noEffort: "usual effort",
  },

  doing: {
    idle: "idle",
    thinking: "waiting for the model",
    writing: "writing",
    compacting: "shortening the conversation",
    running: (tools: string) => `running ${tools}`,
    asking: (open: number) => count(open, "question", "questions"),
    retrying: (attempt: number, most: number, why: string) => `trying again (${attempt} of ${most}): ${why}`,
  },
  jump: {
    label: "Go to",
    next: { message: "Next message", change: "Next change", question: "Next question", error: "Next error" },
    previous: {
      message: "Previous message",
      change: "Previous change",
      question: "Previous question",
      error: "Previous error",
    },
  },

  inbox: {
    title: "Questions",
    none: "Nothing waits for you.",
    place: (at: number, all: number) => `${at} of ${all}`,
    later: "Later",
    below: "asks below",
  },
  palette: {
    results: "Results",
    nothing: "Nothing fits.",
    by: { title: "title", person: "you said", agent: "it said" },
  },

  panels: {
    failed: (why: string): string => `This panel cannot be shown: ${why}`,
    again: "Look again",
  },
  side: {
    label: "Beside the conversation",
    asks: "Asks elsewhere",
    todo: "Todo",
    files: "Files",
    tasks: "Tasks",
    context: "Context",
    cost: "Cost",
    timeline: "Timeline",
    team: (name: string) => `Team ${name}`,
    goal: "Goal",
  },
  team: {
    said: (from: string, to: string) => `${from} to ${to}`,
    silent: "Nothing was said yet.",
  },
  goal: {
    holds: "holds",
    fails: "does not hold yet",
    try: (number: number) => `Try ${number}`,
    stands: (held: boolean | undefined, tries = 0) =>
      held ? "holds" : tries === 0 ? "not tried yet" : count(tries, "try", "tries"),
  },
  context: {
    free: "free",
    filled: (percent: number) => `${percent} % of the context is used`,
    never: "It is not shortened by itself.",
    at: (tokens: string) => `It is shortened by itself at ${tokens} tokens.`,
    compact: "Shorten it now",
    kinds: {
      system: "system prompt",
      tools: "tools",
      mcp: "tools of servers",
      instructions: "instructions",
      skills: "skills",
      messages: "messages",
    } satisfies Record<ContextKind, string>,
    /** What can be done about it; empty where nothing can. */
    shed: {
      system: "",
      tools: "",
      mcp: "Servers that are not used can be taken out in the settings.",
      instructions: "Instruction files can be made shorter.",
      skills: "Skills that are not used can be taken out.",
      messages: "",
    } satisfies Record<ContextKind, string>,
  },
  cost: {
    replies: "replies",
    input: "new input",
    cacheRead: "from the cache",
    cacheWrite: "into the cache",
    output: "output",
    cacheShare: (percent: number) => `${percent} % of all input came from the cache.`,
    broke: (request: number, tokens: string, cause: BreakCause["kind"]) =>
      `Request ${request} lost ${tokens} cached tokens: ${causes[cause]}.`,
  },
  timeline: {
    all: "Show every turn",
    lanes: { request: "model", call: "tools", wait: "waiting", agent: "agents" },
  },
  rewind: {
    open: "Rewind files …",
    title: "Rewind files",
    about: "Files are put back as they were before a message. The conversation stays, and it can be undone.",
    files: (files: number) => count(files, "file", "files"),
    nothing: "Nothing would change.",
    none: "No message has changed a file yet.",
    rewind: "Put them back",
    undo: "Undo it",
    undoLast: "Undo the last rewind",
    done: (files: number) => `${count(files, "file was", "files were")} put back.`,
    lost: (path: string) => `${path} was changed since and cannot be restored.`,
  },

  login: {
    title: "Who are you?",
    here: "This browser is not let in. On the machine where Keel runs, this opens it:",
    elsewhere: "From another machine or a phone:",
    pair: "pair this device",
  },
  pair: {
    title: "Pair this device",
    code: "Code",
    codeHint: "From the settings of a console that is open, or from the command",
    name: "What others see this device as",
    pair: "Pair",
    compare: "The console that shows the code asks whether to let you in. It must show these digits:",
    waiting: "Waiting for a yes there …",
    nameOf: (agent: string) =>
      /iPhone|Android.*Mobile/.test(agent)
        ? "a phone"
        : /iPad|Android/.test(agent)
          ? "a tablet"
          : "a browser",
  },
  memory: {
    title: "What conversations said",
    find: "Find something that was said",
    by: (who: string) => (who === "person" ? "you" : who === "agent" ? "the agent" : who),
    session: "in this conversation",
    nothing: (wanted: string) => (wanted === "" ? "Nothing was said yet." : `Nothing says “${wanted}”.`),
    stats: ({ chunks, sessions, work }: { chunks: number; sessions: number; work: string }) =>
      `${chunks.toLocaleString("en")} pieces of ${sessions.toLocaleString("en")} conversations${work === "idle" ? "" : ", more are being read"}.`,
    forget: "Forget",
    forgetTitle: "Forget this message?",
    aboutForgetting:
      "Memory keeps no byte of the message, and nobody finds it again. The conversation itself stays as it is.",
    forgotten: (pieces: number) => (pieces === 1 ? "It is forgotten." : `${pieces} pieces are forgotten.`),
    busy: "Its conversation is open: close it first, then it can be forgotten.",
  },

  schedules: {
    title: "Schedules",
    none: "Nothing is due by the clock yet. A schedule is made by a command:",
    more: (number: number) => `${count(number, "more is", "more are")} listed by keel schedule list.`,
    open: (number: number) => (number === 1 ? "at work" : `${number} at work or waiting`),
    once: (when: string) => `once, ${when}`,
    last: (how: string) => `last ${how}`,
    session: "Its conversation",
    run: "Start now",
    pause: "Pause",
    goOn: "Go on",
    remove: "Remove …",
    removeTitle: (id: string) => `Remove ${id}?`,
    removeAbout: "Its times and the record of its runs will be gone. The conversations of its runs are kept.",
    removeVerb: "Remove it",
  },

  groups: {
    title: "Groups",
    none: "There are no chat groups yet. One is made by a command:",
    gone: "There is no such group.",
    said: "What was said",
    nothing: "Nothing was said yet.",
    agent: "Agent",
    unsent: "not sent yet",
    session: "Its conversation",
    from: "As",
    you: "you",
    send: "Say it",
    readOnly: "This device may only look.",
    states: { working: "at work", queued: "waits for its turn", resting: "rests" },
    boxes: { sandbox: "in the sandbox", container: "in a container", none: "not confined" },
    atWork: (working: number, atOnce: number, queued: number) =>
      `${working} of at most ${atOnce} at work${queued === 0 ? "" : `, ${queued} in the queue`}.`,
    meant: ({ main, always, trigger }: { main: boolean; always: boolean; trigger: string }) =>
      main ? "yours" : always ? "hears everything" : `hears ${trigger}`,
    queue: ({ open, tries, waiting, unsent }: Record<"open" | "tries" | "waiting" | "unsent", number>) =>
      [
        open > 0 ? `${open} to be answered${tries > 1 ? ` (try ${tries})` : ""}` : "",
        waiting > 0 ? `${waiting} unheard` : "",
        unsent > 0 ? `${unsent} to be sent` : "",
      ]
        .filter((part) => part !== "")
        .join(", ") || "nothing waits",
    refused: (why: string) => `Not given: ${why}`,
    elsewhere: (channel: string) => `Its people write by ${channel}.`,
    say: ({ always, main, trigger }: { always: boolean; main: boolean; trigger: string }) =>
      always || main ? "Say something" : `Say something; ${trigger} calls the agent`,
  },

  devices: {
    title: "Devices that are let in",
    connected: "connected",
    access: {
      bridge: "offers a folder",
      watch: "may watch",
      answer: "may answer questions",
      work: "may do everything",
    },
    add: "One more device",
    mayDo: "What it may do",
    begin: "Show a code",
    qr: "Code to scan with the other device",
    open: (url: string) => `On the other device scan this, or open ${url}/pair and type:`,
    once: "Good once, for five minutes.",
    claimed: (name: string) => `${name} has come with the code. It must show these digits:`,
    letIn: "They are the same: let it in",
    refuse: "They are not",
    paired: (name: string) => `Let in: ${name}.`,
    over: {
      refused: "Refused. Nobody was let in.",
      "too-late": "That took longer than five minutes. Nobody was let in.",
      "wrong-codes": "Somebody tried wrong codes. Nobody was let in.",
    },
  },
  terminal: {
    ended: (code: number, signal: string | null) =>
      signal === null ? `The program ended with code ${code}.` : `The program was ended by ${signal}.`,
  },
  diffs: {
    files: "Changed files",
    counted: (files: number) => count(files, "file", "files"),
    counting: "counting lines …",
    none: "Nothing is changed.",
    more: (files: number) => `${count(files, "file", "files")} more are not listed.`,
    binary: "This file is not text.",
    stage: "Stage",
    unstage: "Unstage",
    revert: "Revert",
    reverted: "It was taken back.",
    undo: "Undo",
    comment: ({ from, to }: { from: number; to: number }) =>
      from === to ? "What about this line?" : "What about these lines?",
    commentOn: (line: number) => `Comment on line ${line}`,
    lines: ({ from, to }: { from: number; to: number }) =>
      from === to ? `Line ${to}` : `Lines ${from} to ${to}`,
    fromLine: "From line",
    toLine: (line: number) => `to line ${line}`,
    notHere: "On files that are no longer changed",
    keep: "Add the comment",
    comments: (comments: number) => `${count(comments, "comment", "comments")} for the agent`,
    send: "Send to the agent",
    stale: "Changed since this was written. It was:",
    letters: {
      added: "A",
      modified: "M",
      deleted: "D",
      renamed: "R",
      copied: "C",
      untracked: "U",
      conflicted: "!",
    },
    changes: {
      added: "added",
      modified: "changed",
      deleted: "deleted",
      renamed: "renamed",
      copied: "copied",
      untracked: "new",
      conflicted: "in conflict",
    },
    staged: { staged: "staged", unstaged: "not staged", partly: "partly staged", committed: "committed" },
  },

  settings: {
    title: "Settings",
    asSeenBy: "As seen by",
    noSession: "Settings are those of a folder. They are shown once a workspace has an agent.",
    lists: { allow: "Runs unasked", ask: "Asks every time", deny: "Never runs" },
    noRules: "No rule.",
    newRule: "New rule for this session",
    newList: "What it means",
    add: "Add",
    remove: "Remove",
    ruleFiles:
      "Rules in files are changed there, or with `keel permissions`. A deny is final, whoever else allows it.",
    model: "Model",
    provider: "Provider",
    window: "Window",
    priceIn: "In, per million",
    priceOut: "Out, per million",
    noPrice: "unknown",
    noServers: "No server is set up here. `keel mcp add` adds one.",
    theme: "Colours",
    themes: { system: "As the system has it", light: "Light", dark: "Dark" },
    kept: "Kept in this browser",
    keptAbout:
      "The browser keeps what it was told of sessions, so that it shows them at once and without a connection.",
    clear: "Clear it",
    cleared: "Cleared.",
    pages: {
      permissions: "Permissions",
      models: "Models",
      servers: "Servers",
      memory: "Memory",
      devices: "Devices",
      look: "Look",
    },
  },

  activity: {
    active: "running",
    idle: "idle",
    asking: "asking",
    failed: "failed",
    ended: "ended",
    unknown: "not started",
  },
} as const;

const causes: Readonly<Record<BreakCause["kind"], string>> = {
  declared: "its start was changed on purpose",
  expired: "the provider forgot it in the pause before",
  unexplained: "the provider dropped it",
};

const verbs: Readonly<Record<string, string>> = {
  read: "read",
  write: "write",
  execute: "run",
  fetch: "fetch",
  use: "use",
  delegate: "hand work to",
};

type FoundPath = {
  readonly leadsTo?: string | undefined;
  readonly missing?: boolean | undefined;
  readonly outside?: boolean | undefined;
  readonly own?: boolean | undefined;
  readonly problem?: string | undefined;
};

function foundNote({ leadsTo, missing, outside, own, problem }: FoundPath): string {
  const notes = [
    ...(leadsTo === undefined ? [] : [`leads to ${leadsTo}`]),
    ...(missing ? ["is not there yet"] : []),
    ...(outside ? ["is outside of the workspace"] : []),
    ...(own ? ["is one of Keel’s own files"] : []),
    ...(problem === undefined ? [] : [problem]),
  ];
  return notes.length === 0 ? "" : `, which ${notes.join(" and ")}`;
}
