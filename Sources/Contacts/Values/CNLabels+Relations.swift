// Apple’s 216 labels for relations, each stored as `_$!<Name>!$_`. Each label keeps its exact meaning, so
// that a translation can use the language's own kinship term, such as the Chinese one for an elder brother’s
// wife.

/// Label of a relation: assistant.
public let CNLabelContactRelationAssistant = "_$!<Assistant>!$_"
/// Label of a relation: aunt.
public let CNLabelContactRelationAunt = "_$!<Aunt>!$_"
/// Label of a relation: aunt (father’s brother’s wife).
public let CNLabelContactRelationAuntFathersBrothersWife = "_$!<AuntFathersBrothersWife>!$_"
/// Label of a relation: aunt (father’s elder brother’s wife).
public let CNLabelContactRelationAuntFathersElderBrothersWife = "_$!<AuntFathersElderBrothersWife>!$_"
/// Label of a relation: aunt (father’s elder sister).
public let CNLabelContactRelationAuntFathersElderSister = "_$!<AuntFathersElderSister>!$_"
/// Label of a relation: aunt (father’s sister).
public let CNLabelContactRelationAuntFathersSister = "_$!<AuntFathersSister>!$_"
/// Label of a relation: aunt (father’s younger brother’s wife).
public let CNLabelContactRelationAuntFathersYoungerBrothersWife = "_$!<AuntFathersYoungerBrothersWife>!$_"
/// Label of a relation: aunt (father’s younger sister).
public let CNLabelContactRelationAuntFathersYoungerSister = "_$!<AuntFathersYoungerSister>!$_"
/// Label of a relation: aunt (mother’s brother’s wife).
public let CNLabelContactRelationAuntMothersBrothersWife = "_$!<AuntMothersBrothersWife>!$_"
/// Label of a relation: aunt (mother’s elder sister).
public let CNLabelContactRelationAuntMothersElderSister = "_$!<AuntMothersElderSister>!$_"
/// Label of a relation: aunt (mother’s sister).
public let CNLabelContactRelationAuntMothersSister = "_$!<AuntMothersSister>!$_"
/// Label of a relation: aunt (mother’s younger sister).
public let CNLabelContactRelationAuntMothersYoungerSister = "_$!<AuntMothersYoungerSister>!$_"
/// Label of a relation: aunt (parent’s elder sister).
public let CNLabelContactRelationAuntParentsElderSister = "_$!<AuntParentsElderSister>!$_"
/// Label of a relation: aunt (parent’s sister).
public let CNLabelContactRelationAuntParentsSister = "_$!<AuntParentsSister>!$_"
/// Label of a relation: aunt (parent’s younger sister).
public let CNLabelContactRelationAuntParentsYoungerSister = "_$!<AuntParentsYoungerSister>!$_"
/// Label of a relation: boyfriend.
public let CNLabelContactRelationBoyfriend = "_$!<Boyfriend>!$_"
/// Label of a relation: brother.
public let CNLabelContactRelationBrother = "_$!<Brother>!$_"
/// Label of a relation: brother-in-law.
public let CNLabelContactRelationBrotherInLaw = "_$!<BrotherInLaw>!$_"
/// Label of a relation: brother-in-law (elder sister’s husband).
public let CNLabelContactRelationBrotherInLawElderSistersHusband = "_$!<BrotherInLawElderSistersHusband>!$_"
/// Label of a relation: brother-in-law (husband’s brother).
public let CNLabelContactRelationBrotherInLawHusbandsBrother = "_$!<BrotherInLawHusbandsBrother>!$_"
/// Label of a relation: brother-in-law (husband’s sister’s husband).
public let CNLabelContactRelationBrotherInLawHusbandsSistersHusband = "_$!<BrotherInLawHusbandsSistersHusband>!$_"
/// Label of a relation: brother-in-law (sister’s husband).
public let CNLabelContactRelationBrotherInLawSistersHusband = "_$!<BrotherInLawSistersHusband>!$_"
/// Label of a relation: brother-in-law (spouse’s brother).
public let CNLabelContactRelationBrotherInLawSpousesBrother = "_$!<BrotherInLawSpousesBrother>!$_"
/// Label of a relation: brother-in-law (wife’s brother).
public let CNLabelContactRelationBrotherInLawWifesBrother = "_$!<BrotherInLawWifesBrother>!$_"
/// Label of a relation: brother-in-law (wife’s sister’s husband).
public let CNLabelContactRelationBrotherInLawWifesSistersHusband = "_$!<BrotherInLawWifesSistersHusband>!$_"
/// Label of a relation: brother-in-law (younger sister’s husband).
public let CNLabelContactRelationBrotherInLawYoungerSistersHusband = "_$!<BrotherInLawYoungerSistersHusband>!$_"
/// Label of a relation: child.
public let CNLabelContactRelationChild = "_$!<Child>!$_"
/// Label of a relation: child-in-law.
public let CNLabelContactRelationChildInLaw = "_$!<ChildInLaw>!$_"
/// Label of a relation: co brother-in-law.
public let CNLabelContactRelationCoBrotherInLaw = "_$!<CoBrotherInLaw>!$_"
/// Label of a relation: co father-in-law.
public let CNLabelContactRelationCoFatherInLaw = "_$!<CoFatherInLaw>!$_"
/// Label of a relation: co mother-in-law.
public let CNLabelContactRelationCoMotherInLaw = "_$!<CoMotherInLaw>!$_"
/// Label of a relation: co parent-in-law.
public let CNLabelContactRelationCoParentInLaw = "_$!<CoParentInLaw>!$_"
/// Label of a relation: co sibling-in-law.
public let CNLabelContactRelationCoSiblingInLaw = "_$!<CoSiblingInLaw>!$_"
/// Label of a relation: co sister-in-law.
public let CNLabelContactRelationCoSisterInLaw = "_$!<CoSisterInLaw>!$_"
/// Label of a relation: colleague.
public let CNLabelContactRelationColleague = "_$!<Colleague>!$_"
/// Label of a relation: cousin.
public let CNLabelContactRelationCousin = "_$!<Cousin>!$_"
/// Label of a relation: cousin (father’s brother’s daughter).
public let CNLabelContactRelationCousinFathersBrothersDaughter = "_$!<CousinFathersBrothersDaughter>!$_"
/// Label of a relation: cousin (father’s brother’s son).
public let CNLabelContactRelationCousinFathersBrothersSon = "_$!<CousinFathersBrothersSon>!$_"
/// Label of a relation: cousin (father’s sister’s daughter).
public let CNLabelContactRelationCousinFathersSistersDaughter = "_$!<CousinFathersSistersDaughter>!$_"
/// Label of a relation: cousin (father’s sister’s son).
public let CNLabelContactRelationCousinFathersSistersSon = "_$!<CousinFathersSistersSon>!$_"
/// Label of a relation: cousin (grandparent’s sibling’s child).
public let CNLabelContactRelationCousinGrandparentsSiblingsChild = "_$!<CousinGrandparentsSiblingsChild>!$_"
/// Label of a relation: cousin (grandparent’s sibling’s daughter).
public let CNLabelContactRelationCousinGrandparentsSiblingsDaughter = "_$!<CousinGrandparentsSiblingsDaughter>!$_"
/// Label of a relation: cousin (grandparent’s sibling’s son).
public let CNLabelContactRelationCousinGrandparentsSiblingsSon = "_$!<CousinGrandparentsSiblingsSon>!$_"
/// Label of a relation: cousin (mother’s brother’s daughter).
public let CNLabelContactRelationCousinMothersBrothersDaughter = "_$!<CousinMothersBrothersDaughter>!$_"
/// Label of a relation: cousin (mother’s brother’s son).
public let CNLabelContactRelationCousinMothersBrothersSon = "_$!<CousinMothersBrothersSon>!$_"
/// Label of a relation: cousin (mother’s sister’s daughter).
public let CNLabelContactRelationCousinMothersSistersDaughter = "_$!<CousinMothersSistersDaughter>!$_"
/// Label of a relation: cousin (mother’s sister’s son).
public let CNLabelContactRelationCousinMothersSistersSon = "_$!<CousinMothersSistersSon>!$_"
/// Label of a relation: cousin or sibling’s child.
public let CNLabelContactRelationCousinOrSiblingsChild = "_$!<CousinOrSiblingsChild>!$_"
/// Label of a relation: cousin (parent’s sibling’s child).
public let CNLabelContactRelationCousinParentsSiblingsChild = "_$!<CousinParentsSiblingsChild>!$_"
/// Label of a relation: cousin (parent’s sibling’s daughter).
public let CNLabelContactRelationCousinParentsSiblingsDaughter = "_$!<CousinParentsSiblingsDaughter>!$_"
/// Label of a relation: cousin (parent’s sibling’s son).
public let CNLabelContactRelationCousinParentsSiblingsSon = "_$!<CousinParentsSiblingsSon>!$_"
/// Label of a relation: daughter.
public let CNLabelContactRelationDaughter = "_$!<Daughter>!$_"
/// Label of a relation: daughter-in-law.
public let CNLabelContactRelationDaughterInLaw = "_$!<DaughterInLaw>!$_"
/// Label of a relation: daughter-in-law or sister-in-law.
public let CNLabelContactRelationDaughterInLawOrSisterInLaw = "_$!<DaughterInLawOrSisterInLaw>!$_"
/// Label of a relation: daughter-in-law or stepdaughter.
public let CNLabelContactRelationDaughterInLawOrStepdaughter = "_$!<DaughterInLawOrStepdaughter>!$_"
/// Label of a relation: elder brother.
public let CNLabelContactRelationElderBrother = "_$!<ElderBrother>!$_"
/// Label of a relation: elder brother-in-law.
public let CNLabelContactRelationElderBrotherInLaw = "_$!<ElderBrotherInLaw>!$_"
/// Label of a relation: elder cousin.
public let CNLabelContactRelationElderCousin = "_$!<ElderCousin>!$_"
/// Label of a relation: elder cousin (father’s brother’s daughter).
public let CNLabelContactRelationElderCousinFathersBrothersDaughter = "_$!<ElderCousinFathersBrothersDaughter>!$_"
/// Label of a relation: elder cousin (father’s brother’s son).
public let CNLabelContactRelationElderCousinFathersBrothersSon = "_$!<ElderCousinFathersBrothersSon>!$_"
/// Label of a relation: elder cousin (father’s sister’s daughter).
public let CNLabelContactRelationElderCousinFathersSistersDaughter = "_$!<ElderCousinFathersSistersDaughter>!$_"
/// Label of a relation: elder cousin (father’s sister’s son).
public let CNLabelContactRelationElderCousinFathersSistersSon = "_$!<ElderCousinFathersSistersSon>!$_"
/// Label of a relation: elder cousin (mother’s brother’s daughter).
public let CNLabelContactRelationElderCousinMothersBrothersDaughter = "_$!<ElderCousinMothersBrothersDaughter>!$_"
/// Label of a relation: elder cousin (mother’s brother’s son).
public let CNLabelContactRelationElderCousinMothersBrothersSon = "_$!<ElderCousinMothersBrothersSon>!$_"
/// Label of a relation: elder cousin (mother’s sibling’s daughter or father’s sister’s daughter).
public let CNLabelContactRelationElderCousinMothersSiblingsDaughterOrFathersSistersDaughter =
    "_$!<ElderCousinMothersSiblingsDaughterOrFathersSistersDaughter>!$_"
