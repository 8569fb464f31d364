// More of Apple’s labels for relations. They are in a separate file, because a file may have at most 400
// lines.

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
