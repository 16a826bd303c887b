"""Any words on the command line give an answer, or one line that says what is wrong."""

from hypothesis import example, given
from hypothesis import strategies as st

from fuzz_answers import examples
from fuzz_profiles import QUESTIONS
from shufflelib.__main__ import main

WORDS = st.one_of(
    st.sampled_from(
        ("epsilon", "delta", "renyi", "calibrate", "eps0", "users", "rounds", "--n", "--eps", "--delta")
    ),
    st.sampled_from(("--randomizer", "generic", "binary-rr", "generalized-rr", "laplace", "--d", "--eps0")),
    st.sampled_from(
        ("--json", "--order", "--rounds", "--k", "-1", "0", "1", "10", "0.5", "2", "1e3", "1e-6")
    ),
    st.sampled_from(
        ("nan", "inf", "-inf", "1e400", "9" * 400, "0x10", "1_000", "", " ", "\0", "é", "--", "-")
    ),
    st.text(max_size=6),
)


def run(capsys, argv):
    """Return the status, and what was printed on either stream."""
    status = main(argv)
    return status, *capsys.readouterr()


def check_command(capsys, argv):
    status, out, err = run(capsys, argv)
    assert status in (0, 2), argv
    if status == 2:
        assert out == "" and err.startswith("shufflelib") and err.count("\n") == 1, (argv, err)
    else:
        assert err == "" and "nan" not in out.split(), (argv, out)


@examples("routes", 2.0, 12)
@given(st.lists(WORDS, max_size=10))
@example(["epsilon", "--randomizer", "generic", "--eps0", "9" * 400, "--n", "10", "--delta", "0.1"])
@example(["epsilon", "--randomizer", "generic", "--eps0", "1", "--n", "9" * 5000, "--delta", "0.1"])
@example(["--randomizer"])
def test_any_words_give_an_answer_or_one_line(capsys, words):
    check_command(capsys, words)


@examples("routes", 2.0, 12)
@given(
    st.sampled_from(("epsilon", "delta", "renyi")),
    st.sampled_from(("generic", "binary-rr", "generalized-rr")),
    WORDS,
    WORDS,
    WORDS,
)
def test_any_values_give_an_answer_or_one_line(capsys, quantity, randomizer, eps0, n, value):
    question = QUESTIONS[quantity]
    check_command(
        capsys,
        [
            quantity,
            f"--randomizer={randomizer}",
            f"--eps0={eps0}",
            f"--n={n}",
            f"--{question}={value}",
            "--d=4",
        ][: 6 if randomizer == "generalized-rr" else 5],
    )
