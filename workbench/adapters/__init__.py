"""Hooks into SDKs: each translates between one SDK and the seam, and decides nothing.

An adapter is found by its entry point in the group ``workbench.adapters`` (see
:mod:`workbench.seam.hooks`) and hooks its SDK at class level, once the SDK is imported.
"""
