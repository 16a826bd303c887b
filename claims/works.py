"""How each work was read for the ledger: in full, through its code, or through what others say of it."""

IN_FULL = "read in full"
IN_PART = "read in part"
CODE = "through released code"
ABSTRACT = "through the abstract"
QUOTED = "second-hand"

# The first part of a claim's id -> how its work was read, and what that means.
READ = {
    "wang24": (IN_FULL, "the article with its appendix, and the released code unifiedamplification.py"),
    "ccg24": (
        IN_FULL,
        "the conference paper's full version and arXiv v1, whose formulas are damaged in places; the "
        "released code Shuffled-SGD.py",
    ),
    "gspa24": (IN_FULL, "the paper with its appendix"),
    "wsys23": (
        IN_PART,
        "the appendix in full, and the abstract; the main text as the appendix proves or cites it",
    ),
    "scw25": (CODE, "the released code and the abstract"),
    "khh23": (CODE, "the released code and the numbers stored with it"),
    "echo23": (CODE, "the released code"),
    "hps24": (CODE, "the released code"),
    "balle19": (CODE, "the released code; Lemma 5.3 is proved anew here"),
    "tl26": (ABSTRACT, "the abstract, and a second-hand note of the theorems; formulas are derived anew"),
    "lt26": (ABSTRACT, "the abstract"),
    "sh26": (ABSTRACT, "the abstracts"),
    "su25": (ABSTRACT, "the abstract"),
    "efmrtt19": (QUOTED, "as in the code released with Balle, Bell, Gascon, Nissim (2019)"),
    "fmt21": (QUOTED, "as cited by Chen, Cao, Ge (2024), and two released codes"),
    "fmt23": (
        QUOTED,
        "the authors' erratum on arXiv; theorems as in two released codes and as cited by Wang (2024)",
    ),
    "girgis21": (
        QUOTED,
        "as cited by Chen, Cao, Ge (2024), and as in the codes released with Liu et al. (2024) and "
        "Koskela et al. (2023)",
    ),
    "mironov17": (QUOTED, "a standard result, as cited by Chen, Cao, Ge (ICASSP 2024)"),
    "canonne20": (QUOTED, "a standard result; its text was not at hand"),
    "dong22": (QUOTED, "as cited by Wang, Su, Ye, Shokri, Su (2023) and Chen, Cao, Ge (2024)"),
    "kov15": (QUOTED, "as cited by Chen, Cao, Ge (AAAI 2024)"),
    "drv10": (QUOTED, "a standard result; its text was not at hand"),
}


def how(claim):
    """Return in words how the work of a claim was read.

    Parameters
    ----------
    claim : Claim
        Of the ledger, or of one's own: then nothing is known.
    """
    return ": ".join(READ.get(claim.id.split("-")[0], ()))
