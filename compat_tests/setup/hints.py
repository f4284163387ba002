"""Prints what to try with a broker that listens on the address given."""

from __future__ import annotations

import sys

HINTS = """
kproto will listen on {listen} until Ctrl-C. In another terminal:

    . .venv/bin/activate
    kproto topic create flights --partitions 12 --bootstrap {listen}
    seq 1000 | kproto produce flights --bootstrap {listen}
    kproto consume flights --from-beginning --bootstrap {listen}
    kproto topic describe flights --bootstrap {listen}
    kcat -b {listen} -L                # or any other Kafka client

    make flights                       # a real data set through the broker into Spark
    make test                          # every test, stock clients included
"""


def main() -> None:
    print(HINTS.format(listen=sys.argv[1]), flush=True)


if __name__ == "__main__":
    main()
