"""How each work was read for the ledger, and in which version; titles, arXiv numbers, other numberings."""

import re
from collections import Counter
from typing import NamedTuple

IN_FULL = "read in full"
IN_PART = "read in part"
CODE = "through released code"
ABSTRACT = "through the abstract"
QUOTED = "second-hand"

# The first part of a claim's id -> the year of its work, how it was read, and what that means.
READ = {
    "wang24": (
        2024,
        IN_FULL,
        "the article with its appendix, in an arXiv text by Wang alone that is older than v5, and the "
        "released code unifiedamplification.py; of the text with the PVLDB numbering only the released "
        "appendix.pdf of 2 October 2023; the code for rounds of October 2024, read and not run; of the paper "
        "about that, Applied Sciences 15(3), 1595 (2025), only the abstract and the outline",
    ),
    "ccg24": (
        2024,
        IN_FULL,
        "the conference paper's full version and arXiv v1, whose formulas are damaged in places; the "
        "released code Shuffled-SGD.py",
    ),
    "gspa24": (
        2024,
        IN_FULL,
        "the paper with its appendix, in a text that names no version; arXiv has v3 of 1 March 2024",
    ),
    "wsys23": (
        2023,
        IN_PART,
        "the appendix in full, and the abstract; the main text as the appendix proves or cites it",
    ),
    "abhc26": (2026, ABSTRACT, "the abstract, in versions 2 and 3"),
    "ed26": (
        2026,
        ABSTRACT,
        "the abstract, and the function of the released code that draws Appendix F; Theorem 6.1 by the "
        "authors' later works",
    ),
    "de26": (
        2026,
        ABSTRACT,
        "the abstract of version 2, and what a later work of the authors says of version 3, whose title has "
        "random allocation in place of random shuffling; formulas are derived anew",
    ),
    "ev26": (
        2026,
        IN_PART,
        "the main text, Appendices B.3 to C.2 and F to H, and tables of Appendix E, in a public copy of the "
        "text without its figures",
    ),
    "scw25": (2025, CODE, "the released code and the abstract"),
    "khh23": (2023, CODE, "the released code and the numbers stored with it"),
    "echo23": (2023, CODE, "the released code"),
    "hps24": (
        2024,
        CODE,
        "the released code, the abstract and the first lines of the introduction of arXiv v1; of the rest no "
        "stored copy could be had",
    ),
    "balle19": (2019, CODE, "the released code; Lemma 5.3 is proved anew here"),
    "tl26": (
        2026,
        ABSTRACT,
        "the abstract and the first lines of the introduction, v1 and v3, and a second-hand note of the "
        "theorems of v4; formulas are derived anew; of the rest no stored copy could be had",
    ),
    "lt26": (2026, ABSTRACT, "the abstract; the text is public, and only its beginning could be had"),
    "sh26": (2026, ABSTRACT, "the abstracts"),
    "sg26": (
        2026,
        ABSTRACT,
        "the abstracts of v1 and v2; formulas are derived anew; the text is public and was not read",
    ),
    "sa26": (2026, ABSTRACT, "the abstract; formulas are derived anew; the text is public and was not read"),
    "su25": (2025, ABSTRACT, "the abstract"),
    "su25b": (2025, ABSTRACT, "the abstract; the text is public, and only its beginning could be had"),
    "su26": (2026, ABSTRACT, "the abstract, as others list it; the text could not be had"),
    "mse25": (2025, CODE, "the abstract and the released code; the text is public and was not read"),
    "acp25": (2025, ABSTRACT, "the abstract but for its end; the text is public and was not read"),
    "li26": (2026, ABSTRACT, "the abstract; the text is public and was not read"),
    "efmrtt19": (2019, QUOTED, "as in the code released with Balle, Bell, Gascon, Nissim (2019)"),
    "fmt21": (2021, QUOTED, "as cited by Chen, Cao, Ge (2024), and two released codes"),
    "fmt23": (
        2023,
        IN_PART,
        "the first page of the later text on arXiv, which is the authors' erratum; theorems as in two "
        "released codes and as cited by Wang (2024)",
    ),
    "girgis21": (
        2021,
        QUOTED,
        "as cited by Chen, Cao, Ge (2024), and as in the codes released with Liu et al. (2024) and Koskela"
        " et al. (2023)",
    ),
    "mironov17": (2017, QUOTED, "a standard result, as cited by Chen, Cao, Ge (ICASSP 2024)"),
    "canonne20": (2020, QUOTED, "a standard result; its text was not at hand"),
    "dong22": (2022, QUOTED, "as cited by Wang, Su, Ye, Shokri, Su (2023) and Chen, Cao, Ge (2024)"),
    "kov15": (2015, QUOTED, "as cited by Chen, Cao, Ge (AAAI 2024)"),
    "drv10": (2010, QUOTED, "a standard result; its text was not at hand"),
    "enpa": (2021, IN_FULL, "the white paper; of the code the Android client"),
    "dap": (
        2025,
        IN_PART,
        "the sections on clients' noise and on neighbours, and the table of the histogram",
    ),
    "cobalt": (2024, CODE, "the registry of reports and the generator of dummies"),
    "nebula": (2024, CODE, "the client, and the issue that introduces it"),
    "attribution": (2022, IN_PART, "the passages on noise"),
    "cms17": (2017, QUOTED, "as quoted by the public registry of deployments"),
    "newtab": (2025, CODE, "the client's function"),
    "scenes": (2023, QUOTED, "as quoted by the public registry of deployments"),
    "windows17": (2017, QUOTED, "as quoted by the public registry of deployments"),
}


