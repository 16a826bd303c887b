"""Slider panels in notebooks."""