/// Label of a relation: elder cousin (mother’s sibling’s son or father’s sister’s son).
public let CNLabelContactRelationElderCousinMothersSiblingsSonOrFathersSistersSon =
    "_$!<ElderCousinMothersSiblingsSonOrFathersSistersSon>!$_"
/// Label of a relation: elder cousin (mother’s sister’s daughter).
public let CNLabelContactRelationElderCousinMothersSistersDaughter = "_$!<ElderCousinMothersSistersDaughter>!$_"
/// Label of a relation: elder cousin (mother’s sister’s son).
public let CNLabelContactRelationElderCousinMothersSistersSon = "_$!<ElderCousinMothersSistersSon>!$_"
/// Label of a relation: elder cousin (parent’s sibling’s daughter).
public let CNLabelContactRelationElderCousinParentsSiblingsDaughter = "_$!<ElderCousinParentsSiblingsDaughter>!$_"
/// Label of a relation: elder cousin (parent’s sibling’s son).
public let CNLabelContactRelationElderCousinParentsSiblingsSon = "_$!<ElderCousinParentsSiblingsSon>!$_"
/// Label of a relation: elder sibling.
public let CNLabelContactRelationElderSibling = "_$!<ElderSibling>!$_"
/// Label of a relation: elder sibling-in-law.
public let CNLabelContactRelationElderSiblingInLaw = "_$!<ElderSiblingInLaw>!$_"
/// Label of a relation: elder sister.
public let CNLabelContactRelationElderSister = "_$!<ElderSister>!$_"
/// Label of a relation: elder sister-in-law.
public let CNLabelContactRelationElderSisterInLaw = "_$!<ElderSisterInLaw>!$_"
/// Label of a relation: eldest brother.
public let CNLabelContactRelationEldestBrother = "_$!<EldestBrother>!$_"
/// Label of a relation: eldest sister.
public let CNLabelContactRelationEldestSister = "_$!<EldestSister>!$_"
/// Label of a relation: father.
public let CNLabelContactRelationFather = "_$!<Father>!$_"
/// Label of a relation: father-in-law.
public let CNLabelContactRelationFatherInLaw = "_$!<FatherInLaw>!$_"
/// Label of a relation: father-in-law (husband’s father).
public let CNLabelContactRelationFatherInLawHusbandsFather = "_$!<FatherInLawHusbandsFather>!$_"
/// Label of a relation: father-in-law or stepfather.
public let CNLabelContactRelationFatherInLawOrStepfather = "_$!<FatherInLawOrStepfather>!$_"
/// Label of a relation: father-in-law (wife’s father).
public let CNLabelContactRelationFatherInLawWifesFather = "_$!<FatherInLawWifesFather>!$_"
/// Label of a relation: female cousin.
public let CNLabelContactRelationFemaleCousin = "_$!<FemaleCousin>!$_"
/// Label of a relation: female friend.
public let CNLabelContactRelationFemaleFriend = "_$!<FemaleFriend>!$_"
/// Label of a relation: female partner.
public let CNLabelContactRelationFemalePartner = "_$!<FemalePartner>!$_"
/// Label of a relation: friend.
public let CNLabelContactRelationFriend = "_$!<Friend>!$_"
/// Label of a relation: girlfriend.
public let CNLabelContactRelationGirlfriend = "_$!<Girlfriend>!$_"
/// Label of a relation: girlfriend or boyfriend.
public let CNLabelContactRelationGirlfriendOrBoyfriend = "_$!<GirlfriendOrBoyfriend>!$_"
/// Label of a relation: grandaunt.
public let CNLabelContactRelationGrandaunt = "_$!<Grandaunt>!$_"
/// Label of a relation: grandchild.
public let CNLabelContactRelationGrandchild = "_$!<Grandchild>!$_"
/// Label of a relation: grandchild or sibling’s child.
public let CNLabelContactRelationGrandchildOrSiblingsChild = "_$!<GrandchildOrSiblingsChild>!$_"
/// Label of a relation: granddaughter.
public let CNLabelContactRelationGranddaughter = "_$!<Granddaughter>!$_"
/// Label of a relation: granddaughter (daughter’s daughter).
public let CNLabelContactRelationGranddaughterDaughtersDaughter = "_$!<GranddaughterDaughtersDaughter>!$_"
/// Label of a relation: granddaughter or niece.
public let CNLabelContactRelationGranddaughterOrNiece = "_$!<GranddaughterOrNiece>!$_"
/// Label of a relation: granddaughter (son’s daughter).
public let CNLabelContactRelationGranddaughterSonsDaughter = "_$!<GranddaughterSonsDaughter>!$_"
/// Label of a relation: grandfather.
public let CNLabelContactRelationGrandfather = "_$!<Grandfather>!$_"
/// Label of a relation: grandfather (father’s father).
public let CNLabelContactRelationGrandfatherFathersFather = "_$!<GrandfatherFathersFather>!$_"
/// Label of a relation: grandfather (mother’s father).
public let CNLabelContactRelationGrandfatherMothersFather = "_$!<GrandfatherMothersFather>!$_"
/// Label of a relation: grandmother.
public let CNLabelContactRelationGrandmother = "_$!<Grandmother>!$_"
/// Label of a relation: grandmother (father’s mother).
public let CNLabelContactRelationGrandmotherFathersMother = "_$!<GrandmotherFathersMother>!$_"
/// Label of a relation: grandmother (mother’s mother).
public let CNLabelContactRelationGrandmotherMothersMother = "_$!<GrandmotherMothersMother>!$_"
/// Label of a relation: grandnephew.
public let CNLabelContactRelationGrandnephew = "_$!<Grandnephew>!$_"
/// Label of a relation: grandnephew (brother’s grandson).
public let CNLabelContactRelationGrandnephewBrothersGrandson = "_$!<GrandnephewBrothersGrandson>!$_"
/// Label of a relation: grandnephew (sister’s grandson).
public let CNLabelContactRelationGrandnephewSistersGrandson = "_$!<GrandnephewSistersGrandson>!$_"
/// Label of a relation: grandniece.
public let CNLabelContactRelationGrandniece = "_$!<Grandniece>!$_"
/// Label of a relation: grandniece (brother’s granddaughter).
public let CNLabelContactRelationGrandnieceBrothersGranddaughter = "_$!<GrandnieceBrothersGranddaughter>!$_"
/// Label of a relation: grandniece (sister’s granddaughter).
public let CNLabelContactRelationGrandnieceSistersGranddaughter = "_$!<GrandnieceSistersGranddaughter>!$_"
/// Label of a relation: grandparent.
public let CNLabelContactRelationGrandparent = "_$!<Grandparent>!$_"
/// Label of a relation: grandson.
public let CNLabelContactRelationGrandson = "_$!<Grandson>!$_"
/// Label of a relation: grandson (daughter’s son).
public let CNLabelContactRelationGrandsonDaughtersSon = "_$!<GrandsonDaughtersSon>!$_"
/// Label of a relation: grandson or nephew.
public let CNLabelContactRelationGrandsonOrNephew = "_$!<GrandsonOrNephew>!$_"
/// Label of a relation: grandson (son’s son).
public let CNLabelContactRelationGrandsonSonsSon = "_$!<GrandsonSonsSon>!$_"
/// Label of a relation: granduncle.
public let CNLabelContactRelationGranduncle = "_$!<Granduncle>!$_"
/// Label of a relation: great grandchild.
public let CNLabelContactRelationGreatGrandchild = "_$!<GreatGrandchild>!$_"
/// Label of a relation: great grandchild or sibling’s grandchild.
public let CNLabelContactRelationGreatGrandchildOrSiblingsGrandchild = "_$!<GreatGrandchildOrSiblingsGrandchild>!$_"
/// Label of a relation: great granddaughter.
public let CNLabelContactRelationGreatGranddaughter = "_$!<GreatGranddaughter>!$_"
/// Label of a relation: great grandfather.
public let CNLabelContactRelationGreatGrandfather = "_$!<GreatGrandfather>!$_"
/// Label of a relation: great grandmother.
public let CNLabelContactRelationGreatGrandmother = "_$!<GreatGrandmother>!$_"
/// Label of a relation: great grandparent.
public let CNLabelContactRelationGreatGrandparent = "_$!<GreatGrandparent>!$_"
/// Label of a relation: great grandson.
public let CNLabelContactRelationGreatGrandson = "_$!<GreatGrandson>!$_"
/// Label of a relation: husband.
public let CNLabelContactRelationHusband = "_$!<Husband>!$_"
/// Label of a relation: male cousin.
public let CNLabelContactRelationMaleCousin = "_$!<MaleCousin>!$_"
/// Label of a relation: male friend.
public let CNLabelContactRelationMaleFriend = "_$!<MaleFriend>!$_"
/// Label of a relation: male partner.
public let CNLabelContactRelationMalePartner = "_$!<MalePartner>!$_"
/// Label of a relation: manager.
public let CNLabelContactRelationManager = "_$!<Manager>!$_"
/// Label of a relation: mother.
public let CNLabelContactRelationMother = "_$!<Mother>!$_"
/// Label of a relation: mother-in-law.
public let CNLabelContactRelationMotherInLaw = "_$!<MotherInLaw>!$_"
/// Label of a relation: mother-in-law (husband’s mother).
public let CNLabelContactRelationMotherInLawHusbandsMother = "_$!<MotherInLawHusbandsMother>!$_"
/// Label of a relation: mother-in-law or stepmother.
public let CNLabelContactRelationMotherInLawOrStepmother = "_$!<MotherInLawOrStepmother>!$_"
/// Label of a relation: mother-in-law (wife’s mother).
public let CNLabelContactRelationMotherInLawWifesMother = "_$!<MotherInLawWifesMother>!$_"
/// Label of a relation: nephew.
public let CNLabelContactRelationNephew = "_$!<Nephew>!$_"
/// Label of a relation: nephew (brother’s son).
public let CNLabelContactRelationNephewBrothersSon = "_$!<NephewBrothersSon>!$_"
/// Label of a relation: nephew (brother’s son or husband’s sibling’s son).
public let CNLabelContactRelationNephewBrothersSonOrHusbandsSiblingsSon =
    "_$!<NephewBrothersSonOrHusbandsSiblingsSon>!$_"