class Work(NamedTuple):
    """Title and arXiv number of a work; with the version where one is meant."""

    title: str
    arxiv: str


# The works of `claims.items` and of `claims.years`, by the first part of a claim's id.
LISTED = {
    "wang24": Work(
        "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened", "2304.05007 before v5"
    ),
    "ccg24": Work(
        "Rényi Differential Privacy in the Shuffle Model: Enhanced Amplification Bounds", "2401.04306v1"
    ),
    "gspa24": Work(
        "A Generalized Shuffle Framework for Privacy Amplification: Strengthening Privacy Guarantees and "
        "Enhancing Utility",
        "2312.14388",
    ),
    "wsys23": Work(
        "Unified Enhancement of Privacy Bounds for Mixture Mechanisms via f-Differential Privacy", ""
    ),
    "balle19": Work("The Privacy Blanket of the Shuffle Model", "1903.02837"),
    "fmt21": Work(
        "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy Amplification by Shuffling",
        "2012.12803",
    ),
    "fmt23": Work(
        "Stronger Privacy Amplification by Shuffling for Rényi and Approximate Differential Privacy",
        "2208.04591",
    ),
    "scw25": Work("Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling", "2504.07414"),
    "hps24": Work("Enhanced Privacy Bound for Shuffle Model with Personalized Privacy", "2407.18157v1"),
    "tl26": Work("Analysis of Shuffling Beyond Pure Local Differential Privacy", "2601.19154v4"),
    "lt26": Work("Shuffling-Aware Optimization for Private Vector Mean Estimation", "2604.28032v1"),
    "sh26": Work(
        "Fixed-Composition Shuffle Asymptotics in the Full-Support Gaussian Regime; Universal Shuffle "
        "Asymptotics, Part II",
        "2602.09029v5; 2603.10073",
    ),
    "sg26": Work(
        "Growing Alphabets in Canonical Shuffle Experiments: Likelihood-Ratio Laws, Estimation Bounds, and "
        "Low-Budget Equivariant Design",
        "2603.18080v2",
    ),
    "sa26": Work(
        "Anchored Likelihood-Ratio Geometry of Anonymous Shuffle Experiments: Exact Privacy Envelopes and "
        "Universal Low-Budget Design",
        "2603.21197v1",
    ),
    "su25": Work("Mutual Information Bounds in the Shuffle Model", "2511.15051v1"),
    "su25b": Work("Bayesian Advantage of Re-Identification Attack in the Shuffle Model", "2511.03213v1"),
    "su26": Work("Which Privacy Blanket is Optimal in the Shuffle Model?", ""),
    "mse25": Work(
        "Augmented Shuffle Protocols for Accurate and Robust Frequency Estimation under Differential Privacy",
        "2504.07362",
    ),
    "acp25": Work("Enhancing Metric Privacy With a Shuffler", ""),
    "li26": Work(
        "Robust Single-message Shuffle Differential Privacy Protocol for Accurate Distribution Estimation",
        "2603.05073v1",
    ),
    "abhc26": Work("To Shuffle or not to Shuffle: Auditing DP-SGD with Shuffling", "2411.10614v3"),
    "ed26": Work(
        "Fundamental Limitations of Favorable Privacy-Utility Guarantees for DP-SGD", "2601.10237v1"
    ),
    "de26": Work(
        "Trade-off Functions for DP-SGD with Subsampling based on Random Shuffling: Tight Upper and Lower "
        "Bounds",
        "2605.06259v2",
    ),
    "ev26": Work(
        "Closed-Form Noise Calibration Against Membership Inference for Random-Allocation DP-SGD",
        "2610.09651",
    ),
    "enpa": Work("Exposure Notification Privacy-preserving Analytics (ENPA)", ""),
    "dap": Work("Differential Privacy Mechanisms for DAP", ""),
    "cobalt": Work("AdServices' registry of Cobalt", ""),
    "nebula": Work("Nebula, issue 35841 of brave-browser", ""),
    "attribution": Work("Attribution Reporting with event-level reports", ""),
    "cms17": Work("Learning with Privacy at Scale", ""),
    "newtab": Work("Firefox, TelemetryFeed.sys.mjs", ""),
    "scenes": Work("Learning Iconic Scenes with Differential Privacy", ""),
    "windows17": Work("Collecting Telemetry Data Privately", ""),
}

