"""The HTTP API: JSON in and out below `/api/v1`, described by OpenAPI. Who calls is always an agent."""

from commonplace.web.api import make_api

__all__ = ["make_api"]
