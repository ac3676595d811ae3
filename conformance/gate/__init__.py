"""The schema gate: what a change of the contract really changes.

- ``revisions`` finds the two bundles; ``sides`` puts them into one registry; ``kinship`` says which types there are and who
  relies on each of them in which direction.
- ``forms`` and ``normal`` bring a schema to a plain form in which equivalent writings look alike; ``demands`` lists, keyword by
  keyword, what one form demands beyond another; ``witnesses`` finds for each demand the smallest instance that tells the two
  apart, or shows that there is none.
- ``comparison`` composes these into an ``outcome``; ``table_changes`` does the same for the tables of operations and errors.
- ``conventions`` and ``reachability`` look at one bundle alone; ``suite_effect`` and ``transcripts`` at what a change does to
  this suite.
"""
