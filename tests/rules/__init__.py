"""One directed test for each replication rule: what happens, and what goes wrong without the rule.

Every story here runs twice: as the product is, and with the rule taken out (``tests.sim.mutations``). The
second time an invariant must be seen broken, so that no story can pass without looking. May import the worlds
of the other test folders.
"""
