/// What fills a place in a ``Phrase``.
public enum Placeholder: String, CaseIterable, Sendable {
    case app, count, name, names, keys, program, pid, terminal, purpose, lifetime, time, query, reason, total,
        first, last, rest, size, key, seen, changes, extent
}

/// Words that a program says, by their key in the files below `Languages`; what they say stands there.
public enum Phrase: String, CaseIterable, Sendable {
    /// A contact without anything to be called by.
    case noName

    // Everywhere in prompts.
    case andMore, goOn, back, backReturn, dontAllow, dontShare, nothingReturn, decline, leaveAsIs, leaveIt,
        choose, pick, onOrOff, next, previous, place, search, searchChoice, change, pressAnyKey, noReason,
        tooSoon, moreWaiting, secondsLeft

    // Who asks.
    case unnamedProgram, sureLabelled, worthLabelled, sureSandboxed, worthSandboxed, sureService, worthService,
        sureInstalled, worthInstalled, sureClaimed, worthClaimed, sureInterpreter, worthInterpreter,
        sureUnverified, worthUnverified, processOn, processNowhere, says, saysNotWhy, readsAtMost, nothing

    // How long it lasts.
    case untilRevoked, sessionPrograms, thisSession, programProcess, thisProcess, untilLatest

    // What may be read, in few words.
    case keysNames, keysWork, keysBirthday, keysPhones, keysEmail, keysAddresses, keysDates, keysWebPages,
        keysRelations, keysProfiles, keysMessaging, keysNotes, keysGroups, keysPhoto

    // An app asks for access.
    case accessAsks, wouldLike, dontAllowEver, whatMaySee, canChangeLater, selectContacts, shareAllNone,
        shareAll, singleOnly, notesOn, notesOff, groupsOn, groupsOff, chosen, typeToChoose, shareWith, shareThese,
        withNotes, withoutNotes, withGroups, withoutGroups

    // Lists of contacts.
    case nobodyFound, cannotBeChosen, alreadyShared, sharedAlready, cannotChoose, photoThere

    // An app looks for one person.
    case looksFor, looking, noMatch, notToldSo, neverAndDontAsk, neverAsk, cannotBeShared, sharePerson,
        chooseWhom, shareSeveral, neverHad, youRefused, yesShare, onlyThese

    // What one app may see, looked through.
    case lookThroughApp, asksYouTo, seesAll, seesNothing, seesOf, leaveEver, whatFromNow, typeOrLeave,
        takeAllBack, everybody, showEverybody, seesNow, showSeesNow, changeMore, changeLess, willSee,
        willSeeOnly, yesChange, takeAllBackFrom, asksNoMore, staysAsIs, seesNothingMore, nowSees

    // An app asks for contacts, once.
    case asksPickOne, asksPickMany, getsOnly, allButNotes, onlyThatPicked, nothingEver, whatShallGet, picked,
        typeToPick, nothingToPick, giveThis, nameOnly, giveIt

    // An app offers a card.
    case offersCard, lookAtIt, declineEver, addCard, mergeInto, intoWhich, typeOrDecline, mergeQuestion,
        mergeExplained, merge

    // An app asks what this program does not know.
    case asksSomething, cannotShow

    // Said when a prompt is over.
    case sharedAll, shared, gavePicked, cardTaken, neverAgain, notAllowed, nothingSharedWith, nothingShared,
        waitsNoMore, notRecognised, notTaken, approvalUnknown

    // Said while nothing is asked.
    case waiting, whatYouShared, quit, refusedAsksAgain, tooSmall, sizeUnknown, makeLarger, passwordOnDesktop,
        notUnderstood, othersHere, otherJoined, brokerLost, brokerUnreachable, brokerBack, tryingAgain,
        promptsWait, contacts, promptWaits

    // The list of apps.
    case noGrants, columnApp, columnSure, columnSees, columnContacts, columnLast, strengthLabelled,
        strengthSandboxed, strengthService, strengthInstalled, strengthClaimed, strengthUnverified, grantAll,
        grantSome, grantNothing, grantPolicy, grantProcess, grantSession, never, lookThrough, nextOf,
        listFailed, answerUnreadable, nothingAnyMore

    // A contact's card at the command line.
    case bornAs, soundsLike, yes, identifier, columnName, columnPhone, columnEmail, columnIdentifier
}
