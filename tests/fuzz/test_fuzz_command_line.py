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


QUESTION = st.builds(
    lambda quantity, randomizer, eps0, n, value: [
        quantity,
        f"--randomizer={randomizer}",
        f"--eps0={eps0}",
        f"--n={n}",
        f"--{QUESTIONS[quantity]}={value}",
        *["--d=4"] * (randomizer == "generalized-rr"),
    ],
    st.sampled_from(("epsilon", "delta", "renyi")),
    st.sampled_from(("generic", "binary-rr", "generalized-rr")),
    *[WORDS] * 3,
)


@examples("routes", 4.0, 12)
@given(st.one_of(st.lists(WORDS, max_size=10), QUESTION))
@example(["epsilon", "--randomizer", "generic", "--eps0", "9" * 400, "--n", "10", "--delta", "0.1"])
@example(["epsilon", "--randomizer", "generic", "--eps0", "1", "--n", "9" * 5000, "--delta", "0.1"])
@example(["--randomizer"])
def test_any_words_give_an_answer_or_one_line(capsys, words):
    status = main(words)
    out, err = capsys.readouterr()
    assert status in (0, 2)
    if status == 2:
        assert out == "" and err.startswith("shufflelib") and err.count("\n") == 1, err
    else:
        assert err == "" and "nan" not in out.split(), out
