/// The name of a placeholder in a ``Phrase``.
public enum Placeholder: String, CaseIterable, Sendable {
    case app, count, name, names, keys, program, pid, terminal, purpose, lifetime, time, query, reason, total,
        first, last, rest, size, key, seen, changes, extent
}

/// Texts that programs show, by their keys in the files in `Languages`.
public enum Phrase: String, CaseIterable, Sendable {
    /// Shown for a contact without a name or a substitute.
    case noName

    // Used in all prompts.
    case andMore, goOn, back, backReturn, dontAllow, dontShare, nothingReturn, decline, leaveAsIs, leaveIt,
        choose, pick, onOrOff, next, previous, place, search, searchChoice, change, pressAnyKey, noReason,
        tooSoon, moreWaiting, secondsLeft, closesSoon

    // The app that asks.
    case unnamedProgram, sureLabelled, worthLabelled, sureSandboxed, worthSandboxed, sureService, worthService,
        sureInstalled, worthInstalled, sureClaimed, worthClaimed, sureInterpreter, worthInterpreter,
        sureUnverified, worthUnverified, processOn, processNowhere, says, saysNotWhy, readsAtMost, nothing

    // Lifetimes of a grant.
    case untilRevoked, sessionPrograms, thisSession, programProcess, thisProcess, untilLatest

    // Groups of keys, in few words.
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

    // Reviewing what one app can see.
    case lookThroughApp, asksYouTo, seesAll, seesNothing, seesOf, leaveEver, whatFromNow, typeOrLeave,
        takeAllBack, everybody, showEverybody, seesNow, showSeesNow, changeMore, changeLess, willSee,
        willSeeOnly, yesChange, takeAllBackFrom, asksNoMore, staysAsIs, seesNothingMore, nowSees

    // The one-time picker.
    case asksPickOne, asksPickMany, getsOnly, allButNotes, onlyThatPicked, nothingEver, whatShallGet, picked,
        typeToPick, nothingToPick, giveThis, nameOnly, giveIt

    // An app offers a card.
    case offersCard, lookAtIt, declineEver, addCard, mergeInto, intoWhich, typeOrDecline, mergeQuestion,
        mergeExplained, merge

    // A prompt of an unknown kind.
    case asksSomething, cannotShow

    // Shown when a prompt ends.
    case sharedAll, shared, gavePicked, cardTaken, neverAgain, notAllowed, nothingSharedWith, nothingShared,
        waitsNoMore, notRecognised, notTaken, approvalUnknown

    // Shown while there is no prompt.
    case waiting, whatYouShared, quit, refusedAsksAgain, crowdAsks, tooSmall, sizeUnknown, makeLarger,
        passwordOnDesktop, passwordNotHere, notUnderstood, othersHere, otherJoined, brokerLost, brokerUnreachable,
        brokerBack, tryingAgain, promptsWait, contacts, promptWaits

    // The list of apps.
    case noGrants, everyAppRefused, columnApp, columnSure, columnSees, columnContacts, columnLast, strengthLabelled,
        strengthSandboxed, strengthService, strengthInstalled, strengthClaimed, strengthUnverified, grantAll,
        grantSome, grantNothing, grantPolicy, grantProcess, grantSession, never, lookThrough, nextOf,
        listFailed, answerUnreadable, nothingAnyMore

    // A contact's card at the command line.
    case bornAs, soundsLike, yes, identifier, columnName, columnPhone, columnEmail, columnIdentifier
}
