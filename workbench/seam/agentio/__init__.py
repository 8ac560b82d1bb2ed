"""``AgentIO``: the one seam of an agent's own loop, with a sync twin.

``protocols`` says what an agent may ask for, ``io`` passes it over the seam, ``making`` builds the
kinds of io that people use; ``stack`` takes a call through the sessions of several of them.
"""
