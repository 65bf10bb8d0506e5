"""Flush to disk only in the tests that check it."""

import os

import pytest


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
