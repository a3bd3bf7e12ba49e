"""docs/results/node-article.md says what the ledger and the published verdicts say."""

from scripts import script

BENCH = script("node_article")


def test_the_page_counts_the_ledgers_verdicts_and_has_its_entries() -> None:
    lines = BENCH.PAGE.read_text().splitlines()
    assert BENCH.tally() in lines
    assert "<!-- generated: node-article -->" in lines


def test_each_entry_has_a_verdict_or_says_what_it_wants() -> None:
    rows = [line for line in BENCH.entries() if line.startswith("| ") and not line.startswith(("| id", "| --"))]
    assert len(rows) >= 60
    for row in rows:
        *_, verdict, figure, by = row.strip("| ").split(" | ")
        assert by, row
        assert verdict != "undecided" or figure != "–", row


def test_what_a_campaign_said_is_read_whole() -> None:
    printed = """A title
  H01  direction only Handshake; h3 lower than h2; -60 %; network
home
       “A sentence
of the source.” (Key Insights)
       measured: -48.5 % (95 %: -49.0 % to
-48.0 %), from 8 blocks; p 0.0078
  H02a undecided      Handshake
       “Another.” (There)

2 claims: 1 direction only, 1 undecided
"""
    found = dict(BENCH.verdicts_of("handshakes", printed))
    assert found["H01"] == BENCH.Measured("handshakes", "direction only", "-48.5 % (-49.0 % to -48.0 %)")
    assert found["H02a"] == BENCH.Measured("handshakes", "undecided", "")
