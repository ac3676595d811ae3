"""The stateful model: a walk over all operations that drives a target and the bundled oracle together.

The oracle is the model. It is deterministic once it is told what the contract leaves to a provider, and it is told by the target:

- ``model``: the oracle's steps over a state of their own. New objects get the ids that the target gave them, so that requests,
  receipts and digests are the very same on both sides; limits and versions are those that the target announces; what is pending
  there is pending here.
- ``freedom``: the table of all that is left open, each row with its sentence; ``reasons`` finds what else a refusal with two
  reasons may tell, by the tables of ``violations`` and of ``callers``, each of ``conditions``; ``overdue`` issues what is expired
  from the start; ``comparison`` compares what is left.
- ``duo`` sends one call to both and judges the answer; ``chains`` judges pages, ``parcels`` exports, ``together`` calls at once.
- ``stage`` is what an episode plays on: two spaces, several principals, names; ``acts`` is the table of what can be done next;
  ``walk`` plays an episode from a seed; ``shorten`` makes a finding's episode short.
- ``coverage`` is the exact model of what grants authorise, apart from the oracle; ``blames`` names the rule that a disagreement
  breaks; ``behaviour`` says what was seen, for guidance.
- ``stateful`` is the same table of acts as a hypothesis ``RuleBasedStateMachine``.
"""