# Numbers of the text that was read -> those of the text as published in PVLDB, by its released appendix.
PVLDB = {
    "Theorem 4.2": "Theorem 4.7",
    "Lemma 4.3": "Lemma 4.4",
    "Lemma 4.4": "Lemma 4.5",
    "Lemma 4.5": "Lemma 4.6",
    "Theorem 4.6": "Theorem 4.8",
    "Theorem 4.7": "Theorem 4.2",
    "Theorem 4.8": "Theorem 4.3",
    "Proposition 1": "Proposition I.1",
    "Table 5": "Table 6",
}


def how(claim):
    """Return in words how the work of a claim was read.

    Parameters
    ----------
    claim : Claim
        Of the ledger, or of one's own: then nothing is known.
    """
    return ": ".join(READ.get(claim.id.split("-")[0], ())[1:])


def cited(claims):
    """Return how the claims of one work name it: authors, place and year, without the theorem.

    Parameters
    ----------
    claims : iterable of Claim
        Of one work; if their sources differ, what most of them say.
    """
    return Counter("".join(claim.source.partition(")")[:2]) for claim in claims).most_common(1)[0][0]


def published(claim):
    """Return in words what the numbers in a claim's source are in PVLDB, or nothing where they are the same.

    Parameters
    ----------
    claim : Claim
        Of the ledger, or of one's own: then nothing is known.
    """
    numbers = re.findall(r"(?:Theorem|Lemma|Proposition|Table) \d+(?:\.\d+)?", claim.source)
    moved = [f"{old} is {PVLDB[old]} in PVLDB 2024" for old in numbers if old in PVLDB]
    return "; ".join(moved) if claim.id.startswith("wang24-") else ""


def year(claim):
    """Return the year in which the work of a claim appeared, or 0 if it is unknown.

    Parameters
    ----------
    claim : Claim
        Of the ledger, or of one's own: then nothing is known.
    """
    return READ.get(claim.id.split("-")[0], (0,))[0]