/// Label of a relation: nephew or cousin.
public let CNLabelContactRelationNephewOrCousin = "_$!<NephewOrCousin>!$_"
/// Label of a relation: nephew (sister’s son).
public let CNLabelContactRelationNephewSistersSon = "_$!<NephewSistersSon>!$_"
/// Label of a relation: nephew (sister’s son or wife’s sibling’s son).
public let CNLabelContactRelationNephewSistersSonOrWifesSiblingsSon = "_$!<NephewSistersSonOrWifesSiblingsSon>!$_"
/// Label of a relation: niece.
public let CNLabelContactRelationNiece = "_$!<Niece>!$_"
/// Label of a relation: niece (brother’s daughter).
public let CNLabelContactRelationNieceBrothersDaughter = "_$!<NieceBrothersDaughter>!$_"
/// Label of a relation: niece (brother’s daughter or husband’s sibling’s daughter).
public let CNLabelContactRelationNieceBrothersDaughterOrHusbandsSiblingsDaughter =
    "_$!<NieceBrothersDaughterOrHusbandsSiblingsDaughter>!$_"
/// Label of a relation: niece or cousin.
public let CNLabelContactRelationNieceOrCousin = "_$!<NieceOrCousin>!$_"
/// Label of a relation: niece (sister’s daughter).
public let CNLabelContactRelationNieceSistersDaughter = "_$!<NieceSistersDaughter>!$_"
/// Label of a relation: niece (sister’s daughter or wife’s sibling’s daughter).
public let CNLabelContactRelationNieceSistersDaughterOrWifesSiblingsDaughter =
    "_$!<NieceSistersDaughterOrWifesSiblingsDaughter>!$_"
