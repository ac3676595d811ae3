"""The edge of an HTTP target: requests that no caller of the protocol sends, which must not break a server all the same.

- ``probe`` sends one request as it is, and says what came; ``judging`` says what is wrong with that.
- ``generated`` lets schemathesis make requests from the derived OpenAPI document, in a process of its own.
"""
