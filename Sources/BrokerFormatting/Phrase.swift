/// The name of a placeholder in a ``Phrase``.
public enum Placeholder: String, CaseIterable, Sendable {
    case app, count, name, names, keys, program, pid, terminal, purpose, lifetime, time, query, reason, total,
        first, last, rest, size, key, seen, changes, extent, path, other
}

/// Texts that programs show, by their keys in the files in `Languages`.
public enum Phrase: String, CaseIterable, Sendable {
    /// Shown for a contact without a name or a substitute.
    case noName

    // Used in all prompts.
    case andMore, goOn, back, dontAllow, notNowSession, notNowProcess, dontShare, giveNothing, decline, leaveAsIs,
        close, place, search, change,
        noReason, tooSoon, moreWaiting, secondsLeft, closesSoon

    // Actions of keys, at the bottom of the screen.
    case hintChoose, hintMark, hintClear, hintOnOff, hintOtherList, hintOpen, hintReview, hintOpenQuiet,
        hintHelp, hintFolders, hintEndFolder

    // The list of keys, and the question before leaving.
    case helpTitle, helpMove, helpReturn, helpMark, helpType, helpBack, helpEscape, helpTerms, helpKey, helpQuit,
        plainHint, leaveQuestion, leaveExplained, backToList

    // The app that asks.
    case unnamedProgram, sureLabelled, worthLabelled, sureSandboxed, worthSandboxed, sureService, worthService,
        sureInstalled, worthInstalled, surePassword, worthPassword, sureClaimed, worthClaimed, sureInterpreter,
        worthInterpreter,
        sureUnverified, worthUnverified, sureDeclared, worthDeclared, processOn, processNowhere, says, saidAnother,
        saidEarlier,
        saysNotWhy, readsAtMost, nothing,
        neverUsed, lastUsed, onDay, atTime

    // Lifetimes of a grant, and other settings.
    case untilRevoked, untilDate, forDays, sessionPrograms, thisSession, programProcess, thisProcess, untilLatest,
        settingLasts, settingReads, settingChanges, changesNone, changesOwn, changesEdit, changesAll,
        changesAllButDelete, settingOn,
        settingOff

    // Groups of keys, in few words.
    case keysNames, keysWork, keysBirthday, keysPhones, keysEmail, keysAddresses, keysDates, keysWebPages,
        keysRelations, keysProfiles, keysMessaging, keysNotes, keysGroups, keysPhoto, allButNotes, wholeCard

    // An app asks for access.
    case accessAsks, wants, wantsToChange, wantsToDelete, dontAllowEver, whatMaySee, whatMayRead, keysAll, keysNone,
        keysNamesPhones, chooseContacts, bookIsEmpty, allowAdding, shareAllChoice,
        yesShareAll, shareAllWith, shareAllWithNone, alsoLater, alsoDeletes, alsoChanges, singleOnly,
        declaredSingleOnly, shareWith, shareThese

    // An app that has access asks for more keys.
    case alsoWants, onlyKeys, allowKeys, keysGiven

    // Lists of contacts.
    case noMatches, markedCount, cannotBeChosen, alreadyShared, sharedAlready, cannotChoose, photoThere, looksLikeKey,
        mixedAlphabets

    // An app looks for one person.
    case looksFor, looking, noMatch, noNewMatch, notTold, searchOrLeave, searchOn, neverAndDontAsk, neverAsk,
        sharePerson, neverHad,
        isDenied, seesSome, onlyThese

    // Reviewing what one app can see.
    case asksReview, seesAll, seesNothing, seesOf, leaveEver, whatFromNow, changeContacts, revokeAll, revoke, listAll,
        listSeen, listMarked, changeMore, changeLess, willSee, willSeeOnly, changeKeysOf, yesChange, revokeFrom,
        asksNoMore, letAskAgain, asksAgain, mayNotAsk,
        staysAsIs, seesNothingMore, nowSees, keysChanged, changesChanged, whatMayChange, whatItMayChange, howLong,
        lifetimeChanged,
        reviewStale

    // What an app changed, in its review, and putting it back.
    case whatItChanged, changesOf, savesNone, changesAt, putBackSave, putBackLater, putBackQuestion,
        putBackLaterQuestion, putBackOneQuestion, putBackReturned, putBackStays, putBackNothing, putBack, putBackForced,
        putBackDone, outcomeReturned, outcomeChanged, outcomeRemoved, outcomeConflict, outcomeLost

    // The one-time picker.
    case asksPickOne, asksPickMany, pickAtMost, pickLimitReached, pickContacts, getsOnly, onlyThatPicked, nothingEver,
        whatShallGet, nothingToPick, giveThis, nameOnly, giveIt

