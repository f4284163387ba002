"""The table of all APIs this broker serves; ApiVersions is derived from it.

A handler's module is imported on the first request that needs it, so that starting a broker does not pay
for APIs nobody calls; that is why the version ranges stand here and not only in the modules. Loading
checks that both agree, a test loads them all.
"""

from importlib import import_module
from typing import Final, NamedTuple

from kproto.check import check
from kproto.handlers.context import Handler


class Api(NamedTuple):
    """One row. ``advertised_min`` differs from ``min_version`` only for Produce (KAFKA-18659)."""

    key: int
    module: str
    min_version: int
    max_version: int
    advertised_min: int


def _api(key: int, module: str, min_version: int, max_version: int, advertised_min: int | None = None) -> Api:
    advertised = min_version if advertised_min is None else advertised_min
    return Api(key, "kproto.handlers." + module, min_version, max_version, advertised)


APIS: Final[dict[int, Api]] = {
    api.key: api
    for api in (
        _api(0, "produce", 3, 13, advertised_min=0),
        _api(1, "fetch", 4, 18),
        _api(2, "list_offsets", 1, 11),
        _api(3, "metadata", 0, 13),
        _api(8, "groups.offset_commit", 2, 10),
        _api(9, "groups.offset_fetch", 1, 10),
        _api(10, "groups.find_coordinator", 0, 6),
        _api(11, "groups.join_group", 0, 9),
        _api(12, "groups.heartbeat", 0, 4),
        _api(13, "groups.leave_group", 0, 5),
        _api(14, "groups.sync_group", 0, 5),
        _api(15, "groups.describe_groups", 0, 6),
        _api(16, "groups.list_groups", 0, 5),
        _api(18, "api_versions", 0, 4),
        _api(19, "admin.create_topics", 2, 7),
        _api(20, "admin.delete_topics", 1, 6),
        _api(21, "admin.delete_records", 0, 2),
        _api(22, "init_producer_id", 0, 5),
        _api(23, "offset_for_leader_epoch", 2, 4),
        _api(29, "admin.describe_acls", 1, 3),
        _api(30, "admin.create_acls", 1, 3),
        _api(31, "admin.delete_acls", 1, 3),
        _api(32, "admin.describe_configs", 1, 4),
        _api(33, "admin.alter_configs", 0, 2),
        _api(34, "admin.alter_replica_log_dirs", 1, 2),
        _api(35, "admin.describe_log_dirs", 1, 5),
        _api(37, "admin.create_partitions", 0, 3),
        _api(42, "groups.delete_groups", 0, 2),
        _api(43, "admin.elect_leaders", 0, 2),
        _api(44, "admin.incremental_alter_configs", 0, 1),
        _api(45, "admin.alter_partition_reassignments", 0, 1),
        _api(46, "admin.list_partition_reassignments", 0, 0),
        _api(47, "groups.offset_delete", 0, 0),
        _api(60, "admin.describe_cluster", 0, 2),
        _api(64, "admin.unregister_broker", 0, 0),
        _api(75, "admin.describe_topic_partitions", 0, 0),
    )
}

_loaded: dict[int, Handler] = {}


def handler(key: int) -> Handler | None:
    """The handler of an API key, imported on first use; None when the key is not served."""
    found = _loaded.get(key)
    if found is None and (api := APIS.get(key)) is not None:
        found = import_module(api.module).HANDLER
        served = (found.key, found.min_version, found.max_version)
        agrees = served == (api.key, api.min_version, api.max_version)
        check(agrees, f"{api.module} and the registry disagree about key or versions; which one changed?")
        _loaded[key] = found
    return found
