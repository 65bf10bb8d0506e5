"""The disk is waited for only where that is what is tested."""

import os

import pytest


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
