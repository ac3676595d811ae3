"""The command ``fuzz``: the walk of ``conformance.machine``, for as long as it is let, on as many workers as it gets.

``order`` says what is wanted, ``work`` is a worker's loop, ``crew`` the workers together, ``findings`` what they found (merged,
reduced, saved), ``corpus`` the folder that a later run goes on from, ``figures`` what a person sees meanwhile.
"""
