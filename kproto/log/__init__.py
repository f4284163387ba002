"""A partition on its leader: streams, streamlets, groups of segments, and everything that is folded from
their chunks.

May import ``errors check clock trouble disk directory memory config wire metadata``; calls upwards are the
Protocols in ``ports``.

- A produced batch: `manager` (finds the partition) -> `partition` (``append``) -> `checks`, `producers`
  (may it be appended?) -> `blocks` (memory) -> `segment` (``flush``: the file) with its `index`; ``chunk``
  is the reference the virtual log gets. `flushing` says when that is written to files, `due` how much in one
  turn of the event loop; `checkpointing` when the checkpoint is told. `retention` rolls nothing but drops
  groups; `trash` removes their files. `scrubbing` reads closed files again, `unused` finds those of
  partitions that are not open.
- A fetched batch: `partition` (``read``) -> `reader` (pieces from blocks and files). By time: `times`, in
  `line`. By epoch: `epochs`.
- A start: `checkpoint` -> `opening` (files first, then journal chunks, `kept_producers`), per partition on
  first use; what no synced journal has is synced before anybody uses it. A partition with several copies:
  `adopting` (sealed state, files that agree with it, as their indexes and the checkpoint tell, last chunks).
  `leadership` says which may be opened here, `unopened` what is known of them before.
- `stream`: a topic with open partitions; `by_topic`: tables from which a deleted topic goes at once; `files`:
  names and descriptors; `above`: the directories that partitions share.

Compaction is not built; it will rewrite closed groups (a new generation of the same group) beside
`retention`.
"""
