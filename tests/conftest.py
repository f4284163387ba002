"""Property tests find what is wrong, not what is slow: an example takes as long as a busy machine needs."""

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