/// Label of a relation: parent.
public let CNLabelContactRelationParent = "_$!<Parent>!$_"
/// Label of a relation: parent-in-law.
public let CNLabelContactRelationParentInLaw = "_$!<ParentInLaw>!$_"
/// Label of a relation: parent’s elder sibling.
public let CNLabelContactRelationParentsElderSibling = "_$!<ParentsElderSibling>!$_"
/// Label of a relation: parent’s sibling.
public let CNLabelContactRelationParentsSibling = "_$!<ParentsSibling>!$_"
/// Label of a relation: parent’s sibling (father’s elder sibling).
public let CNLabelContactRelationParentsSiblingFathersElderSibling = "_$!<ParentsSiblingFathersElderSibling>!$_"
/// Label of a relation: parent’s sibling (father’s sibling).
public let CNLabelContactRelationParentsSiblingFathersSibling = "_$!<ParentsSiblingFathersSibling>!$_"
/// Label of a relation: parent’s sibling (father’s younger sibling).
public let CNLabelContactRelationParentsSiblingFathersYoungerSibling = "_$!<ParentsSiblingFathersYoungerSibling>!$_"
/// Label of a relation: parent’s sibling (mother’s elder sibling).
public let CNLabelContactRelationParentsSiblingMothersElderSibling = "_$!<ParentsSiblingMothersElderSibling>!$_"
/// Label of a relation: parent’s sibling (mother’s sibling).
public let CNLabelContactRelationParentsSiblingMothersSibling = "_$!<ParentsSiblingMothersSibling>!$_"
/// Label of a relation: parent’s sibling (mother’s younger sibling).
public let CNLabelContactRelationParentsSiblingMothersYoungerSibling = "_$!<ParentsSiblingMothersYoungerSibling>!$_"
/// Label of a relation: parent’s younger sibling.
public let CNLabelContactRelationParentsYoungerSibling = "_$!<ParentsYoungerSibling>!$_"
/// Label of a relation: partner.
public let CNLabelContactRelationPartner = "_$!<Partner>!$_"
/// Label of a relation: sibling.
public let CNLabelContactRelationSibling = "_$!<Sibling>!$_"
/// Label of a relation: sibling-in-law.
public let CNLabelContactRelationSiblingInLaw = "_$!<SiblingInLaw>!$_"
/// Label of a relation: sibling’s child.
public let CNLabelContactRelationSiblingsChild = "_$!<SiblingsChild>!$_"
/// Label of a relation: sister.
public let CNLabelContactRelationSister = "_$!<Sister>!$_"
/// Label of a relation: sister-in-law.
public let CNLabelContactRelationSisterInLaw = "_$!<SisterInLaw>!$_"
/// Label of a relation: sister-in-law (brother’s wife).
public let CNLabelContactRelationSisterInLawBrothersWife = "_$!<SisterInLawBrothersWife>!$_"
/// Label of a relation: sister-in-law (elder brother’s wife).
public let CNLabelContactRelationSisterInLawElderBrothersWife = "_$!<SisterInLawElderBrothersWife>!$_"
/// Label of a relation: sister-in-law (husband’s brother’s wife).
public let CNLabelContactRelationSisterInLawHusbandsBrothersWife = "_$!<SisterInLawHusbandsBrothersWife>!$_"
/// Label of a relation: sister-in-law (husband’s sister).
public let CNLabelContactRelationSisterInLawHusbandsSister = "_$!<SisterInLawHusbandsSister>!$_"
/// Label of a relation: sister-in-law (spouse’s sister).
public let CNLabelContactRelationSisterInLawSpousesSister = "_$!<SisterInLawSpousesSister>!$_"
/// Label of a relation: sister-in-law (wife’s brother’s wife).
public let CNLabelContactRelationSisterInLawWifesBrothersWife = "_$!<SisterInLawWifesBrothersWife>!$_"
/// Label of a relation: sister-in-law (wife’s sister).
public let CNLabelContactRelationSisterInLawWifesSister = "_$!<SisterInLawWifesSister>!$_"
/// Label of a relation: sister-in-law (younger brother’s wife).
public let CNLabelContactRelationSisterInLawYoungerBrothersWife = "_$!<SisterInLawYoungerBrothersWife>!$_"
/// Label of a relation: son.
public let CNLabelContactRelationSon = "_$!<Son>!$_"
/// Label of a relation: son-in-law.
public let CNLabelContactRelationSonInLaw = "_$!<SonInLaw>!$_"
/// Label of a relation: son-in-law or brother-in-law.
public let CNLabelContactRelationSonInLawOrBrotherInLaw = "_$!<SonInLawOrBrotherInLaw>!$_"
/// Label of a relation: son-in-law or stepson.
public let CNLabelContactRelationSonInLawOrStepson = "_$!<SonInLawOrStepson>!$_"
/// Label of a relation: spouse.
public let CNLabelContactRelationSpouse = "_$!<Spouse>!$_"
/// Label of a relation: stepbrother.
public let CNLabelContactRelationStepbrother = "_$!<Stepbrother>!$_"
/// Label of a relation: stepchild.
public let CNLabelContactRelationStepchild = "_$!<Stepchild>!$_"
/// Label of a relation: stepdaughter.
public let CNLabelContactRelationStepdaughter = "_$!<Stepdaughter>!$_"
/// Label of a relation: stepfather.
public let CNLabelContactRelationStepfather = "_$!<Stepfather>!$_"
/// Label of a relation: stepmother.
public let CNLabelContactRelationStepmother = "_$!<Stepmother>!$_"
/// Label of a relation: stepparent.
public let CNLabelContactRelationStepparent = "_$!<Stepparent>!$_"
/// Label of a relation: stepsister.
public let CNLabelContactRelationStepsister = "_$!<Stepsister>!$_"
/// Label of a relation: stepson.
public let CNLabelContactRelationStepson = "_$!<Stepson>!$_"
/// Label of a relation: teacher.
public let CNLabelContactRelationTeacher = "_$!<Teacher>!$_"
/// Label of a relation: uncle.
public let CNLabelContactRelationUncle = "_$!<Uncle>!$_"
/// Label of a relation: uncle (father’s brother).
public let CNLabelContactRelationUncleFathersBrother = "_$!<UncleFathersBrother>!$_"
/// Label of a relation: uncle (father’s elder brother).
public let CNLabelContactRelationUncleFathersElderBrother = "_$!<UncleFathersElderBrother>!$_"
/// Label of a relation: uncle (father’s elder sister’s husband).
public let CNLabelContactRelationUncleFathersElderSistersHusband = "_$!<UncleFathersElderSistersHusband>!$_"
/// Label of a relation: uncle (father’s sister’s husband).
public let CNLabelContactRelationUncleFathersSistersHusband = "_$!<UncleFathersSistersHusband>!$_"
/// Label of a relation: uncle (father’s younger brother).
public let CNLabelContactRelationUncleFathersYoungerBrother = "_$!<UncleFathersYoungerBrother>!$_"
/// Label of a relation: uncle (father’s younger sister’s husband).
public let CNLabelContactRelationUncleFathersYoungerSistersHusband = "_$!<UncleFathersYoungerSistersHusband>!$_"
/// Label of a relation: uncle (mother’s brother).
public let CNLabelContactRelationUncleMothersBrother = "_$!<UncleMothersBrother>!$_"
/// Label of a relation: uncle (mother’s elder brother).
public let CNLabelContactRelationUncleMothersElderBrother = "_$!<UncleMothersElderBrother>!$_"
/// Label of a relation: uncle (mother’s sister’s husband).
public let CNLabelContactRelationUncleMothersSistersHusband = "_$!<UncleMothersSistersHusband>!$_"
/// Label of a relation: uncle (mother’s younger brother).
public let CNLabelContactRelationUncleMothersYoungerBrother = "_$!<UncleMothersYoungerBrother>!$_"
/// Label of a relation: uncle (parent’s brother).
public let CNLabelContactRelationUncleParentsBrother = "_$!<UncleParentsBrother>!$_"
/// Label of a relation: uncle (parent’s elder brother).
public let CNLabelContactRelationUncleParentsElderBrother = "_$!<UncleParentsElderBrother>!$_"
/// Label of a relation: uncle (parent’s younger brother).
public let CNLabelContactRelationUncleParentsYoungerBrother = "_$!<UncleParentsYoungerBrother>!$_"
/// Label of a relation: wife.
public let CNLabelContactRelationWife = "_$!<Wife>!$_"
/// Label of a relation: younger brother.
public let CNLabelContactRelationYoungerBrother = "_$!<YoungerBrother>!$_"
/// Label of a relation: younger brother-in-law.
public let CNLabelContactRelationYoungerBrotherInLaw = "_$!<YoungerBrotherInLaw>!$_"
/// Label of a relation: younger cousin.
public let CNLabelContactRelationYoungerCousin = "_$!<YoungerCousin>!$_"
/// Label of a relation: younger cousin (father’s brother’s daughter).
public let CNLabelContactRelationYoungerCousinFathersBrothersDaughter = "_$!<YoungerCousinFathersBrothersDaughter>!$_"
/// Label of a relation: younger cousin (father’s brother’s son).
public let CNLabelContactRelationYoungerCousinFathersBrothersSon = "_$!<YoungerCousinFathersBrothersSon>!$_"
/// Label of a relation: younger cousin (father’s sister’s daughter).
public let CNLabelContactRelationYoungerCousinFathersSistersDaughter = "_$!<YoungerCousinFathersSistersDaughter>!$_"
/// Label of a relation: younger cousin (father’s sister’s son).
public let CNLabelContactRelationYoungerCousinFathersSistersSon = "_$!<YoungerCousinFathersSistersSon>!$_"
/// Label of a relation: younger cousin (mother’s brother’s daughter).
public let CNLabelContactRelationYoungerCousinMothersBrothersDaughter = "_$!<YoungerCousinMothersBrothersDaughter>!$_"
/// Label of a relation: younger cousin (mother’s brother’s son).
public let CNLabelContactRelationYoungerCousinMothersBrothersSon = "_$!<YoungerCousinMothersBrothersSon>!$_"
/// Label of a relation: younger cousin (mother’s sibling’s daughter or father’s sister’s daughter).
public let CNLabelContactRelationYoungerCousinMothersSiblingsDaughterOrFathersSistersDaughter =
    "_$!<YoungerCousinMothersSiblingsDaughterOrFathersSistersDaughter>!$_"
