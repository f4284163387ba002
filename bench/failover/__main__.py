"""`python -m bench.failover`, as `kproto bench failover`."""

from bench.failover.command import command

command()
