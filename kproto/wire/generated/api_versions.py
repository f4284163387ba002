"""ApiVersions: API key 18, versions 0-4. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    bad_tag,
    count_tags,
    more,
    new,
    read_uvarint,
    skip_tags,
    uvarint,
)

p_t = Struct(">?").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hhh = Struct(">hhh").pack
p_hhhx = Struct(">hhhx").pack
p_hhx = Struct(">hhx").pack
p_hi = Struct(">hi").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_q = Struct(">q").pack
u_hB = Struct(">hB").unpack_from
u_hhB = Struct(">hhB").unpack_from
u_hhh = Struct(">hhh").unpack_from
u_hhhB = Struct(">hhhB").unpack_from
u_hi = Struct(">hi").unpack_from
u_i = Struct(">i").unpack_from
u_q = Struct(">q").unpack_from


class ApiVersionsRequest(WireStruct):
    __slots__ = ('client_software_name', 'client_software_version',)
    client_software_name: str
    client_software_version: str

    def __init__(
        self,
        client_software_name: str = '',
        client_software_version: str = '',
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version


def parse_request_v0(buf: Buf, pos: int) -> tuple[ApiVersionsRequest, int]:
    m = new(ApiVersionsRequest)
    m.client_software_name = ''
    m.client_software_version = ''
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[ApiVersionsRequest, int]:
    m = new(ApiVersionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.client_software_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ApiVersionsRequest.client_software_name')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.client_software_version = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ApiVersionsRequest.client_software_version')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v0,
    3: parse_request_v3,
    4: parse_request_v3,
}


def write_request_v0(m: ApiVersionsRequest, out: bytearray) -> None:
    pass


def write_request_v3(m: ApiVersionsRequest, out: bytearray) -> None:
    b = m.client_software_name.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.client_software_version.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v3,
}


class ApiVersion(WireStruct):
    __slots__ = ('api_key', 'min_version', 'max_version',)
    api_key: int
    min_version: int
    max_version: int

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version


class SupportedFeatureKey(WireStruct):
    __slots__ = ('name', 'min_version', 'max_version',)
    name: str
    min_version: int
    max_version: int

    def __init__(
        self,
        name: str = '',
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version


class FinalizedFeatureKey(WireStruct):
    __slots__ = ('name', 'max_version_level', 'min_version_level',)
    name: str
    max_version_level: int
    min_version_level: int

    def __init__(
        self,
        name: str = '',
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level


class ApiVersionsResponse(WireStruct):
    __slots__ = ('error_code', 'api_keys', 'throttle_time_ms', 'supported_features', 'finalized_features_epoch', 'finalized_features', 'zk_migration_ready',)
    error_code: int
    api_keys: list[ApiVersion]
    throttle_time_ms: int
    supported_features: list[SupportedFeatureKey]
    finalized_features_epoch: int
    finalized_features: list[FinalizedFeatureKey]
    zk_migration_ready: bool

    def __init__(
        self,
        error_code: int = 0,
        api_keys: list[ApiVersion] = EMPTY,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = EMPTY,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = EMPTY,
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = [] if api_keys is EMPTY else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = [] if supported_features is EMPTY else supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = [] if finalized_features is EMPTY else finalized_features
        self.zk_migration_ready = zk_migration_ready


def parse_response_v0(buf: Buf, pos: int) -> tuple[ApiVersionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ApiVersionsResponse)
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ApiVersionsResponse.api_keys', n)
        m.api_keys = a1 = []
        for _ in range(n):
            m1 = new(ApiVersion)
            a1.append(m1)
            m1.api_key, m1.min_version, m1.max_version = u_hhh(buf, pos)
            pos += 6
    else:
        raise bad_length('ApiVersionsResponse.api_keys')
    m.throttle_time_ms = 0
    m.supported_features = []
    m.finalized_features_epoch = -1
    m.finalized_features = []
    m.zk_migration_ready = False
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[ApiVersionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ApiVersionsResponse)
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ApiVersionsResponse.api_keys', n)
        m.api_keys = a1 = []
        for _ in range(n):
            m1 = new(ApiVersion)
            a1.append(m1)
            m1.api_key, m1.min_version, m1.max_version = u_hhh(buf, pos)
            pos += 6
    else:
        raise bad_length('ApiVersionsResponse.api_keys')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.supported_features = []
    m.finalized_features_epoch = -1
    m.finalized_features = []
    m.zk_migration_ready = False
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[ApiVersionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ApiVersionsResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('ApiVersionsResponse.api_keys', n)
        m.api_keys = a1 = []
        for _ in range(n):
            m1 = new(ApiVersion)
            a1.append(m1)
            m1.api_key, m1.min_version, m1.max_version, n = u_hhhB(buf, pos)
            pos += 7
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ApiVersionsResponse.api_keys')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.supported_features = []
    m.finalized_features_epoch = -1
    m.finalized_features = []
    m.zk_migration_ready = False
    n = buf[pos]
    pos += 1
    if n:
        if n > 127:
            n, pos = count_tags(buf, pos, n)
        for _ in range(n):
            tag1, pos = read_uvarint(buf, pos)
            n, pos = read_uvarint(buf, pos)
            end1 = pos + n
            if tag1 == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 6 > size - pos:
                        raise bad_count('ApiVersionsResponse.supported_features', n)
                    m.supported_features = a1 = []
                    for _ in range(n):
                        m1 = new(SupportedFeatureKey)
                        a1.append(m1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m1.name = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('ApiVersionsResponse.name')
                        m1.min_version, m1.max_version, n = u_hhB(buf, pos)
                        pos += 5
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('ApiVersionsResponse.supported_features')
                if pos != end1:
                    raise bad_tag('ApiVersionsResponse.supported_features')
            elif tag1 == 1:
                m.finalized_features_epoch = u_q(buf, pos)[0]
                pos += 8
                if pos != end1:
                    raise bad_tag('ApiVersionsResponse.finalized_features_epoch')
            elif tag1 == 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 6 > size - pos:
                        raise bad_count('ApiVersionsResponse.finalized_features', n)
                    m.finalized_features = a1 = []
                    for _ in range(n):
                        m1 = new(FinalizedFeatureKey)
                        a1.append(m1)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m1.name = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('ApiVersionsResponse.name')
                        m1.max_version_level, m1.min_version_level, n = u_hhB(buf, pos)
                        pos += 5
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('ApiVersionsResponse.finalized_features')
                if pos != end1:
                    raise bad_tag('ApiVersionsResponse.finalized_features')
            elif tag1 == 3:
                m.zk_migration_ready = buf[pos] != 0
                pos += 1
                if pos != end1:
                    raise bad_tag('ApiVersionsResponse.zk_migration_ready')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v1,
    3: parse_response_v3,
    4: parse_response_v3,
}


def write_response_v0(m: ApiVersionsResponse, out: bytearray) -> None:
    a1 = m.api_keys
    n = len(a1)
    out += p_hi(m.error_code, n)
    for m1 in a1:
        out += p_hhh(m1.api_key, m1.min_version, m1.max_version)


def write_response_v1(m: ApiVersionsResponse, out: bytearray) -> None:
    a1 = m.api_keys
    n = len(a1)
    out += p_hi(m.error_code, n)
    for m1 in a1:
        out += p_hhh(m1.api_key, m1.min_version, m1.max_version)
    out += p_i(m.throttle_time_ms)


def write_response_v3(m: ApiVersionsResponse, out: bytearray) -> None:
    a1 = m.api_keys
    n = len(a1) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
        uvarint(out, n)
    for m1 in a1:
        out += p_hhhx(m1.api_key, m1.min_version, m1.max_version)
    n = (m.supported_features != []) + (m.finalized_features_epoch != -1) + (m.finalized_features != []) + (m.zk_migration_ready != False)
    out += p_iB(m.throttle_time_ms, n)
    if n:
        if m.supported_features != []:
            t1 = bytearray()
            a1 = m.supported_features
            n = len(a1) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            for m1 in a1:
                b = m1.name.encode()
                n = len(b) + 1
                if n < 128:
                    t1.append(n)
                else:
                    uvarint(t1, n)
                t1 += b
                t1 += p_hhx(m1.min_version, m1.max_version)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1
        if m.finalized_features_epoch != -1:
            t1 = bytearray()
            t1 += p_q(m.finalized_features_epoch)
            uvarint(out, 1)
            uvarint(out, len(t1))
            out += t1
        if m.finalized_features != []:
            t1 = bytearray()
            a1 = m.finalized_features
            n = len(a1) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            for m1 in a1:
                b = m1.name.encode()
                n = len(b) + 1
                if n < 128:
                    t1.append(n)
                else:
                    uvarint(t1, n)
                t1 += b
                t1 += p_hhx(m1.max_version_level, m1.min_version_level)
            uvarint(out, 2)
            uvarint(out, len(t1))
            out += t1
        if m.zk_migration_ready != False:
            t1 = bytearray()
            t1 += p_t(m.zk_migration_ready)
            uvarint(out, 3)
            uvarint(out, len(t1))
            out += t1


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v3,
    4: write_response_v3,
}
