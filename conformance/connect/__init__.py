"""SPOKE connect envelopes (version 0.11.1): who a peer is, what it signs, and what the other side believes of it.

- ``identity``: an Ed25519 key, the peer id that it makes, signatures over RFC 8785 forms.
- ``envelopes``: hello, session, invoke request and response: their members, which of them are signed, and how each is checked.
"""
