"""The demo challenge's own material: its example collection, its suite and its base model."""