/// Label of a relation: younger cousin (mother’s sibling’s son or father’s sister’s son).
public let CNLabelContactRelationYoungerCousinMothersSiblingsSonOrFathersSistersSon =
    "_$!<YoungerCousinMothersSiblingsSonOrFathersSistersSon>!$_"
/// Label of a relation: younger cousin (mother’s sister’s daughter).
public let CNLabelContactRelationYoungerCousinMothersSistersDaughter = "_$!<YoungerCousinMothersSistersDaughter>!$_"
/// Label of a relation: younger cousin (mother’s sister’s son).
public let CNLabelContactRelationYoungerCousinMothersSistersSon = "_$!<YoungerCousinMothersSistersSon>!$_"
/// Label of a relation: younger cousin (parent’s sibling’s daughter).
public let CNLabelContactRelationYoungerCousinParentsSiblingsDaughter = "_$!<YoungerCousinParentsSiblingsDaughter>!$_"
/// Label of a relation: younger cousin (parent’s sibling’s son).
public let CNLabelContactRelationYoungerCousinParentsSiblingsSon = "_$!<YoungerCousinParentsSiblingsSon>!$_"
/// Label of a relation: younger sibling.
public let CNLabelContactRelationYoungerSibling = "_$!<YoungerSibling>!$_"
/// Label of a relation: younger sibling-in-law.
public let CNLabelContactRelationYoungerSiblingInLaw = "_$!<YoungerSiblingInLaw>!$_"
/// Label of a relation: younger sister.
public let CNLabelContactRelationYoungerSister = "_$!<YoungerSister>!$_"
/// Label of a relation: younger sister-in-law.
public let CNLabelContactRelationYoungerSisterInLaw = "_$!<YoungerSisterInLaw>!$_"
/// Label of a relation: youngest brother.
public let CNLabelContactRelationYoungestBrother = "_$!<YoungestBrother>!$_"
/// Label of a relation: youngest sister.
public let CNLabelContactRelationYoungestSister = "_$!<YoungestSister>!$_"
