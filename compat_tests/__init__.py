"""Real clients against a real broker.

``test_<client>.py`` runs one client family's workload; the other tests have a subject each:
``test_groups.py`` consumer groups across clients, ``test_group_storage.py`` what is stored of them,
``test_group_garbage.py`` that it goes again; ``test_crash.py`` kills the broker under load,
``test_cluster.py`` those of a cluster, ``test_black_box.py`` searches for Jepsen's anomalies meanwhile,
``test_copies.py`` compares what they stored, ``test_power_loss.py``, ``test_lost_disks.py``,
``test_damaged_journal.py``, ``test_damaged_files.py``, ``test_stale_journal.py`` and ``test_alone.py`` take
something from them; ``test_moves.py``, ``test_number_of_copies.py``, ``test_numbers_of_copies.py`` (different
ones in one topic) and ``test_one_copy.py`` move partitions under load, ``test_moving_tools.py`` by Apache
Kafka's tools; ``test_cut_links.py`` cuts the network between brokers; ``test_hostile.py``,
``test_full_disk.py`` and ``test_descriptors.py`` hurt a single one, ``test_wire_reference.py`` compares its
raw answers with Apache Kafka's. ``test_cli.py`` calls ``kproto`` as its users do, ``test_bench_*.py`` look at
what ``kproto bench`` counts. ``spark/`` is Spark's part, ``black_box/`` Jepsen's. ``support/`` holds what
they share, ``java/`` and ``go/`` the two programs of ours that drive the Java client and franz-go, ``setup/``
what the Makefile calls.

The broker under test is ``kproto serve`` in a subprocess, or with ``--target kafka`` Apache Kafka
(the reference: what a test demands must hold there too), or with
``KPROTO_COMPAT_BOOTSTRAP=host:port`` what runs there. Tests marked ``owns_broker`` start and kill one
of their own, so they need one of the first two; ``kproto_only`` says what it says.

May import the standard library, numpy, the clients, bench and kproto; frames that are damaged on purpose are
built by hand (``support/frames.py``), so that a mistake in kproto's codecs cannot hide itself.
"""
