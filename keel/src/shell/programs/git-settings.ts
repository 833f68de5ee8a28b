/**
 * Every setting of git by what its value is: a program that is run (or what decides which one is), a place that is read,
 * written or talked to, or neither. Made from the list that `git help --config` prints and from git-config(1); a name that
 * stands in no row counts as a program, since a newer git has settings that nobody here has read about.
 */
import { own } from "../../kernel/json.ts";

export type SettingClass = "program" | "path" | "harmless";

/** A name is in any case of its letters. What stands between its first and last dot may be anything. */
export function settingClass(name: string): SettingClass {
  const key = name.toLowerCase();
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  if (first <= 0) return "program";
  const section = key.slice(0, first);
  const plain = key.slice(last + 1);
  const exact = first === last ? `${section}.${plain}` : `${section}.*.${plain}`;
  const group = `${key.slice(0, last)}.**`;
  return own(classes, exact) ?? own(classes, group) ?? own(classes, `${section}.**`) ?? "program";
}

/** `a.b` is that setting, `a.*.b` one with a name of its own in between, `a.**` all others of the section or of that name. */
const rows: readonly (readonly [SettingClass, string])[] = [
  [
    "program",
    `alias.** browser.** core.alternateRefsCommand core.askPass core.attributesFile core.editor core.fsmonitor core.gitProxy
     core.hooksPath core.pager core.sshCommand credential.** diff.external diff.tool diff.guitool diff.*.command diff.*.textconv
     difftool.** filter.** gc.recentObjectsHook gpg.program gpg.*.program gpg.*.defaultKeyCommand guitool.** help.autoCorrect
     help.browser hook.** imap.tunnel include.** includeIf.** init.templateDir instaweb.** interactive.diffFilter man.**
     merge.tool merge.guitool merge.*.driver mergetool.** pager.** protocol.** pull.twohead pull.octopus remote.*.receivepack
     remote.*.uploadpack remote.*.vcs safe.** sendemail.** sequence.editor submodule.*.update submodule.*.url tar.*.command
     tar.*.remote trailer.** uploadpack.packObjectsHook url.** web.browser`,
  ],
  [
    "path",
    `attr.tree blame.ignoreRevsFile branch.*.remote branch.*.pushRemote branch.*.mergeOptions bundle.** commit.template
     core.bare core.excludesFile core.repositoryFormatVersion core.sharedRepository core.worktree diff.orderFile extensions.**
     fetch.bundleURI fetch.fsck.skipList fetch.*.skipList format.outputDirectory format.signatureFile fsck.skipList
     fsmonitor.socketDir gc.repackFilterTo gitcvs.** gpg.*.allowedSignersFile gpg.*.revocationFile help.htmlPath http.**
     imap.** mailmap.file maintenance.repo promisor.** receive.*.skipList remote.*.proxy remote.*.proxyAuthMethod
     remote.*.pushurl remote.*.url remote.*.fetch remote.*.push trace2.** transfer.bundleURI user.signingKey`,
  ],
  [
    "harmless",
    `add.** advice.** am.** apply.** author.** blame.blankBoundary blame.coloring blame.date blame.markIgnoredLines
     blame.markUnblamableLines blame.showEmail blame.showRoot branch.autoSetupMerge branch.autoSetupRebase branch.sort
     branch.*.description branch.*.merge branch.*.rebase checkout.** clean.** clone.** color.** column.** commit.cleanup
     commit.gpgSign commit.status commit.verbose commitGraph.** committer.** completion.** core.abbrev
     core.alternateRefsPrefixes core.autocrlf core.bigFileThreshold core.checkRoundtripEncoding core.checkStat
     core.commentChar core.commentString core.commitGraph core.compression core.createObject core.deltaBaseCacheLimit core.eol
     core.fileMode core.filesRefLockTimeout core.fsmonitorHookVersion core.fsync core.fsyncMethod core.fsyncObjectFiles
     core.hideDotFiles core.ignoreCase core.ignoreStat core.logAllRefUpdates core.looseCompression core.maxTreeDepth
     core.multiPackIndex core.notesRef core.packedGitLimit core.packedGitWindowSize core.packedRefsTimeout
     core.precomposeUnicode core.preferSymlinkRefs core.preloadIndex core.protectHFS core.protectNTFS core.quotePath
     core.restrictinheritedhandles core.safecrlf core.sparseCheckout core.sparseCheckoutCone core.splitIndex core.symlinks
     core.trustctime core.unsetenvvars core.untrackedCache core.useReplaceRefs core.warnAmbiguousRefs core.whitespace
     credentialCache.** credentialStore.** diff.algorithm diff.autoRefreshIndex diff.colorMoved diff.colorMovedWS
     diff.context diff.dirstat diff.ignoreSubmodules diff.indentHeuristic diff.interHunkContext diff.mnemonicPrefix
     diff.noprefix diff.relative diff.renameLimit diff.renames diff.statGraphWidth diff.statNameWidth diff.submodule
     diff.suppressBlankEmpty diff.trustExitCode diff.wordRegex diff.wsErrorHighlight diff.*.algorithm diff.*.binary
     diff.*.cachetextconv diff.*.trustExitCode diff.*.wordRegex diff.*.xfuncname fastimport.** feature.** fetch.all
     fetch.bundleCreationToken fetch.fsckObjects fetch.negotiationAlgorithm fetch.output fetch.parallel fetch.prune
     fetch.pruneTags fetch.recurseSubmodules fetch.showForcedUpdates fetch.unpackLimit fetch.writeCommitGraph fetch.fsck.**
     format.attach format.cc format.coverFromDescription format.coverLetter format.encodeEmailHeaders
     format.filenameMaxLength format.forceInBodyFrom format.from format.headers format.notes format.numbered format.pretty
     format.signature format.signOff format.subjectPrefix format.suffix format.thread format.to format.useAutoBase fsck.**
     fsmonitor.allowRemote gc.aggressiveDepth gc.aggressiveWindow gc.auto gc.autoDetach gc.autoPackLimit
     gc.bigPackThreshold gc.cruftPacks gc.logExpiry gc.maxCruftSize gc.packRefs gc.pruneExpire gc.reflogExpire
     gc.reflogExpireUnreachable gc.repackFilter gc.rerereResolved gc.rerereUnresolved gc.worktreePruneExpire
     gc.writeCommitGraph gc.*.reflogExpire gc.*.reflogExpireUnreachable gitweb.** gpg.format gpg.minTrustLevel grep.** gui.**
     help.format i18n.** index.** init.defaultBranch init.defaultObjectFormat init.defaultRefFormat interactive.singleKey
     log.** lsrefs.** mailinfo.** mailmap.blob maintenance.auto maintenance.autoDetach maintenance.strategy
     maintenance.*.auto maintenance.*.enabled maintenance.*.schedule merge.autoStash merge.branchdesc merge.conflictStyle
     merge.defaultToUpstream merge.directoryRenames merge.ff merge.log merge.renameLimit merge.renames merge.renormalize
     merge.stat merge.suppressDest merge.verbosity merge.verifySignatures merge.*.name merge.*.recursive notes.** pack.**
     pretty.** pull.ff pull.rebase push.** rebase.** receive.advertiseAtomic receive.advertisePushOptions receive.autogc
     receive.certNonceSeed receive.certNonceSlop receive.denyCurrentBranch receive.denyDeleteCurrent receive.denyDeletes
     receive.denyNonFastForwards receive.fsckObjects receive.hideRefs receive.keepAlive receive.maxInputSize
     receive.procReceiveRefs receive.shallowUpdate receive.unpackLimit receive.updateServerInfo receive.fsck.** reftable.**
     remote.pushDefault remote.*.followRemoteHEAD remote.*.mirror remote.*.partialclonefilter remote.*.promisor
     remote.*.prune remote.*.pruneTags remote.*.serverOption remote.*.skipDefaultUpdate remote.*.skipFetchAll
     remote.*.tagOpt remotes.** repack.** rerere.** revert.** showBranch.** sparse.** splitIndex.** ssh.variant stash.**
     status.** submodule.active submodule.alternateErrorStrategy submodule.alternateLocation submodule.fetchJobs
     submodule.propagateBranches submodule.recurse submodule.*.active submodule.*.branch submodule.*.fetchRecurseSubmodules
     submodule.*.ignore tag.** tar.umask transfer.advertiseSID transfer.advertiseObjectInfo transfer.credentialsInUrl
     transfer.fsckObjects transfer.hideRefs transfer.unpackLimit uploadarchive.** uploadpack.allowAnySHA1InWant
     uploadpack.allowFilter uploadpack.allowReachableSHA1InWant uploadpack.allowRefInWant uploadpack.allowTipSHA1InWant
     uploadpack.hideRefs uploadpack.keepAlive uploadpackfilter.** user.email user.name user.useConfigOnly versionsort.**
     worktree.**`,
  ],
];

const classes: Readonly<Record<string, SettingClass>> = Object.fromEntries(
  rows.flatMap(([kind, names]) => names.split(/\s+/).map((name) => [name.toLowerCase(), kind])),
);
