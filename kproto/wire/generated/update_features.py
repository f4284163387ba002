"""UpdateFeatures: API key 57, versions 0-2. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    MAX_REQUEST_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_tx = Struct(">?x").pack
p_h = Struct(">h").pack
p_htx = Struct(">h?x").pack
p_hB = Struct(">hB").pack
p_hbx = Struct(">hbx").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_tB = Struct(">?B").unpack_from
u_bB = Struct(">bB").unpack_from
u_h = Struct(">h").unpack_from
u_ht = Struct(">h?").unpack_from
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class FeatureUpdateKey(WireStruct):
    __slots__ = ('feature', 'max_version_level', 'allow_downgrade', 'upgrade_type',)
    feature: str
    max_version_level: int
    allow_downgrade: bool
    upgrade_type: int

    def __init__(
        self,
        feature: str = '',
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type


class UpdateFeaturesRequest(WireStruct):
    __slots__ = ('timeout_ms', 'feature_updates', 'validate_only',)
    timeout_ms: int
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is EMPTY else feature_updates
        self.validate_only = validate_only


def parse_request_v0(buf: Buf, pos: int) -> tuple[UpdateFeaturesRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(UpdateFeaturesRequest)
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('UpdateFeaturesRequest.feature_updates', n)
        m.feature_updates = a1 = []
        for _ in range(n):
            m1 = new(FeatureUpdateKey)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.feature = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('UpdateFeaturesRequest.feature')
            m1.max_version_level, m1.allow_downgrade = u_ht(buf, pos)
            pos += 3
            m1.upgrade_type = 1
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('UpdateFeaturesRequest.feature_updates')
    m.validate_only = False
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[UpdateFeaturesRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(UpdateFeaturesRequest)
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('UpdateFeaturesRequest.feature_updates', n)
        m.feature_updates = a1 = []
        for _ in range(n):
            m1 = new(FeatureUpdateKey)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.feature = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('UpdateFeaturesRequest.feature')
            m1.max_version_level = u_h(buf, pos)[0]
            pos += 2
            m1.allow_downgrade = False
            m1.upgrade_type, n = u_bB(buf, pos)
            pos += 2
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('UpdateFeaturesRequest.feature_updates')
    m.validate_only, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v1,
}


def write_request_v0(m: UpdateFeaturesRequest, out: bytearray) -> None:
    a1 = m.feature_updates
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.timeout_ms, n)
    else:
        out += p_i(m.timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.feature.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_htx(m1.max_version_level, m1.allow_downgrade)
    out.append(0)


def write_request_v1(m: UpdateFeaturesRequest, out: bytearray) -> None:
    a1 = m.feature_updates
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.timeout_ms, n)
    else:
        out += p_i(m.timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.feature.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hbx(m1.max_version_level, m1.upgrade_type)
    out += p_tx(m.validate_only)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v1,
}


class UpdatableFeatureResult(WireStruct):
    __slots__ = ('feature', 'error_code', 'error_message',)
    feature: str
    error_code: int
    error_message: str | None

    def __init__(
        self,
        feature: str = '',
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message


class UpdateFeaturesResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'results',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[UpdatableFeatureResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        results: list[UpdatableFeatureResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[UpdateFeaturesResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(UpdateFeaturesResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.error_message = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('UpdateFeaturesResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(UpdatableFeatureResult)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.feature = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('UpdateFeaturesResponse.feature')
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.error_message = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('UpdateFeaturesResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[UpdateFeaturesResponse, int]:
    m = new(UpdateFeaturesResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.error_message = None
    m.results = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v2,
}


def write_response_v0(m: UpdateFeaturesResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    out += b
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.feature.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.error_message
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_response_v2(m: UpdateFeaturesResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v2,
}
