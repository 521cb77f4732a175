"""A decision service: experiments over HTTP, each decision durable, with its exact probability, before it is answered.

The log in the store is the truth. Every process keeps a `Replica` of each experiment in memory, decides with it, and
learns every reward from the log, its own too; keys of the store settle what counts once. docs/service.md says what is
promised, and docs/design.md where to find it.
"""