    // An app offers a card.
    case offersCard, lookAtIt, declineEver, addCard, editCard, textRefused, textTooLong, mergeInto, mergeWith,
        sameEmail, samePhone, sameName, intoWhich, mergeQuestion, mergeExplained, merge

    // An app saves changes beyond its right: the prompt, and the rows that say what the save does.
    case changeAsks, manyChanged, binIsFull, saveContacts, saveDeleted, saveChanged, saveAdded, saveOther, allowSave,
        allowAlways,
        alwaysAsks,
        alwaysOwn, alwaysEdit, alwaysAll, alwaysAllButDelete, yesAlways, saveAllowed, saveRefused, nothingChanged
    case deletesContact, deletesGroup, deletesContainer, changesContact, changesGroup, changesContainer, renamesGroup,
        renamesContainer, addsContact, addsGroup, addsContainer, addsContactInto, addsGroupInto, contactJoins,
        groupJoins, contactLeaves, groupLeaves, linksContact, unlinksContact, unlinksAll, makesOwn, makesNotOwn
    case noDifference, otherOrder, otherPhoto, kindPerson, kindOrganization

    // A prompt of an unknown kind.
    case asksSomething, cannotShow

    // Shown when a prompt ends.
    case sharedAll, sharedOne, shared, gavePicked, cardTaken, neverAgain, notAllowed, nothingSharedWith, nothingShared,
        closedUnanswered, closedElsewhere, mustWait, notRecognised, notTaken, approvalUnknown

    // Shown while there is no prompt.
    case waiting, quit, refusedAsksAgain, crowdAsks, tooSmall, makeLarger, passwordOnDesktop, passwordNotHere,
        notUnderstood, othersHere, otherJoined, brokerLost, brokerUnreachable, brokerBack, tryingAgain, promptsWait,
        contacts, promptWaits

    // The list of apps.
    case noGrants, everyAppRefused, formerRules, columnApp, columnSure, columnSees, columnContacts, columnLast,
        strengthLabelled, strengthSandboxed, strengthService, strengthInstalled, strengthClaimed, strengthUnverified,
        strengthDeclared, grantAll, grantSome, grantNothing, grantPolicy, grantSilenced, grantProcess, grantSession,
        grantUntil, never,
        listFailed,
        answerUnreadable,
        nothingAnyMore

    // Folders that the person declared.
    case foldersTitle, foldersNone, foldersMeaning, folderUntil, declareFolder, folderWhich, folderQuestion, folderRisk,
        yesDeclare, endFolderQuestion, endFolderMeaning, yesEndFolder, folderDeclared, folderEnded

    // Why a folder cannot be declared.
    case folderSessionOnly, folderNotAbsolute, folderNotFound, folderNotAFolder, folderNotOwned, folderWritableByOthers,
        folderTooWide, folderUnsupported, folderTooMany, folderNotRecorded

    // Why the broker refused an answer.
    case answerMalformed, answerContactGone, answerNotSelectable, answerTooLarge, answerContactTooLarge,
        answerSilencesFull, answerAlreadyDecided, answerGrantEnded, answerLifetimeFixed, answerPolicyDenies,
        answerPolicySharesGroup, answerPolicyLimits, answerTooManyGroups, answerNotRecorded, answerBookFull

    // Why the broker could not ask for the password.
    case passwordNoAuthority, passwordNoPasswordAgent, passwordChanged, passwordTooManyRequests, passwordProgramUnknown,
        passwordNotRecorded, passwordTimedOut, passwordAuthorityFailed, passwordAuthorityHangs

    // Other errors of the broker, and why it cannot be reached.
    case errorStore, errorTooManyAgents, errorNotAccepted, reachNoPath, reachNotRunning, reachNoAnswer,
        reachForeign, reachForeignUnknown, reachClosed, reachTooLate, reachInvalid, adviceSystem, adviceSession,
        adviceForeign

    // A row that cannot be chosen, and what else a row says.
    case rowExcluded, rowLacks, rowTooFew, rowTooMany, rowOtherName, rowLinked, rowGroup, rowGrows

    // Errors at the start and the end.
    case startTerminal, startNoLocale, startNoMemory, startTooSimple, startSignals,
        startAgain, startBusy, startAgent, startNotRecognised, startNotifier, adviceReport,
        adviceTerminal, advicePlain, adviceStart, adviceOthers, adviceNobody, adviceOwnPassword

    // A contact's card at the command line.
    case bornAs, soundsLike, yes, identifier, columnName, columnPhone, columnEmail, columnIdentifier
    case columnDay, columnDaysLeft, columnAge, dayToday, dayPast
}

extension Phrase {
    /// The text about one of several cases, such as `answerContactGone` for the problem `contactGone`; `nil` if there is
    /// none.
    public init?(_ group: String, _ name: String) {
        self.init(rawValue: group + name.prefix(1).uppercased() + name.dropFirst())
    }
}
