"""Encode columns of numbers, categories and dates as rows of numbers.

The estimators, River's classes and the models for tables encode columns in the same way.
"""
